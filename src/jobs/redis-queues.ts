/** Queues on Redis: open while a check twice a second finds that it takes writes, unavailable while it does not. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../actors/host/time.ts'
import type { Logger } from '../../actors/ports/ports.ts'
import { boundedWarnings } from '../observability/bounded.ts'
import { connectRedis, type JobProcessor, type RedisConnection, redisBackend } from './backend.ts'
import { openQueues, type QueueSource, type Queues } from './queues.ts'

/** Checks twice a second whether Redis takes writes. */
const EVERY_MS = 500
const ANSWERS_WITHIN_MS = 500
const KEPT_SECONDS = 60

interface PulseOptions {
  readonly redis: RedisConnection
  /** Redis takes no writes; called once until it is back. */
  away(reason: Error): void
  back(): void
  /** Redis was reachable all the time, but has lost its data. */
  emptied(): void
}

class Pulse {
  readonly #redis: RedisConnection
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

interface RedisQueuesOptions {
  readonly url: string
  readonly process: JobProcessor
  readonly logger: Logger
}

const AWAY = 'Redis takes no jobs'
const AGAIN_MS = 1_000
const SAY_AGAIN_MS = 60_000
/** Answers to wrong credentials: waiting does not help. */
const refusals =
  /^(WRONGPASS|NOAUTH|NOPERM|ERR (AUTH|invalid (user)?name|invalid password|DB index))/

export class RedisQueues implements QueueSource {
  readonly #options: RedisQueuesOptions
  readonly #redis: RedisConnection
  readonly #pulse: Pulse
  readonly #listeners: (() => void)[] = []
  readonly #warn: Logger['warn']
  #opened: Queues | undefined
  #opening: Promise<void> | undefined
  #reason: string | undefined
  #isWorking = false
  #isClosed = false
  #away = Promise.withResolvers<void>()
  #reminding: NodeJS.Timeout | undefined

  private constructor(options: RedisQueuesOptions) {
    this.#options = options
    this.#warn = boundedWarnings(options.logger)
    this.#redis = connectRedis(options.url)
    this.#pulse = new Pulse({
      redis: this.#redis,
      away: (reason) => this.#onAway(reason),
      back: () => this.#onBack(),
      emptied: () => {
        options.logger.warn({}, 'Redis has forgotten its jobs: they are asked for again')
        this.#told()
      },
    })
  }

  /** Rejects if Redis refuses the credentials. If Redis is away, that is logged, and the service starts without it. */
  static async start(options: RedisQueuesOptions): Promise<RedisQueues> {
    const queues = new RedisQueues(options)
    const reason = await queues.#pulse.start()
    if (reason === undefined) await queues.#open()
    else if (refusals.test(reason.message)) {
      await queues.close(0)
      throw reason
    }
    return queues
  }

  get redis(): RedisConnection {
    return this.#redis
  }

  get queues(): Queues | undefined {
    return this.#pulse.isUp ? this.#opened : undefined
  }

  get trouble(): string | null {
    return this.queues ? null : AWAY
  }

  onBack(listener: () => void): void {
    this.#listeners.push(listener)
  }

  work(): void {
    this.#isWorking = true
    this.#opened?.work()
  }

  async close(withinMs: number): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#reminding)
    const queues = this.#opened
    if (queues && (await this.#pulse.isAlive())) {
      const finished = () => Promise.race([queues.finish(), this.#away.promise])
      await within(withinMs, undefined, finished).catch((err) =>
        this.#options.logger.warn({ err }, 'the job queues were left without a word'),
      )
    }
    // Not `close`, because a close that waits cannot be forced any more.
    queues?.abandon()
    this.#pulse.stop()
    this.#redis.disconnect()
  }

  /** A connection that is lost during its handshake never recovers, so the queues are opened again. */
  #open(): Promise<void> {
    this.#opening ??= this.#openOnce().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #openOnce(): Promise<void> {
    if (this.#opened || this.#isClosed) return
    const { process, logger } = this.#options
    try {
      const queues = await openQueues(redisBackend(this.#redis), process, logger)
      if (this.#isClosed) return queues.abandon()
      this.#opened = queues
      if (this.#isWorking) queues.work()
      this.#told()
    } catch (err) {
      this.#warn({ err }, 'the job queues could not be opened')
      if (!this.#isClosed) setTimeout(() => void this.#open(), AGAIN_MS).unref()
    }
  }

  #onAway({ message }: Error) {
    const since = performance.now()
    const tell = () => {
      const seconds = Math.round((performance.now() - since) / 1000)
      const what = 'codes are sent past the queue, reminders wait here'
      this.#options.logger.warn({ reason: message, seconds }, `${AWAY}: ${what}`)
    }
    this.#reason = message
    tell()
    this.#reminding = setInterval(tell, SAY_AGAIN_MS).unref()
    this.#away.resolve()
  }

  #onBack() {
    clearInterval(this.#reminding)
    this.#away = Promise.withResolvers()
    if (this.#reason !== undefined) this.#options.logger.info({}, 'Redis takes jobs again')
    // At the start, `start` itself opens the queues.
    else return
    if (this.#opened) this.#told()
    else void this.#open()
  }

  #told() {
    for (const listener of this.#listeners) listener()
  }
}
