/** How many attempts are under way at once, of all keys together: probes of dead endpoints have places of their own. */

export interface ConnectionLimits {
  readonly deliveries: number
  readonly probes: number
}

export const usualConnections: ConnectionLimits = { deliveries: 500, probes: 200 }

/** Users have their turns one after another: however many endpoints of one of them hang, they keep nobody else out. */
class Places {
  #free: number
  /** By user, whoever is next at the front; those of one user in the order in which they came. */
  readonly #waiting = new Map<number, Set<() => void>>()

  constructor(places: number) {
    this.#free = places
  }

  /** Undefined where there is a place at once, which is the rule. Resolves with false once the signal aborts. */
  take(userId: number, signal: AbortSignal): Promise<boolean> | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false)
      const own = this.#waiting.get(userId) ?? new Set()
      const settle = (isTaken: boolean) => {
        own.delete(begin)
        if (own.size === 0) this.#waiting.delete(userId)
        signal.removeEventListener('abort', giveUp)
        resolve(isTaken)
      }
      const begin = () => settle(true)
      const giveUp = () => settle(false)
      signal.addEventListener('abort', giveUp)
      this.#waiting.set(userId, own.add(begin))
    })
  }

  release(): void {
    const [front] = this.#waiting
    if (!front) {
      this.#free++
      return
    }
    const [userId, own] = front
    const [next] = own
    this.#waiting.delete(userId)
    if (own.size > 1) this.#waiting.set(userId, own)
    next?.()
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
