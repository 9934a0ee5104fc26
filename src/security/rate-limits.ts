/** Rate limits: the generic cell rate algorithm, and counters of wrong guesses by network. */
import { LRUCache } from 'lru-cache'

export interface GuessLimits {
  readonly perMinute: number
  readonly perHour: number
}

/** Counts wrong guesses of networks: 0, or the seconds to wait. One that nodes share answers later. */
export interface GuessCount {
  add(network: string): number | Promise<number>
}

/** Counts calls of users: 0, or the seconds to wait. One that nodes share answers later. */
export interface CallCount {
  take(userId: number): number | Promise<number>
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const NETWORKS = 50_000

/** Counts wrong guesses of each network: so many within a minute, and so many within an hour. */
export class Guesses implements GuessCount {
  readonly #windows: readonly Window[]

  constructor({ perMinute, perHour }: GuessLimits) {
    this.#windows = [new Window(perMinute, MINUTE_MS), new Window(perHour, HOUR_MS)]
  }

  /** Counts one, as if it were so many, and returns 0, or the seconds to wait when there were too many. */
  add(network: string, units = 1): number {
    return Math.max(...this.#windows.map((window) => window.add(network, units)))
  }
}

class Window {
  readonly #most: number
  readonly #lengthMs: number
  readonly #counts: LRUCache<string, number>

  constructor(most: number, lengthMs: number) {
    this.#most = most
    this.#lengthMs = lengthMs
    this.#counts = new LRUCache({ maxSize: NETWORKS, sizeCalculation: () => 1, ttl: lengthMs })
  }

  add(network: string, units: number): number {
    const count = (this.#counts.get(network) ?? 0) + units
    // The cache reads its clock at intervals: what is left may seem longer than the window.
    const leftMs = Math.min(this.#counts.getRemainingTTL(network) || this.#lengthMs, this.#lengthMs)
    this.#counts.set(network, count, { ttl: leftMs })
    return count > this.#most ? Math.ceil(leftMs / 1_000) : 0
  }
}

export interface RateLimit {
  readonly perSecond: number
  /** The calls that may come at once after a pause. */
  readonly burst: number
}

export class Gcra<Key extends string | number> {
  readonly #interval: number
  readonly #tolerance: number
  readonly #now: () => number
  /** For each key the time at which it will have used up nothing. */
  readonly #due = new LRUCache<Key, number>({ maxSize: 100_000, sizeCalculation: () => 1 })

  constructor({ perSecond, burst }: RateLimit, now: () => number = Date.now) {
    this.#interval = 1_000 / perSecond
    this.#tolerance = this.#interval * burst
    this.#now = now
  }

  /**
   * Counts a use and returns 0, or returns the seconds to wait and counts nothing. A use of several units is admitted
   * while one unit is left; the debt is never larger than a burst.
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

  /** Counts what was admitted already, also where it leads into debt. */
  owe(key: Key, units: number): void {
    const now = this.#now()
    const most = now + 2 * this.#tolerance
    this.#due.set(key, Math.min(this.#dueAt(key, now) + units * this.#interval, most))
  }

  #dueAt(key: Key, now: number): number {
    const known = this.#due.get(key) ?? now
    // Calls cannot lead that far ahead: the clock was set back.
    return known > now + 2 * this.#tolerance + this.#interval ? now : Math.max(known, now)
  }
}
