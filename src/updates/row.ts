/** An update in the log and in memory, and its JSON. */

/** An update that is not stored yet, and so has no id. */
export interface Draft {
  /** Stable native identity: the same event reported twice has the same key. */
  readonly sourceKey: string
  readonly kind: number
  readonly chatId: number | null
  /** The Update's single member as JSON text: `"message":{…}`; see `payloadOf`. */
  readonly payload: string
}

export interface Row {
  readonly updateId: number
  readonly kind: number
  /** The key whose own call caused it. */
  readonly apiKeyId: number | null
  readonly chatId: number | null
  /** The request that caused it. */
  readonly traceId: string | null
  readonly payload: string
}

/** The text around the id and the rest of an update: before the id, between them, and at the end. */
type Frame = readonly [before: string, between: string, end: string]

/** The reference's: it has a line break after the id. */
const USUAL: Frame = ['{"update_id":', ',\n', '}']

/** Separates the parts of a frame that follows a payload. JSON never has this character as it is. */
const SEPARATOR = '\u001f'

/** The stored text of an update that another server wrote, from which `updateJson` makes the same bytes again. */
export const payloadOf = (members: string, frame: Frame): string =>
  frame.every((part, place) => part === USUAL[place])
    ? members
    : [members, ...frame, ''].join(SEPARATOR)

/** Assembled as text, without parsing. */
export function updateJson({ updateId, payload }: Pick<Row, 'updateId' | 'payload'>): string {
  if (!payload.endsWith(SEPARATOR)) return `{"update_id":${updateId},\n${payload}}`
  const [members = '', before = '', between = '', end = ''] = payload.split(SEPARATOR)
  return `${before}${updateId}${between}${members}${end}`
}
