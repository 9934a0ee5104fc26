/** Counts the attempts of each key, and reports the sums with a delay. */
import type { WebhookKey } from '../../actors/ports/webhooks.ts'
import { Flusher } from '../database/write-behind.ts'

export interface AttemptCounts {
  readonly attempts: number
  readonly failures: number
}

const LAG_MS = 500

export class AttemptTally {
  readonly #flusher: Flusher
  #counts = new Map<number, { key: WebhookKey; attempts: number; failures: number }>()

  constructor(counted: (key: WebhookKey, counts: AttemptCounts) => void) {
    this.#flusher = new Flusher(LAG_MS, async () => {
      const counts = this.#counts
      this.#counts = new Map()
      for (const { key, ...sums } of counts.values()) counted(key, sums)
    })
  }

  add(key: WebhookKey, ok: boolean): void {
    const sums = this.#counts.get(key.apiKeyId)
    if (sums) {
      sums.attempts++
      if (!ok) sums.failures++
    } else this.#counts.set(key.apiKeyId, { key, attempts: 1, failures: ok ? 0 : 1 })
    this.#flusher.schedule()
  }

  flush(): Promise<void> {
    return this.#flusher.flush()
  }
}
