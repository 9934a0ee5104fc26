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

  /**
   * Counts a use and returns 0, or returns the seconds to wait and counts nothing. What costs several units is let in
   * while one is left, and paid for afterwards; never more than a burst is owed.
   */
  take(key: Key, units = 1): number {
    const now = this.#now()
    const most = now + this.#tolerance
    const due = this.#dueAt(key, now)
    const wait = due + this.#interval - most
    if (wait > 0) return Math.ceil(wait / 1_000)
    this.#due.set(key, Math.min(due + units * this.#interval, most + this.#tolerance))
    return 0
  }

  #dueAt(key: Key, now: number): number {
    const known = this.#due.get(key) ?? now
    // Nobody gets that far ahead: the clock was set back.
    return known > now + 2 * this.#tolerance + this.#interval ? now : Math.max(known, now)
  }
}
