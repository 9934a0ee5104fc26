/** How far a webhook is: what was read of the log, and what of it is not acknowledged yet. */

export interface Progress {
  /** Everything up to here is acknowledged, or was never wanted. */
  readonly cursor: number
  /** Everything up to here was read. */
  readonly head: number
  /** Updates between the two that are not acknowledged. */
  readonly waiting: number
  /** Where those are: first and last id of each run, one pair after another. */
  readonly open: readonly number[]
  /** What is known of those among them that failed; absent: nothing failed. */
  readonly failing?: readonly FailingUpdate[]
}

/** How often in a row, since when, and when it is tried again. */
export type FailingUpdate = readonly [
  updateId: number,
  failures: number,
  since: number,
  dueAt: number,
]

export class Reading {
  /** Ids that wait for their acknowledgement, with their place among all that were read; in order. */
  readonly #open = new Map<number, number>()
  readonly #before: Progress | undefined
  #head: number
  #places = 0

  /** `before` is what was stored: acknowledgements beyond the cursor are not asked for again. */
  constructor(cursor: number, before: Progress | undefined) {
    this.#head = cursor
    this.#before = before
  }

  get head(): number {
    return this.#head
  }

  get cursor(): number {
    for (const updateId of this.#open.keys()) return updateId - 1
    return this.#head
  }

  get waiting(): number {
    return this.#open.size
  }

  /** Takes what was read up to `head`; returns what of it is still to be delivered. */
  take<Update extends { readonly updateId: number }>(
    updates: readonly Update[],
    head: number,
  ): Update[] {
    const missing = updates.filter(({ updateId }) => !this.#isAcknowledged(updateId))
    for (const { updateId } of updates) {
      this.#places++
      if (!this.#isAcknowledged(updateId)) this.#open.set(updateId, this.#places)
    }
    this.#head = Math.max(this.#head, head)
    return missing
  }

  acknowledge(updateId: number): void {
    this.#open.delete(updateId)
  }

  get progress(): Progress {
    const open: number[] = []
    let last = Number.NaN
    for (const [updateId, place] of this.#open) {
      if (place === last + 1) open[open.length - 1] = updateId
      else open.push(updateId, updateId)
      last = place
    }
    // What was not read again yet is as it was.
    const before = this.#before
    if (!before || before.head <= this.#head) {
      return { cursor: this.cursor, head: this.#head, waiting: this.#open.size, open }
    }
    const rest = openRuns(before).filter(([, to]) => to > this.#head)
    for (const [from, to] of rest) open.push(Math.max(from, this.#head + 1), to)
    const cursor = (open[0] ?? before.head + 1) - 1
    return { cursor, head: before.head, waiting: Math.max(before.waiting, this.#open.size), open }
  }

  #isAcknowledged(updateId: number): boolean {
    const before = this.#before
    if (!before || updateId > before.head) return false
    return !openRuns(before).some(([from, to]) => from <= updateId && updateId <= to)
  }
}

/** First and last id of each run that waits. */
export function openRuns({ open }: Pick<Progress, 'open'>): (readonly [number, number])[] {
  const pairs: [number, number][] = []
  for (let at = 0; at < open.length; at += 2) pairs.push([open[at] ?? 0, open[at + 1] ?? 0])
  return pairs
}
