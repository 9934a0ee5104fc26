/** Checks twice a second whether Redis takes writes. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { within } from '../../actors/host/time.ts'

const EVERY_MS = 500
const ANSWERS_WITHIN_MS = 500
const KEPT_SECONDS = 60

interface PulseOptions {
  readonly redis: Redis
  /** Redis takes no writes; called once until it is back. */
  away(reason: Error): void
  back(): void
  /** Redis was reachable all the time, but has lost its data. */
  emptied(): void
}

export class Pulse {
  readonly #redis: Redis
  readonly #options: PulseOptions
  readonly #stopping = new AbortController()
  /** Unique for this process: with a shared key, the first process to ask would hide a loss from the others. */
  readonly #key = `chapar:pulse:${randomUUID()}`
  #isUp: boolean | undefined
  #isEmpty = false
  /** The last error of the connection, which says more than the error of a command. */
  #complaint: Error | undefined

  constructor(options: PulseOptions) {
    this.#options = options
    this.#redis = options.redis
    this.#redis.on('error', (error) => {
      this.#complaint = error
    })
  }

  get isUp(): boolean {
    return this.#isUp === true
  }

  /** Resolves with the first result: undefined, or the reason why Redis takes no writes. */
  async start(): Promise<Error | undefined> {
    const reason = await this.#connect()
    this.#tell(reason)
    void this.#go()
    return reason
  }

  /** Whether Redis takes writes at this moment. */
  async isAlive(): Promise<boolean> {
    return this.isUp && (await this.#ask()) === undefined
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #connect(): Promise<Error | undefined> {
    try {
      await within(2_000, undefined, () => this.#redis.connect())
    } catch (error) {
      return this.#complaint ?? asError(error)
    }
    return this.#ask()
  }

  async #go(): Promise<void> {
    const { signal } = this.#stopping
    for (;;) {
      await pause(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      const reason = await this.#ask()
      if (!signal.aborted) this.#tell(reason)
    }
  }

  /** Writes, because a full Redis and a replica still answer reads. */
  async #ask(): Promise<Error | undefined> {
    try {
      await within(ANSWERS_WITHIN_MS, undefined, () => this.#write())
      this.#complaint = undefined
      return undefined
    } catch (error) {
      return this.#redis.status === 'ready' ? asError(error) : (this.#complaint ?? asError(error))
    }
  }

  async #write(): Promise<void> {
    const [before] = await Promise.all([
      this.#redis.getset(this.#key, '1'),
      this.#redis.expire(this.#key, KEPT_SECONDS),
    ])
    this.#isEmpty = before === null
  }

  #tell(reason: Error | undefined) {
    const isUp = reason === undefined
    if (isUp && this.#isUp && this.#isEmpty) this.#options.emptied()
    if (isUp === this.#isUp) return
    this.#isUp = isUp
    if (reason) this.#options.away(reason)
    else this.#options.back()
  }
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))
