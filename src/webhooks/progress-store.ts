/** Stores the progress of webhooks: one statement for all keys, the next one as soon as the last has ended. */
import type { Owned, OwnedKey } from '../../actors/ports/ports.ts'
import type { Progress } from '../../machines/webhook/progress.ts'
import type { Fenced } from '../credentials/fence.ts'
import type { Database } from '../database/database.ts'
import { arrayLiteral, textArray } from '../database/write-behind.ts'

interface Waiting {
  readonly key: OwnedKey
  readonly progress: () => Progress
  readonly isRushed: boolean
  readonly settled: PromiseWithResolvers<void>
}

/**
 * A rushed write does not wait for the disk. A crash of the service loses nothing by that; after a crash of the
 * database, the updates that were acknowledged last are delivered again.
 */
const pace = `select set_config('synchronous_commit',
                case when $4 then 'off' else current_setting('synchronous_commit') end, true)`

/** Any node may move a cursor forward; only the owner writes the acknowledgements beyond it. */
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

/** A rushed key is mostly alone in its statement, and then needs no lock in the order of others. */
const single = {
  name: 'webhook-progress-single',
  text: `with pace as (${pace})
         update api_key k
            set cursor = greatest(k.cursor, p.cursor), ${theirs}
           from pace, credential c,
                (values ($2::bigint, $3::text, $5::bigint)) as p (cursor, progress, epoch)
          where k.id = $1::bigint and c.id = k.credential_id
         returning c.epoch <> p.epoch as "isLost"`,
}

const AT_ONCE = 500

export class ProgressStore {
  readonly #db: Database
  readonly #fenced: Fenced
  #waiting = new Map<number, Waiting>()
  #isWriting = false

  /** `fenced` gets the credentials that another node has claimed. */
  constructor(db: Database, fenced: Fenced = () => undefined) {
    this.#db = db
    this.#fenced = fenced
  }

  /** Resolves once stored; `progress` is called just before the write. A crash of the database may lose a rushed write. */
  save(key: OwnedKey, progress: () => Progress, isRushed: boolean): Promise<void> {
    const { apiKeyId } = key
    const before = this.#waiting.get(apiKeyId)
    const settled = before?.settled ?? Promise.withResolvers<void>()
    // Whoever asked for the disk before gets the same answer.
    const isEachRushed = isRushed && before?.isRushed !== false
    this.#waiting.set(apiKeyId, { key, progress, isRushed: isEachRushed, settled })
    if (!this.#isWriting) void this.#writeAll()
    return settled.promise
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Keys that acknowledge in the same turn share the statement.
    await undefined
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, AT_ONCE)
      for (const [apiKeyId] of batch) this.#waiting.delete(apiKeyId)
      await this.#write(batch.map(([, waiting]) => waiting))
    }
    this.#isWriting = false
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const rows: Row[] = []
    const written: Waiting[] = []
    for (const waiting of batch) {
      try {
        rows.push(rowOf(waiting.key, waiting.progress()))
        written.push(waiting)
      } catch (error) {
        // The progress of one key must not keep the others from being stored.
        waiting.settled.reject(error)
      }
    }
    if (rows.length === 0) return
    const isRushed = written.every((waiting) => waiting.isRushed)
    try {
      const lost = await this.#store(rows, isRushed)
      if (lost.length > 0) this.#fenced(lost)
      for (const { settled } of written) settled.resolve()
    } catch (error) {
      for (const { settled } of written) settled.reject(error)
    }
  }

  /** Resolves with the credentials that another node has claimed. */
  async #store(rows: readonly Row[], isRushed: boolean): Promise<Owned[]> {
    const [only] = rows
    if (only && rows.length === 1) {
      const { id, cursor, progress, epoch } = only
      const values = [id, cursor, progress, isRushed, epoch]
      const [stored] = await this.#db.query<Pick<Stored, 'isLost'>>(single, values)
      return stored?.isLost ? [only] : []
    }
    const stored = await this.#db.query<Stored>(statement, [
      arrayLiteral(rows.map(({ id }) => id)),
      arrayLiteral(rows.map(({ cursor }) => cursor)),
      textArray(rows.map(({ progress }) => progress)),
      isRushed,
      arrayLiteral(rows.map(({ epoch }) => epoch)),
    ])
    return stored.filter(({ isLost }) => isLost)
  }
}

interface Stored extends Owned {
  readonly isLost: boolean
}

interface Row extends Owned {
  readonly id: number
  readonly cursor: number
  readonly progress: string | null
}

/** If every update that was read is acknowledged, the cursor alone is enough. */
const rowOf = ({ apiKeyId, credentialId, epoch }: OwnedKey, progress: Progress): Row => ({
  id: apiKeyId,
  credentialId,
  epoch,
  cursor: progress.cursor,
  progress: progress.waiting > 0 ? JSON.stringify(progress) : null,
})
