/** Those who look at the sandbox and wait for the next change in it. */

export class Watchers {
  #changed: PromiseWithResolvers<void> | undefined

  /** Something was written: whoever waits looks again. */
  notify() {
    this.#changed?.resolve()
    this.#changed = undefined
  }

  /** Looks, and looks again after each change, until something is found or the time is over. */
  async until<Found>(
    look: () => Promise<Found | null>,
    signal: AbortSignal,
  ): Promise<Found | null> {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const stop = () => resolve()
    signal.addEventListener('abort', stop, { once: true })
    try {
      for (;;) {
        this.#changed ??= Promise.withResolvers<void>()
        const changed = this.#changed.promise
        const found = await look()
        if (found !== null || signal.aborted) return found
        await Promise.race([changed, over])
      }
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
}
