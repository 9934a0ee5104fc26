/** What one update is in the log and in memory, and how updates become an answer. */

/** An update that is not stored yet: it has no id. */
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

/** Assembled, not parsed and written again; the line break after the id is the reference's. */
export const updateJson = ({ updateId, payload }: Row): string =>
  `{"update_id":${updateId},\n${payload}}`
