/** Counts wrong guesses of each network: so many within a minute, and so many within an hour. */
import { LRUCache } from 'lru-cache'

export interface GuessLimits {
  readonly perMinute: number
  readonly perHour: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const NETWORKS = 50_000

export class Guesses {
  readonly #windows: readonly Window[]

  constructor({ perMinute, perHour }: GuessLimits) {
    this.#windows = [new Window(perMinute, MINUTE_MS), new Window(perHour, HOUR_MS)]
  }

  /** Counts one and returns 0, or the seconds to wait when there were too many. */
  add(network: string): number {
    return Math.max(...this.#windows.map((window) => window.add(network)))
  }
}

class Window {
  readonly #most: number
  readonly #lengthMs: number
  readonly #counts: LRUCache<string, number>

  constructor(most: number, lengthMs: number) {
    this.#most = most
    this.#lengthMs = lengthMs
    this.#counts = new LRUCache({ max: NETWORKS, ttl: lengthMs })
  }

  add(network: string): number {
    const count = (this.#counts.get(network) ?? 0) + 1
    // The cache reads its clock at intervals: what is left may seem longer than the window.
    const leftMs = Math.min(this.#counts.getRemainingTTL(network) || this.#lengthMs, this.#lengthMs)
    this.#counts.set(network, count, { ttl: leftMs })
    return count > this.#most ? Math.ceil(leftMs / 1_000) : 0
  }
}
