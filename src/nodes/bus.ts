/** Hints between nodes, over Redis or PostgreSQL. Tables hold the same facts, so a lost hint only delays. */
import { LRUCache } from 'lru-cache'
import type { Json } from '../../machines/model/protocol.ts'
import type { RedisConnection } from '../jobs/backend.ts'
import type { Logger } from '../observability/logger.ts'
import { PostgresCarrier, RedisCarrier } from './carriers.ts'

/** Hints of one moment share a notice. */
const TOGETHER_MS = 2
/** PostgreSQL takes 8,000 bytes. */
const NOTICE_BYTES = 7_900
/** The most waiting hints. More are useless, because after a gap each node reads the tables again. */
const MOST_WAITING = 10_000
/** A hint may arrive over both carriers, late over one of them. */
const MOST_REMEMBERED = 10_000
/** The hint of a node that has lost its connection to Redis, repeated until it is back. */
const DEAF = 'deaf'
const SAY_AGAIN_MS = 1_000
const BELIEVED_MS = 3 * SAY_AGAIN_MS

type Listener = (hint: Json) => void

interface BusOptions {
  readonly url: string
  readonly logger: Logger
  /** Absent: all hints go over PostgreSQL. */
  readonly redis?: {
    /** The service's own; listening takes one connection more. */
    readonly connection: RedisConnection
    /** The same for all nodes of one database, and for no others. */
    readonly channel: string
  }
  /** Whether there is no other node to send to. */
  isAlone(): boolean
  /** How many nodes there are, this one included. */
  count(): number
  /** The number of this start of the process: a node does not hear itself. */
  incarnation(): number
}

/** As it goes over the wire. A sender of an earlier version does not number its notices. */
type Notice = readonly [
  from: number,
  hints: readonly (readonly [topic: string, hint: Json])[],
  number?: number,
]

/**
 * No hint is sent within a transaction that stores something, because `NOTIFY` makes commits wait for each other. With
 * Redis a hint goes over Redis, and over PostgreSQL too unless every node has received it: Redis returns the number of
 * receivers, and a node that has lost Redis says so. All nodes listen to both.
 */
export class Bus {
  readonly #options: BusOptions
  readonly #listeners = new Map<string, Listener>()
  readonly #gaps: (() => void)[] = []
  readonly #postgres: PostgresCarrier
  readonly #redis: RedisCarrier | undefined
  readonly #known = new LRUCache<string, true>({
    maxSize: MOST_REMEMBERED,
    sizeCalculation: () => 1,
  })
  #number = 0
  /** Until then some node is deaf, by `performance.now()`. */
  #deafUntil = 0
  #waiting: string[] = []
  #timer: NodeJS.Timeout | undefined
  #saying: NodeJS.Timeout | undefined
  #sent: Promise<void> = Promise.resolve()

  constructor(options: BusOptions) {
    const { url, logger, redis } = options
    this.#options = options
    const ends = {
      logger,
      heard: (payload: string) => this.#heard(payload),
      gap: () => this.#gap(),
    }
    this.#postgres = new PostgresCarrier(url, ends)
    this.#redis = redis && new RedisCarrier(redis.connection, redis.channel, ends)
  }

  start(): void {
    this.#postgres.start()
    if (!this.#redis) return
    this.#redis.start()
    this.#saying = setInterval(() => this.#sayDeaf(), SAY_AGAIN_MS).unref()
  }

  /** One listener a topic. */
  on(topic: string, listener: Listener): void {
    this.#listeners.set(topic, listener)
  }

  /** Calls back after hints may have been missed. */
  onGap(listener: () => void): void {
    this.#gaps.push(listener)
  }

  /** Which carriers this node hears hints over. */
  carriers(): Readonly<Record<string, boolean>> {
    const postgres = this.#postgres.isUp
    return this.#redis ? { postgres, redis: this.#redis.isUp } : { postgres }
  }

  /** Tells hints of one topic. */
  teller<Hint>(topic: string): (hint: Hint) => void {
    return (hint) => this.tell(topic, hint as Json)
  }

  tell(topic: string, hint: Json): void {
    if (this.#options.isAlone() || this.#waiting.length >= MOST_WAITING) return
    const text = JSON.stringify([topic, hint])
    if (Buffer.byteLength(text) > NOTICE_BYTES / 2) {
      this.#options.logger.warn({ topic }, 'a hint for other nodes is too long')
      return
    }
    this.#waiting.push(text)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      // In their order: one notice at a time is on its way.
      this.#sent = this.#sent.then(() => this.#send())
    }, TOGETHER_MS)
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    clearInterval(this.#saying)
    this.#redis?.close()
    await this.#postgres.close()
  }

  async #send(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    for (const hints of pagesOf(waiting)) {
      const notice = this.#noticeOf(hints)
      const heardBy = (await this.#redis?.send(notice)) ?? 0
      const isHeardByAll = heardBy >= this.#options.count() && performance.now() >= this.#deafUntil
      if (!isHeardByAll) await this.#postgres.send(notice)
    }
  }

  #noticeOf(hints: readonly string[]): string {
    this.#number++
    return `[${this.#options.incarnation()},[${hints.join()}],${this.#number}]`
  }

  /** Redis may count a dead connection, because it learns of its end late or never. */
  #sayDeaf(): void {
    if (this.#redis?.isUp || this.#options.isAlone()) return
    const notice = this.#noticeOf([JSON.stringify([DEAF, null])])
    this.#sent = this.#sent.then(() => this.#postgres.send(notice))
  }

  #heard(payload: string): void {
    const { incarnation, logger } = this.#options
    try {
      const [from, hints, number] = JSON.parse(payload) as Notice
      if (from === incarnation() || !this.#isNew(from, number)) return
      for (const [topic, hint] of hints) {
        if (topic === DEAF) this.#deafUntil = performance.now() + BELIEVED_MS
        else this.#listeners.get(topic)?.(hint)
      }
    } catch (err) {
      logger.warn({ err }, 'a hint of another node could not be used')
    }
  }

  #isNew(from: number, number: number | undefined): boolean {
    // Without Redis there is one way only.
    if (number === undefined || !this.#redis) return true
    const key = `${from} ${number}`
    if (this.#known.has(key)) return false
    this.#known.set(key, true)
    return true
  }

  #gap(): void {
    if (this.#options.isAlone()) return
    for (const listener of this.#gaps) {
      try {
        listener()
      } catch (err) {
        this.#options.logger.warn({ err }, 'what may have been missed could not be looked for')
      }
    }
  }
}

/** In order, as many on each page as a notice holds. */
function* pagesOf(texts: readonly string[]): IterableIterator<string[]> {
  let page: string[] = []
  let bytes = 0
  for (const text of texts) {
    const more = Buffer.byteLength(text) + 1
    if (page.length > 0 && bytes + more > NOTICE_BYTES - 32) {
      yield page
      page = []
      bytes = 0
    }
    page.push(text)
    bytes += more
  }
  if (page.length > 0) yield page
}
