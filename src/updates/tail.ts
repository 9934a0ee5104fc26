/** The newest updates of one credential, in memory: a reader that has caught up needs no query. */
import type { Row } from './row.ts'

const ROWS = 1_000
const CHARACTERS = 1_000_000
/** Estimated size of a row without its payload. */
const ROW_BYTES = 200
/** Text beyond Latin-1 takes two bytes for each character. */
const CHARACTER_BYTES = 2

export class Tail {
  /** Contiguous: `#rows[i]` has the id `#from + i`. */
  #rows: Row[] = []
  #from: number
  #characters = 0
  #version = 0

  constructor(next: number) {
    this.#from = next
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.#rows.length * ROW_BYTES + this.#characters * CHARACTER_BYTES
  }

  get next(): number {
    return this.#from + this.#rows.length
  }

  /** Another number after each change. */
  get version(): number {
    return this.#version
  }

  push(row: Row): void {
    this.#version++
    this.#rows.push(row)
    this.#characters += row.payload.length
    // Cut in chunks, because shifting the array for every update costs more than it frees.
    if (this.#rows.length < 2 * ROWS && this.#characters < 2 * CHARACTERS) return
    let keep = 0
    let characters = 0
    while (keep < ROWS && characters < CHARACTERS && keep < this.#rows.length) {
      characters += this.#rows[this.#rows.length - ++keep]?.payload.length ?? 0
    }
    this.#from += this.#rows.length - keep
    this.#rows = this.#rows.slice(-keep)
    this.#characters = characters
  }

  /** Whether the memory reaches back to the first update after this one. */
  reaches(after: number): boolean {
    return after + 1 >= this.#from
  }

  /** Everything after `after`, oldest first; undefined if the memory does not reach back so far. */
  after(after: number): readonly Row[] | undefined {
    if (!this.reaches(after)) return undefined
    return this.#rows.slice(after + 1 - this.#from)
  }

  /** The id before the newest `count` wanted ones after `after`; undefined if the memory does not reach back so far. */
  before(count: number, after: number, isWanted: (row: Row) => boolean): number | undefined {
    let left = count
    for (let at = this.#rows.length - 1; at >= 0 && this.#from + at > after; at--) {
      const row = this.#rows[at]
      if (row && isWanted(row) && --left === 0) return row.updateId - 1
    }
    return this.reaches(after) ? after : undefined
  }

  /**
   * The log goes on at `next`. A commit whose answer was lost has stored the ids in between: the rows in memory end
   * before them, so they are dropped, and readers use the database.
   */
  reach(next: number): void {
    if (next > this.next) this.#startAt(next)
  }

  /** Drops all rows. */
  clear(): void {
    this.#startAt(this.next)
  }

  /** Updates up to this id are no longer in the log. */
  removed(updateId: number): void {
    this.#version++
    const gone = this.#rows.splice(0, Math.max(0, updateId + 1 - this.#from))
    this.#from += gone.length
    for (const { payload } of gone) this.#characters -= payload.length
  }

  #startAt(next: number): void {
    this.#version++
    this.#from = next
    this.#rows = []
    this.#characters = 0
  }
}
