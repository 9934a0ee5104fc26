/** The two ways that notices take between nodes: PostgreSQL, which is always there, and Redis, which is faster and may be away. */
import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../actors/host/time.ts'
import { type Connection, connect } from '../database/database.ts'
import type { RedisConnection } from '../jobs/backend.ts'
import { boundedWarnings } from '../observability/bounded.ts'
import type { Logger } from '../observability/logger.ts'

interface Ends {
  readonly logger: Logger
  heard(notice: string): void
  /** Notices may have been missed. */
  gap(): void
}

const CHANNEL = 'chapar'
const AGAIN_MS = 1_000
/** How often a connection is asked whether it stands, and how long it may take to say so. */
const ASK_EVERY_MS = 2_000
const ANSWERS_WITHIN_MS = 1_000

/** Listens on one connection after the other, over which it also sends. */
export class PostgresCarrier {
  readonly #url: string
  readonly #ends: Ends
  readonly #closing = new AbortController()
  #connection: Connection | undefined
  #running: Promise<void> | undefined

  constructor(url: string, ends: Ends) {
    this.#url = url
    this.#ends = ends
  }

  get isUp(): boolean {
    return this.#connection !== undefined
  }

  start(): void {
    this.#running = this.#run()
  }

  /** A notice that cannot be sent is lost. */
  async send(notice: string): Promise<void> {
    const connection = this.#connection
    if (!connection) return
    try {
      await connection.query('select pg_notify($1, $2)', [CHANNEL, notice])
    } catch (err) {
      this.#ends.logger.debug({ err }, 'hints for other nodes were lost')
      await connection.close().catch(() => undefined)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#connection?.close().catch(() => undefined)
    await this.#running
  }

  async #run(): Promise<void> {
    const { logger, heard, gap } = this.#ends
    const { signal } = this.#closing
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      let connection: Connection | undefined
      let asking: NodeJS.Timeout | undefined
      try {
        connection = await connect(this.#url, 'chapar bus')
        await connection.listen(CHANNEL, heard)
        this.#connection = connection
        if (signal.aborted) await connection.close()
        if (!isFirst) gap()
        const ask = askOf(connection)
        asking = setInterval(ask, ASK_EVERY_MS).unref()
        await connection.ended
      } catch (err) {
        logger.debug({ err }, 'this node does not hear the hints of others over PostgreSQL')
        // A server that takes no listeners, as a standby, keeps the connection.
        await connection?.close().catch(() => undefined)
      }
      clearInterval(asking)
      this.#connection = undefined
      await pause(AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** A line that was cut without a word would be silent for hours: the question that gets no answer closes it. */
const askOf = (connection: Connection) => () => {
  connection.query('select').catch(() => connection.close().catch(() => undefined))
}

const PUBLISHED_WITHIN_MS = 250

/** Publishes over the service's connection to Redis, and listens over one of its own. */
export class RedisCarrier {
  readonly #publisher: RedisConnection
  readonly #subscriber: RedisConnection
  readonly #channel: string
  readonly #ends: Ends
  readonly #warn: ReturnType<typeof boundedWarnings>
  #isUp = false
  #hasBeenUp = false
  #asking: NodeJS.Timeout | undefined
  /** A server that does not answer is not waited for again until then, by `performance.now()`. */
  #silentUntil = 0

  constructor(connection: RedisConnection, channel: string, ends: Ends) {
    this.#publisher = connection
    this.#channel = channel
    this.#ends = ends
    this.#warn = boundedWarnings(ends.logger)
    this.#subscriber = connection.duplicate({
      connectionName: 'chapar-bus',
      lazyConnect: true,
      autoResubscribe: false,
      // A subscription that was under way when the connection was lost is asked for again on the next one.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    })
  }

  get isUp(): boolean {
    return this.#isUp
  }

  start(): void {
    const { logger, heard } = this.#ends
    const subscriber = this.#subscriber
    subscriber.on('error', (err) => logger.debug({ err }, 'the bus has lost its line to Redis'))
    subscriber.on('message', (_channel, notice) => heard(notice))
    subscriber.on('ready', () => void this.#subscribe())
    subscriber.on('close', () => this.#lost())
    // It goes on trying by itself.
    subscriber.connect().catch(() => undefined)
    let wasUp = true
    this.#asking = setInterval(() => {
      // A connection may also stand still before it is subscribed.
      if (this.#isUp) void this.#ask()
      else if (!wasUp && isOpen(subscriber)) subscriber.disconnect(true)
      wasUp = this.#isUp
    }, ASK_EVERY_MS).unref()
  }

  /** Resolves with how many connections have got the notice, this node's own included; 0 while Redis is away. */
  async send(notice: string): Promise<number> {
    if (performance.now() < this.#silentUntil) return 0
    try {
      return await within(PUBLISHED_WITHIN_MS, undefined, () =>
        this.#publisher.publish(this.#channel, notice),
      )
    } catch (err) {
      this.#silentUntil = performance.now() + AGAIN_MS
      this.#ends.logger.debug({ err }, 'Redis does not take the hints for other nodes')
      return 0
    }
  }

  close(): void {
    clearInterval(this.#asking)
    this.#isUp = false
    this.#subscriber.removeAllListeners('close').disconnect()
  }

  async #subscribe(): Promise<void> {
    const { logger, gap } = this.#ends
    try {
      await this.#subscriber.subscribe(this.#channel)
    } catch (err) {
      this.#warn({ err }, 'this node does not hear the hints of others over Redis')
      return
    }
    this.#isUp = true
    if (this.#hasBeenUp) {
      logger.info({}, 'hints between nodes go over Redis again')
      gap()
    }
    this.#hasBeenUp = true
  }

  #lost(): void {
    if (!this.#isUp) return
    this.#isUp = false
    this.#ends.logger.warn({}, 'Redis is away: hints between nodes go over PostgreSQL')
    // From now on they come over PostgreSQL.
    this.#ends.gap()
  }

  /** A line that was cut without a word would be silent for ever. */
  async #ask(): Promise<void> {
    try {
      await within(ANSWERS_WITHIN_MS, undefined, () => this.#subscriber.ping())
    } catch {
      this.#lost()
      this.#subscriber.disconnect(true)
    }
  }
}

const isOpen = ({ status }: RedisConnection) => status === 'connect' || status === 'ready'
