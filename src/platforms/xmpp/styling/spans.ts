/** The marks of message styling (XEP-0393) and the kinds of formatting that they stand for. */
export const marks: ReadonlyMap<string, string> = new Map([
  ['*', 'bold'],
  ['_', 'italic'],
  ['~', 'strikethrough'],
  ['`', 'code'],
])

export const fence = '```'

export const isSpace = (character: string | undefined) =>
  character === undefined || /\s/.test(character)
