/** A text the sender must correct; `message` is the description without its `Bad Request: `. */
export class FormatError extends Error {
  override readonly name = 'FormatError'
}

export const unparsable = (detail: string): FormatError =>
  new FormatError(`can't parse entities: ${detail}`)
