/** Sends what arrives while a statement is under way together in the next one. */
import type { Content } from '../../../machines/model/content.ts'
import type { ReplyKeyboard } from '../../../machines/model/reply-keyboard.ts'
import type { Queryable } from '../../database/database.ts'
import type { View } from '../delivery/cards.ts'
import { sending } from './sending.ts'
import { neededFor } from './sending-rights.ts'

const LARGEST_BATCH = 200
/** While one statement waits for the disk, another is at work; more of them would each carry too little. */
const LANES = 2

/** One message to send; `native` names the chat as its sender does. */
export interface Draft {
  readonly sender: number
  readonly session?: number
  readonly native: number
  readonly request: string
  readonly content: Content
  readonly reply?: number
  readonly replyOptional?: boolean
  readonly forward?: unknown
  readonly buttons?: unknown
  readonly keyboard?: ReplyKeyboard
  /** Messages with the same key are one album. */
  readonly album?: string
  readonly isProtected?: boolean
  /** Of a forum; absent: that of the message answered, or the general one. */
  readonly topic?: number
}

/** What is sent together or not at all. */
interface Waiting {
  readonly drafts: readonly Draft[]
  resolve(sent: readonly View[] | undefined): void
  reject(cause: unknown): void
}

type SentRow = View & { readonly ord: number; readonly woken: readonly number[] }

export class Outbox {
  readonly #lanes: readonly Lane[]

  constructor(db: Queryable, wake: (people: readonly number[]) => void) {
    this.#lanes = Array.from({ length: LANES }, () => new Lane(db, wake))
  }

  /** Resolves with the messages as their sender sees them, or with nothing if they were not admitted. */
  send(drafts: readonly Draft[]): Promise<readonly View[] | undefined> {
    // What somebody sends to one chat keeps its order.
    const lane = this.#lanes[Math.abs(drafts[0]?.native ?? 0) % LANES]!
    return lane.send(drafts)
  }
}

class Lane {
  readonly #db: Queryable
  readonly #wake: (people: readonly number[]) => void
  #waiting: Waiting[] = []
  #isBusy = false

  constructor(db: Queryable, wake: (people: readonly number[]) => void) {
    this.#db = db
    this.#wake = wake
  }

  send(drafts: readonly Draft[]): Promise<readonly View[] | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly View[] | undefined>()
    this.#waiting.push({ drafts, resolve, reject })
    if (!this.#isBusy) void this.#drain()
    return promise
  }

  async #drain() {
    this.#isBusy = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, LARGEST_BATCH)
      this.#waiting = this.#waiting.slice(LARGEST_BATCH)
      await this.#sendTogether(batch)
    }
    this.#isBusy = false
  }

  async #sendTogether(batch: readonly Waiting[]): Promise<void> {
    const drafts = batch.flatMap((waiting) => waiting.drafts)
    const given = drafts.map((draft, ord) => ({ ...draft, ord, needs: neededFor(draft.content) }))
    try {
      const rows = await this.#db.query<SentRow>(sending, [JSON.stringify(given)])
      const sent = new Map(rows.map((row) => [row.ord, row]))
      this.#wake(rows[0]?.woken ?? [])
      let ord = 0
      for (const { drafts, resolve } of batch) {
        const views = drafts.flatMap(() => sent.get(ord++) ?? [])
        resolve(views.length === drafts.length ? views : undefined)
      }
    } catch (cause) {
      await this.#sendApart(batch, cause)
    }
  }

  /** The same request twice at once, or a chat that was deleted meanwhile: the others have nothing to do with it. */
  async #sendApart(batch: readonly Waiting[], cause: unknown) {
    if (!isOfOneMessage(cause)) for (const { reject } of batch) reject(cause)
    else if (batch.length === 1) batch[0]!.resolve(undefined)
    else for (const waiting of batch) await this.#sendTogether([waiting])
  }
}

const UNIQUE_VIOLATION = '23505'
/** A chat that is gone gives its message no number. */
const NOT_NULL_VIOLATION = '23502'

const isOfOneMessage = (cause: unknown) =>
  cause instanceof Error &&
  'code' in cause &&
  (cause.code === UNIQUE_VIOLATION || cause.code === NOT_NULL_VIOLATION)
