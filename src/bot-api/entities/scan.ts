/** What the markup parsers share: characters, positions, and the error that the sender must correct. */

/** A text the sender must correct; `message` is the description without its `Bad Request: `. */
export class FormatError extends Error {
  override readonly name = 'FormatError'
}

export const unparsable = (detail: string): FormatError =>
  new FormatError(`can't parse entities: ${detail}`)

export const isSpace = (char: string | undefined): boolean =>
  char === undefined || ' \t\r\n\v\0'.includes(char)

/** Lower-cases as the reference does: other scripts, where case can change a length, stay as they are. */
export const asciiLower = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Clients look for the fault in the UTF-8 they sent, so errors speak of bytes. */
export const byteOffset = (text: string, index: number): number =>
  Buffer.byteLength(text.slice(0, index))

/** Reads what `to_string` of an integer of that many bits would give, else undefined. */
export function parseInteger(text: string, bits: 32 | 64): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(text)) return undefined
  const value = BigInt(text)
  return value.toString() === text && BigInt.asIntN(bits, value) === value ? value : undefined
}
