/** Which updates of a webhook were read, and which of them are acknowledged. */
import { openRuns, type Progress } from '../../machines/webhook/progress.ts'

export class Reading {
  /** Ids that wait for their acknowledgement, in order, with their place among all ids that were read. */
  readonly #open = new Map<number, number>()
  readonly #before: Progress | undefined
  #head: number
  #places = 0

  /** `before` is the stored progress: updates that it has as acknowledged are not delivered again. */
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

  /** Takes a page that was read up to `head`; returns its updates that are still to be delivered. */
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
    // The part that is not read again yet is still as it was stored.
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
