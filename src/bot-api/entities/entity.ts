/** Entities of a text in the reference's shape, and what the parsers share: characters, positions, the sender's error. */

export type MessageEntity = {
  type: EntityKind
  offset: number
  length: number
  url?: string
  user?: { id: number; is_bot: false; first_name: '' }
  language?: string
  custom_emoji_id?: string
  unix_time?: number
  date_time_format?: string
}

export type EntityKind = StyleKind | QuoteKind | CodeKind | RunKind | DetectedKind

/** Styles may overlap anything but code, so they are cut where other entities begin or end. */
export type StyleKind = 'bold' | 'italic' | 'underline' | 'strikethrough' | 'spoiler'
export type QuoteKind = 'blockquote' | 'expandable_blockquote'
/** Kinds that contain no other entity. */
export type CodeKind = 'code' | 'pre' | 'date_time'
type RunKind = 'text_link' | 'text_mention' | 'custom_emoji'
/** Found in the text by the service itself, never taken from a sender. */
export type DetectedKind =
  | 'mention'
  | 'hashtag'
  | 'cashtag'
  | 'bot_command'
  | 'url'
  | 'email'
  | 'phone_number'

export type FormattedText = { text: string; entities: MessageEntity[] }

/** A text the sender must correct; `message` is the description without its `Bad Request: `. */
export class FormatError extends Error {
  override readonly name: string = 'FormatError'
}

/** The markup itself is at fault, which the reference reads before it looks at the words. */
export class MarkupError extends FormatError {
  override readonly name = 'MarkupError'
}

export const unparsable = (detail: string): MarkupError =>
  new MarkupError(`can't parse entities: ${detail}`)

export const isSpace = (char: string | undefined): boolean =>
  char === undefined || ' \t\r\n\v\0'.includes(char)

/** Lower-cases as the reference does: other scripts, where case can change a length, stay as they are. */
export const asciiLower = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Clients look for the fault in the UTF-8 they sent, so errors speak of bytes. */
export const byteOffset = (text: string, index: number): number =>
  Buffer.byteLength(text.slice(0, index))

/** Reads the decimal form of an integer of that many bits; undefined for other text. */
export function parseInteger(text: string, bits: 32 | 64): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(text)) return undefined
  const value = BigInt(text)
  return value.toString() === text && BigInt.asIntN(bits, value) === value ? value : undefined
}
