/** A rate limit by the generic cell rate algorithm: one number for each key, no timers. */
import { LRUCache } from 'lru-cache'

export interface RateLimit {
  readonly perSecond: number
  /** What may come at once after a pause. */
  readonly burst: number
}

export class Gcra<Key extends string | number> {
  readonly #interval: number
  readonly #tolerance: number
  readonly #now: () => number
  /** For each key the time at which it will have used up nothing. */
  readonly #due = new LRUCache<Key, number>({ max: 100_000 })

  constructor({ perSecond, burst }: RateLimit, now: () => number = Date.now) {
    this.#interval = 1_000 / perSecond
    this.#tolerance = this.#interval * burst
    this.#now = now
  }

  /** Counts one use and returns 0, or returns the seconds to wait and counts nothing. */
  take(key: Key): number {
    const now = this.#now()
    const most = now + this.#tolerance
    const known = this.#due.get(key) ?? now
    // Nobody gets that far ahead: the clock was set back.
    const due = (known > most + this.#interval ? now : Math.max(known, now)) + this.#interval
    const wait = due - most
    if (wait > 0) return Math.ceil(wait / 1_000)
    this.#due.set(key, due)
    return 0
  }
}
