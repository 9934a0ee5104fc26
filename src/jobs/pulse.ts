/** Whether Redis takes writes, asked twice a second: a frozen one does not answer. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { within } from '../../actors/host/time.ts'

const EVERY_MS = 500
const ANSWERS_WITHIN_MS = 500
const KEPT_SECONDS = 60

export interface PulseOptions {
  readonly redis: Redis
  /** It takes nothing any more, or never did; called once until it is back. */
  away(reason: Error): void
  back(): void
  /** It was there all the time, and has forgotten what it had. */
  emptied(): void
}

export class Pulse {
  readonly #redis: Redis
  readonly #options: PulseOptions
  readonly #stopping = new AbortController()
  /** Of this process alone: whoever asks first after a loss would hide it from the others. */
  readonly #key = `chapar:pulse:${randomUUID()}`
  #isUp: boolean | undefined
  #isEmpty = false
  /** What the connection last complained of: a command that found none says less. */
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

  /** Resolves with the first verdict: undefined, or why nothing can be had of it. */
  async start(): Promise<Error | undefined> {
    const reason = await this.#connect()
    this.#tell(reason)
    void this.#go()
    return reason
  }

  /** Whether it still takes something at this moment. */
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

  /** By a write: one that is full, or only a copy of another, answers everything else. */
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
