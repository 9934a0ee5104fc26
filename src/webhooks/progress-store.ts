/** Stores how far webhooks are: those of all keys in one statement, the next as soon as the last is through. */
import type { Progress } from '../../machines/webhook-progress.ts'
import type { Database } from '../database/database.ts'

interface Waiting {
  readonly progress: () => Progress
  readonly isRushed: boolean
  readonly settled: PromiseWithResolvers<void>
}

/**
 * Whoever is delivered to flat out does not wait for the disk: a crash of the service loses nothing by that, and one
 * of the database only has the acknowledgements of its last moment repeated.
 */
const pace = `select set_config('synchronous_commit',
                case when $4 then 'off' else current_setting('synchronous_commit') end, true)`

const statement = {
  name: 'webhook-progress',
  text: `with pace as (${pace}), locked as (
           select id from api_key, pace where id = any($1::bigint[]) order by id for update of api_key
         )
         update api_key k
            set cursor = greatest(k.cursor, p.cursor), webhook_progress = p.progress::jsonb
           from unnest($1::bigint[], $2::bigint[], $3::text[]) as p (id, cursor, progress)
          where k.id = p.id and exists (select from locked where locked.id = k.id)`,
}

/** A key that is delivered to flat out is mostly alone: it need not be locked in the order of others. */
const single = {
  name: 'webhook-progress-single',
  text: `with pace as (${pace})
         update api_key k
            set cursor = greatest(k.cursor, $2::bigint), webhook_progress = $3::jsonb
           from pace where k.id = $1::bigint`,
}

const AT_ONCE = 500

export class ProgressStore {
  readonly #db: Database
  #waiting = new Map<number, Waiting>()
  #isWriting = false

  constructor(db: Database) {
    this.#db = db
  }

  /** `progress` is asked for just before it is written; what is rushed may be forgotten by a database that crashes. */
  save(apiKeyId: number, progress: () => Progress, isRushed: boolean): Promise<void> {
    const settled = this.#waiting.get(apiKeyId)?.settled ?? Promise.withResolvers<void>()
    this.#waiting.set(apiKeyId, { progress, isRushed, settled })
    if (!this.#isWriting) void this.#writeAll()
    return settled.promise
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // What else is acknowledged in this turn goes along.
    await undefined
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, AT_ONCE)
      for (const [apiKeyId] of batch) this.#waiting.delete(apiKeyId)
      await this.#write(batch)
    }
    this.#isWriting = false
  }

  async #write(batch: readonly (readonly [number, Waiting])[]): Promise<void> {
    const rows = batch.map(([id, { progress }]) => rowOf(id, progress()))
    const isRushed = batch.every(([, waiting]) => waiting.isRushed)
    try {
      await this.#store(rows, isRushed)
      for (const [, { settled }] of batch) settled.resolve()
    } catch (error) {
      for (const [, { settled }] of batch) settled.reject(error)
    }
  }

  #store(rows: readonly Row[], isRushed: boolean): Promise<unknown> {
    const [only] = rows
    if (only && rows.length === 1) {
      return this.#db.query(single, [only.id, only.cursor, only.progress, isRushed])
    }
    return this.#db.query(statement, [
      rows.map(({ id }) => id),
      rows.map(({ cursor }) => cursor),
      rows.map(({ progress }) => progress),
      isRushed,
    ])
  }
}

interface Row {
  readonly id: number
  readonly cursor: number
  readonly progress: string | null
}

/** Where everything that was read is acknowledged, the cursor says it all. */
const rowOf = (id: number, progress: Progress): Row => ({
  id,
  cursor: progress.cursor,
  progress: progress.waiting > 0 ? JSON.stringify(progress) : null,
})
