/** The newest updates of one credential, kept in memory so that a caught-up reader costs no query. */
import type { Row } from './row.ts'

const ROWS = 1_000
const CHARACTERS = 1_000_000
/** A row without its payload. */
const ROW_BYTES = 200
/** Texts beyond Latin-1 take two. */
const CHARACTER_BYTES = 2

export class Tail {
  /** Contiguous: `#rows[i]` has the id `#from + i`. */
  #rows: Row[] = []
  #from: number
  #characters = 0

  constructor(next: number) {
    this.#from = next
  }

  /** What it holds, estimated. */
  get bytes(): number {
    return this.#rows.length * ROW_BYTES + this.#characters * CHARACTER_BYTES
  }

  get next(): number {
    return this.#from + this.#rows.length
  }

  push(row: Row): void {
    this.#rows.push(row)
    this.#characters += row.payload.length
    // Cut in chunks: shifting an array for every update would cost more than it frees.
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

  /** Everything after `after`, oldest first, or nothing where memory does not reach back so far. */
  after(after: number): readonly Row[] | undefined {
    if (after + 1 < this.#from) return undefined
    return this.#rows.slice(after + 1 - this.#from)
  }

  /**
   * The log goes on at `next`. Ids in between were stored without being told here, their commit's answer being lost:
   * what is held ends before them, so it is let go and read from the database.
   */
  reach(next: number): void {
    if (next > this.next) this.#startAt(next)
  }

  /** Lets go of what is held. */
  clear(): void {
    this.#startAt(this.next)
  }

  /** Updates up to this id are no longer in the log. */
  removed(updateId: number): void {
    const gone = this.#rows.splice(0, Math.max(0, updateId + 1 - this.#from))
    this.#from += gone.length
    for (const { payload } of gone) this.#characters -= payload.length
  }

  #startAt(next: number): void {
    this.#from = next
    this.#rows = []
    this.#characters = 0
  }
}
