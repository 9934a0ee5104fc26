/** How many attempts are under way at once, of all keys together: probes of dead endpoints have places of their own. */

export interface ConnectionLimits {
  readonly deliveries: number
  readonly probes: number
}

export const usualConnections: ConnectionLimits = { deliveries: 500, probes: 200 }

/** First come, first served: each key brings no more than its own connections, so none can keep the others out. */
class Places {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(places: number) {
    this.#free = places
  }

  /** Undefined where there is a place at once, which is the rule. Resolves with false once the signal aborts. */
  take(signal: AbortSignal): Promise<boolean> | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    return new Promise((resolve) => {
      const settle = (isTaken: boolean) => {
        this.#waiting.delete(begin)
        signal.removeEventListener('abort', giveUp)
        resolve(isTaken)
      }
      const begin = () => settle(true)
      const giveUp = () => settle(false)
      if (signal.aborted) return resolve(false)
      signal.addEventListener('abort', giveUp)
      this.#waiting.add(begin)
    })
  }

  release(): void {
    const [next] = this.#waiting
    if (next) next()
    else this.#free++
  }
}

export class Connections {
  readonly #deliveries: Places
  readonly #probes: Places

  constructor({ deliveries, probes }: ConnectionLimits = usualConnections) {
    this.#deliveries = new Places(deliveries)
    this.#probes = new Places(probes)
  }

  for(isProbe: boolean): Pick<Places, 'take' | 'release'> {
    return isProbe ? this.#probes : this.#deliveries
  }
}
