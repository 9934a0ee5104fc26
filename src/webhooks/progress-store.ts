/** Stores how far webhooks are: those of all keys in one statement, the next as soon as the last is through. */
import type { Owned, OwnedKey } from '../../actors/ports/ports.ts'
import type { Progress } from '../../machines/webhook/progress.ts'
import type { Fenced } from '../credentials/fence.ts'
import type { Database } from '../database/database.ts'

interface Waiting {
  readonly key: OwnedKey
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

/** A cursor only grows, whoever writes it; the acknowledgements beyond it are those of the owner. */
const theirs = `webhook_progress =
              case when c.epoch = p.epoch then p.progress::jsonb else k.webhook_progress end`

const statement = {
  name: 'webhook-progress',
  text: `with pace as (${pace}), locked as (
           select id from api_key, pace where id = any($1::bigint[]) order by id for update of api_key
         )
         update api_key k
            set cursor = greatest(k.cursor, p.cursor), ${theirs}
           from unnest($1::bigint[], $2::bigint[], $3::text[], $5::bigint[])
                  as p (id, cursor, progress, epoch), credential c
          where k.id = p.id and c.id = k.credential_id
            and exists (select from locked where locked.id = k.id)
         returning c.id as "credentialId", p.epoch, c.epoch <> p.epoch as "isLost"`,
}

/** A key that is delivered to flat out is mostly alone: it need not be locked in the order of others. */
const single = {
  name: 'webhook-progress-single',
  text: `with pace as (${pace})
         update api_key k
            set cursor = greatest(k.cursor, p.cursor), ${theirs}
           from pace, credential c,
                (values ($2::bigint, $3::text, $5::bigint)) as p (cursor, progress, epoch)
          where k.id = $1::bigint and c.id = k.credential_id
         returning c.id as "credentialId", p.epoch, c.epoch <> p.epoch as "isLost"`,
}

const AT_ONCE = 500

export class ProgressStore {
  readonly #db: Database
  readonly #fenced: Fenced
  #waiting = new Map<number, Waiting>()
  #isWriting = false

  /** `fenced` is told of credentials that another node has claimed. */
  constructor(db: Database, fenced: Fenced = () => undefined) {
    this.#db = db
    this.#fenced = fenced
  }

  /** `progress` is asked for just before it is written; what is rushed may be forgotten by a database that crashes. */
  save(key: OwnedKey, progress: () => Progress, isRushed: boolean): Promise<void> {
    const { apiKeyId } = key
    const settled = this.#waiting.get(apiKeyId)?.settled ?? Promise.withResolvers<void>()
    this.#waiting.set(apiKeyId, { key, progress, isRushed, settled })
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
    const rows = batch.map(([, { key, progress }]) => rowOf(key, progress()))
    const isRushed = batch.every(([, waiting]) => waiting.isRushed)
    try {
      const lost = (await this.#store(rows, isRushed)).filter(({ isLost }) => isLost)
      if (lost.length > 0) this.#fenced(lost)
      for (const [, { settled }] of batch) settled.resolve()
    } catch (error) {
      for (const [, { settled }] of batch) settled.reject(error)
    }
  }

  #store(
    rows: readonly Row[],
    isRushed: boolean,
  ): Promise<(Owned & { readonly isLost: boolean })[]> {
    const [only] = rows
    if (only && rows.length === 1) {
      return this.#db.query(single, [only.id, only.cursor, only.progress, isRushed, only.epoch])
    }
    return this.#db.query(statement, [
      rows.map(({ id }) => id),
      rows.map(({ cursor }) => cursor),
      rows.map(({ progress }) => progress),
      isRushed,
      rows.map(({ epoch }) => epoch),
    ])
  }
}

interface Row {
  readonly id: number
  readonly epoch: number
  readonly cursor: number
  readonly progress: string | null
}

/** Where everything that was read is acknowledged, the cursor says it all. */
const rowOf = ({ apiKeyId, epoch }: OwnedKey, progress: Progress): Row => ({
  id: apiKeyId,
  epoch,
  cursor: progress.cursor,
  progress: progress.waiting > 0 ? JSON.stringify(progress) : null,
})
