/** Calls to an account that is not online yet: they wait a moment for it instead of being refused at once. */
import type { Clock } from '../ports/ports.ts'

export class Parked {
  readonly #clock: Clock
  readonly #waiting = new Map<number, Set<() => void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Something has become of this credential: whoever waits for it looks again. */
  changed(credentialId: number): void {
    for (const go of [...(this.#waiting.get(credentialId) ?? [])]) go()
  }

  /** Resolves at the next change, at the latest after so many milliseconds. */
  wait(credentialId: number, milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(credentialId) ?? new Set()
    this.#waiting.set(credentialId, waiting)
    const go = () => {
      this.#clock.clearTimeout(timer)
      waiting.delete(go)
      if (waiting.size === 0 && this.#waiting.get(credentialId) === waiting) {
        this.#waiting.delete(credentialId)
      }
      resolve()
    }
    const timer = this.#clock.setTimeout(go, milliseconds)
    waiting.add(go)
    return promise
  }

  /** Nobody waits any longer. */
  end(): void {
    for (const credentialId of [...this.#waiting.keys()]) this.changed(credentialId)
  }
}
