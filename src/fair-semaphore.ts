/** A semaphore that is fair between users: however much one of them asks for, the others get their turns. */

interface SemaphoreOptions {
  /** How many may hold a place at once, of all users together. */
  readonly places: number
  /** How many of them one user may hold. */
  readonly placesPerUser?: number
  /** How many more may wait. */
  readonly waiting?: number
  readonly waitingPerUser?: number
}

type Waiting = (isTaken: boolean) => void

export class FairSemaphore {
  readonly #options: Required<SemaphoreOptions>
  readonly #held = new Map<number, number>()
  /** The user whose turn is next stands first; the waiting of one user keep the order in which they came. */
  readonly #waiting = new Map<number, Set<Waiting>>()
  #free: number
  #waitingInAll = 0

  constructor({
    places,
    placesPerUser = places,
    waiting = Number.POSITIVE_INFINITY,
    waitingPerUser = waiting,
  }: SemaphoreOptions) {
    this.#options = { places, placesPerUser, waiting, waitingPerUser }
    this.#free = places
  }

  /** Whether one more of this user could neither begin nor wait. */
  isFull(userId: number): boolean {
    const { waiting, waitingPerUser } = this.#options
    if (this.#mayBegin(userId)) return false
    const own = this.#waiting.get(userId)?.size ?? 0
    return this.#waitingInAll >= waiting || own >= waitingPerUser
  }

  /**
   * Undefined where there is a place at once, which is the rule. Otherwise resolves with whether a place was taken:
   * false once the signal aborts. Every place taken must be released.
   */
  take(userId: number, signal: AbortSignal): Promise<boolean> | undefined {
    if (this.#mayBegin(userId)) {
      this.#begin(userId)
      return undefined
    }
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false)
      const own = this.#waiting.get(userId) ?? new Set()
      const settle: Waiting = (isTaken) => {
        own.delete(settle)
        this.#waitingInAll--
        if (own.size === 0) this.#waiting.delete(userId)
        signal.removeEventListener('abort', giveUp)
        resolve(isTaken)
      }
      const giveUp = () => settle(false)
      signal.addEventListener('abort', giveUp)
      this.#waitingInAll++
      this.#waiting.set(userId, own.add(settle))
    })
  }

  release(userId: number): void {
    this.#free++
    const held = (this.#held.get(userId) ?? 1) - 1
    if (held > 0) this.#held.set(userId, held)
    else this.#held.delete(userId)
    this.#beginNext()
  }

  #mayBegin(userId: number): boolean {
    return this.#free > 0 && (this.#held.get(userId) ?? 0) < this.#options.placesPerUser
  }

  #begin(userId: number): void {
    this.#free--
    this.#held.set(userId, (this.#held.get(userId) ?? 0) + 1)
  }

  #beginNext(): void {
    for (const [userId, own] of this.#waiting) {
      if (!this.#mayBegin(userId)) continue
      const [next] = own
      this.#begin(userId)
      // The user goes to the end of the line.
      this.#waiting.delete(userId)
      if (own.size > 1) this.#waiting.set(userId, own)
      next?.(true)
      return
    }
  }
}
