/** Sends what arrives while a statement is under way together in the next one. */
import type { Content } from '../../../machines/content.ts'
import type { Queryable } from '../../database/database.ts'
import type { View } from './cards.ts'
import { sending } from './sending.ts'

const LARGEST_BATCH = 200

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
}

interface Waiting {
  readonly draft: Draft
  resolve(sent: View | undefined): void
  reject(cause: unknown): void
}

type SentRow = View & { readonly ord: number; readonly woken: readonly number[] }

export class Outbox {
  readonly #db: Queryable
  readonly #wake: (people: readonly number[]) => void
  #waiting: Waiting[] = []
  #isBusy = false

  constructor(db: Queryable, wake: (people: readonly number[]) => void) {
    this.#db = db
    this.#wake = wake
  }

  /** Resolves with the message as its sender sees it, or with nothing if it was not admitted. */
  send(draft: Draft): Promise<View | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<View | undefined>()
    this.#waiting.push({ draft, resolve, reject })
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
    const given = JSON.stringify(batch.map(({ draft }, ord) => ({ ...draft, ord })))
    try {
      const rows = await this.#db.query<SentRow>(sending, [given])
      const sent = new Map(rows.map((row) => [row.ord, row]))
      this.#wake(rows[0]?.woken ?? [])
      for (const [ord, waiting] of batch.entries()) waiting.resolve(sent.get(ord))
    } catch (cause) {
      await this.#sendApart(batch, cause)
    }
  }

  /** The same request twice at once: one of them is stored, the other finds it there. */
  async #sendApart(batch: readonly Waiting[], cause: unknown) {
    if (!isRepeated(cause)) for (const { reject } of batch) reject(cause)
    else if (batch.length === 1) batch[0]!.resolve(undefined)
    else for (const waiting of batch) await this.#sendTogether([waiting])
  }
}

/** PostgreSQL's unique_violation. */
const isRepeated = (cause: unknown) =>
  cause instanceof Error && 'code' in cause && cause.code === '23505'
