/** An update in the log and in memory, and its JSON. */

/** An update that is not stored yet, and so has no id. */
export interface Draft {
  /** Stable native identity: the same event reported twice has the same key. */
  readonly sourceKey: string
  readonly kind: number
  readonly chatId: number | null
  /** The Update's single member as JSON text: `"message":{…}`. */
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

/** Assembled as text, without parsing. The reference also has the line break after the id. */
export const updateJson = ({ updateId, payload }: Row): string =>
  `{"update_id":${updateId},\n${payload}}`
