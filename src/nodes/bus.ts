/** Hints between nodes, over PostgreSQL. Whatever they tell stands in a table, too: one that is lost only delays. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Json } from '../../machines/model/protocol.ts'
import { type Connection, connect } from '../database/database.ts'
import type { Logger } from '../observability/log.ts'

const CHANNEL = 'chapar'
/** Hints of one moment share a notice. */
const TOGETHER_MS = 2
/** The server takes 8,000 bytes. */
const NOTICE_BYTES = 7_900
const AGAIN_MS = 1_000
/** Of hints that wait; more are worth nothing, since a gap makes everybody look again. */
const MOST_WAITING = 10_000

type Listener = (hint: Json) => void

interface BusOptions {
  readonly url: string
  readonly logger: Logger
  /** Whether there is another node to tell. */
  isAlone(): boolean
  /** The number of this start of the process: a node does not hear itself. */
  incarnation(): number
}

/** As it goes over the wire. */
type Notice = readonly [from: number, hints: readonly (readonly [topic: string, hint: Json])[]]

/** Nothing is told within a transaction that stores something: a notice makes commits wait for each other. */
export class Bus {
  readonly #options: BusOptions
  readonly #listeners = new Map<string, Listener>()
  readonly #closing = new AbortController()
  #gap: () => void = () => undefined
  #connection: Connection | undefined
  #waiting: string[] = []
  #timer: NodeJS.Timeout | undefined
  #sent: Promise<void> = Promise.resolve()
  #running: Promise<void> | undefined

  constructor(options: BusOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  /** One listener a topic. */
  on(topic: string, listener: Listener): void {
    this.#listeners.set(topic, listener)
  }

  /** Calls back after hints may have been missed. */
  onGap(listener: () => void): void {
    this.#gap = listener
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
      // One statement at a time goes over a connection.
      this.#sent = this.#sent.then(() => this.#send())
    }, TOGETHER_MS)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    await this.#connection?.close().catch(() => undefined)
    await this.#running
  }

  async #send(): Promise<void> {
    const connection = this.#connection
    const waiting = this.#waiting
    this.#waiting = []
    if (!connection) return
    const from = this.#options.incarnation()
    try {
      for (const hints of pagesOf(waiting)) {
        const notice = `[${from},[${hints.join()}]]`
        await connection.query('select pg_notify($1, $2)', [CHANNEL, notice])
      }
    } catch (err) {
      this.#options.logger.debug({ err }, 'hints for other nodes were lost')
      await connection.close().catch(() => undefined)
    }
  }

  /** Listens, on one connection after the other. */
  async #run(): Promise<void> {
    const { url, logger } = this.#options
    const { signal } = this.#closing
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        const connection = await connect(url, 'chapar bus')
        await connection.listen(CHANNEL, (payload) => this.#heard(payload))
        this.#connection = connection
        if (signal.aborted) await connection.close()
        if (!isFirst) this.#gap()
        await connection.ended
      } catch (err) {
        logger.debug({ err }, 'this node does not hear the hints of others')
      }
      this.#connection = undefined
      await pause(AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  #heard(payload: string): void {
    const { incarnation, logger } = this.#options
    try {
      const [from, hints] = JSON.parse(payload) as Notice
      if (from === incarnation()) return
      for (const [topic, hint] of hints) this.#listeners.get(topic)?.(hint)
    } catch (err) {
      logger.warn({ err }, 'a hint of another node could not be used')
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
