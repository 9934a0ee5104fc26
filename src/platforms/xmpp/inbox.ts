/** Live messages in their order: committed in batches, one after the other, and held back during a catch-up. */
import { setTimeout as delay } from 'node:timers/promises'
import { NotStored } from '../kit/event-line.ts'
import type { IncomingMessage } from './delivery.ts'
import { weightOf } from './transport.ts'

interface InboxEvents {
  /** Stores a batch. */
  commit(deliveries: readonly IncomingMessage[]): Promise<void>
  /** A batch could not be stored, or too many messages wait: everything after the checkpoint has to be read again. */
  failed(cause: unknown): void
}

const BATCH_SIZE = 100
/** Of a flood, no batch begins sooner after the one before unless it is full: a commit costs more than many messages. */
const BATCH_EVERY_MS = 10
const MOST_WAITING = 5_000
/** See `weightOf`. */
const HEAVIEST = 32 * 2 ** 20

interface Waiting {
  readonly delivery: IncomingMessage
  readonly stored: () => void
}

export class Inbox {
  readonly #events: InboxEvents
  #queue: Waiting[] = []
  #held: Waiting[] | undefined = []
  #draining: Promise<void> | undefined
  #weight = 0
  /** When the last batch began. */
  #begunAt = Number.NEGATIVE_INFINITY

  constructor(events: InboxEvents) {
    this.#events = events
  }

  /** Resolves once it is stored; never resolves if that fails. */
  push(delivery: IncomingMessage): Promise<void> {
    const { promise, resolve: stored } = Promise.withResolvers<void>()
    const waiting = this.#held ?? this.#queue
    waiting.push({ delivery, stored })
    this.#weight += weightOf(delivery.message)
    const isTooMuch = waiting.length > MOST_WAITING || this.#weight > HEAVIEST
    if (isTooMuch) this.#fail(new NotStored('Too many messages wait'))
    else if (!this.#held) this.#wake()
    return promise
  }

  /** Resolves once all messages that are not held back are stored, or when that has failed. */
  async settled(): Promise<void> {
    await this.#draining
  }

  /** Holds later messages back. Resolves once all earlier ones are committed. */
  async hold(): Promise<void> {
    this.#held ??= []
    await this.#draining
  }

  /** Continues with the messages held back, except those that the catch-up has stored, by their keys. */
  release(caughtUp: ReadonlySet<string>) {
    const held = this.#held ?? []
    this.#held = undefined
    for (const waiting of held) {
      const { delivery, stored } = waiting
      if (!caughtUp.has(delivery.key)) this.#queue.push(waiting)
      else {
        this.#weight -= weightOf(delivery.message)
        stored()
      }
    }
    this.#wake()
  }

  #wake() {
    if (this.#queue.length > 0) this.#draining ??= this.#drain()
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        await this.#gather()
        const batch = this.#queue.splice(0, BATCH_SIZE)
        await this.#events.commit(batch.map(({ delivery }) => delivery))
        for (const { delivery, stored } of batch) {
          this.#weight -= weightOf(delivery.message)
          stored()
        }
      }
    } catch (cause) {
      this.#fail(cause)
    } finally {
      // In the same moment as the end of the loop: nobody would wake for what comes in between.
      this.#draining = undefined
    }
  }

  async #gather(): Promise<void> {
    const early = this.#begunAt + BATCH_EVERY_MS - performance.now()
    if (early > 0 && this.#queue.length < BATCH_SIZE) await delay(early)
    this.#begunAt = performance.now()
  }

  #fail(cause: unknown) {
    this.#queue = []
    this.#held = []
    this.#weight = 0
    this.#events.failed(cause)
  }
}
