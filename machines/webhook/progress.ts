/** The progress of a webhook: how far the log was read, and which updates are not acknowledged yet. */

export interface Progress {
  /** Everything up to this id is acknowledged, or was never wanted. */
  readonly cursor: number
  /** Everything up to this id was read. */
  readonly head: number
  /** Number of updates between the two that are not acknowledged. */
  readonly waiting: number
  /** The runs of those updates: first and last id of each, one pair after another. */
  readonly open: readonly number[]
  /** Those of them that failed; absent if none did. */
  readonly failing?: readonly FailingUpdate[]
}

/** Consecutive failures, since when, and when the next attempt is due. */
export type FailingUpdate = readonly [
  updateId: number,
  failures: number,
  since: number,
  dueAt: number,
]

/** First and last id of each run that is not acknowledged. */
export function openRuns({ open }: Pick<Progress, 'open'>): (readonly [number, number])[] {
  const pairs: [number, number][] = []
  for (let at = 0; at < open.length; at += 2) pairs.push([open[at] ?? 0, open[at + 1] ?? 0])
  return pairs
}
