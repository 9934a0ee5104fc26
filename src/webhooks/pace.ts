/** How often a key may set its webhook: once a second, as in the reference. */
import { LRUCache } from 'lru-cache'
import { failed } from '../../machines/model/failure.ts'

const PACE_MS = 1_000

export class Pace {
  readonly #lately = new LRUCache<number, true>({ max: 10_000, ttl: PACE_MS })

  /** Rejects with `rate_limited`. */
  take(apiKeyId: number): void {
    if (this.#lately.has(apiKeyId)) throw failed('rate_limited', '', { retryAfterSeconds: 1 })
    this.#lately.set(apiKeyId, true)
  }
}
