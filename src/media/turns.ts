/** Lets a few at a time do something costly; the others wait in order, and not too many of them. */
import { failed } from '../../actors/errors.ts'

export interface TurnsOptions {
  readonly atOnce: number
  readonly waiting: number
}

export class Turns {
  readonly #options: TurnsOptions
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  async take<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    await this.#turn(signal)
    try {
      return await work()
    } finally {
      this.#running--
      const [next] = this.#waiting
      if (next) {
        this.#waiting.delete(next)
        next()
      }
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#running < this.#options.atOnce) {
      this.#running++
      return
    }
    if (this.#waiting.size >= this.#options.waiting) {
      throw failed('unavailable', 'too many files are being worked on', { retryAfterSeconds: 5 })
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const begin = () => {
      this.#running++
      resolve()
    }
    const giveUp = () => {
      if (this.#waiting.delete(begin)) reject(signal.reason)
    }
    this.#waiting.add(begin)
    signal.addEventListener('abort', giveUp, { once: true })
    await promise.finally(() => signal.removeEventListener('abort', giveUp))
  }
}
