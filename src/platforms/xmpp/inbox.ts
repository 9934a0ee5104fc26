/** Live messages in their order: committed in batches, one after the other, and held back during a catch-up. */
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
/** No batch begins sooner after the one before unless it is full: a commit costs more than many messages. */
const BATCH_EVERY_MS = 10
/** For each message of the batch before, it is this time: a flood is stored in larger batches, up to the last one. */
const LATER_MS = 5
const LATEST_MS = 50
const MOST_WAITING = 5_000
/** See `weightOf`. */
const HEAVIEST = 32 * 2 ** 20

interface Waiting {
  readonly delivery: IncomingMessage
  readonly weight: number
  readonly stored: () => void
}

export class Inbox {
  readonly #events: InboxEvents
  #queue: Waiting[] = []
  #held: Waiting[] | undefined = []
  #draining: Promise<void> | undefined
  #weight = 0
  /** When the last batch began, and how large it was. */
  #begunAt = Number.NEGATIVE_INFINITY
  #size = 0
  /** Begins the next batch before its time. */
  #begin: (() => void) | undefined

  constructor(events: InboxEvents) {
    this.#events = events
  }

  /** Resolves once it is stored; never resolves if that fails. */
  push(delivery: IncomingMessage): Promise<void> {
    const { promise, resolve: stored } = Promise.withResolvers<void>()
    const waiting = this.#held ?? this.#queue
    const weight = weightOf(delivery.message)
    waiting.push({ delivery, weight, stored })
    this.#weight += weight
    const isTooMuch = waiting.length > MOST_WAITING || this.#weight > HEAVIEST
    if (isTooMuch) this.#fail(new NotStored('Too many messages wait'))
    else if (!this.#held) this.#wake()
    if (this.#queue.length >= BATCH_SIZE) this.#begin?.()
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
      const { delivery, weight, stored } = waiting
      if (!caughtUp.has(delivery.key)) this.#queue.push(waiting)
      else {
        this.#weight -= weight
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
        this.#size = batch.length
        await this.#events.commit(batch.map(({ delivery }) => delivery))
        for (const { weight, stored } of batch) {
          this.#weight -= weight
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
    const every = Math.min(Math.max(BATCH_EVERY_MS, LATER_MS * this.#size), LATEST_MS)
    const early = this.#begunAt + every - performance.now()
    if (early > 0 && this.#queue.length < BATCH_SIZE) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, early)
        this.#begin = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#begin = undefined
    }
    this.#begunAt = performance.now()
  }

  #fail(cause: unknown) {
    this.#queue = []
    this.#held = []
    this.#weight = 0
    this.#events.failed(cause)
  }
}
