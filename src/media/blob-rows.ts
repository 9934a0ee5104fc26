/** The rows of stored blobs: their owners and quotas, their holders, and objects without a row. */
import type { Database, Queryable } from '../database/database.ts'

interface BlobRow {
  readonly blob: string
  readonly userId: number
  readonly size: number
  readonly mime: string
  readonly object: string
  readonly sealedKey: Buffer
}

export interface Quota {
  readonly bytes: number
  readonly files: number
}

type Stored = Pick<BlobRow, 'size' | 'mime' | 'object' | 'sealedKey'>

const found = {
  name: 'media_find',
  text: `select size, mime, object, sealed_key as "sealedKey" from media_blob where blob = $1`,
}
const keep = `update media_blob
  set expires_at = greatest(expires_at, now() + $2 * interval '1 second')
  where blob = any($1) returning blob`
const insert = `insert into media_blob (blob, user_id, size, mime, object, sealed_key, expires_at)
  values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 second')
  on conflict (blob) do nothing returning blob`
const use = `insert into media_usage as u (user_id, bytes, files) values ($1, $2, 1)
  on conflict (user_id) do update set bytes = u.bytes + $2, files = u.files + 1
  returning bytes, files`

/** Deletes expired rows without holders; their objects become orphans in the same statement. */
const expire = `with gone as (
    delete from media_blob where blob in (
      select blob from media_blob b
       where expires_at < now() and not exists (select from media_hold h where h.blob = b.blob)
       order by expires_at limit $1 for update skip locked)
    returning user_id, size, object),
  freed as (
    update media_usage u set bytes = u.bytes - g.bytes, files = u.files - g.files
    from (select user_id, sum(size)::bigint as bytes, count(*)::integer as files
            from gone group by user_id) g
    where u.user_id = g.user_id),
  named as (insert into media_object (object, since) select object, '-infinity' from gone)
  select count(*)::integer as count from gone`

export class BlobRows {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async find(blob: string): Promise<Stored | undefined> {
    const [row] = await this.#db.query<Stored>(found, [blob])
    return row
  }

  /** Keeps these blobs for at least so long from now; returns those that exist. */
  async keep(blobs: readonly string[], seconds: number): Promise<string[]> {
    const rows = await this.#db.query<{ blob: string }>(keep, [blobs, seconds])
    return rows.map(({ blob }) => blob)
  }

  /** Records an object before it is written. Without a later `add` it is an orphan. */
  async announce(object: string): Promise<void> {
    await this.#db.query('insert into media_object (object) values ($1)', [object])
  }

  /** `known`: the same content was added meanwhile. `full`: the quota is used up. */
  add(row: BlobRow, seconds: number, quota: Quota): Promise<'added' | 'known' | 'full'> {
    return this.#db
      .transaction(async (tx) => {
        const { blob, userId, size, mime, object, sealedKey } = row
        const values = [blob, userId, size, mime, object, sealedKey, seconds]
        const [added] = await tx.query(insert, values)
        if (!added) return 'known' as const
        const [used] = await tx.query<Quota>(use, [userId, size])
        if (!used || used.bytes > quota.bytes || used.files > quota.files) throw new Full()
        await forget(tx, [object])
        return 'added' as const
      })
      .catch((error) => {
        if (error instanceof Full) return 'full'
        throw error
      })
  }

  /** Also keeps them for a while, so that an expiry under way sees a row that has changed. Returns those held. */
  hold(blobs: readonly string[], holder: string): Promise<number> {
    return this.#db.transaction(async (tx) => {
      const kept = await tx.query<{ blob: string }>(keep, [blobs, 60])
      await tx.query(
        `insert into media_hold (blob, holder) select unnest($1::text[]), $2 on conflict do nothing`,
        [kept.map(({ blob }) => blob), holder],
      )
      return kept.length
    })
  }

  async release(holder: string): Promise<void> {
    await this.#db.query('delete from media_hold where holder = $1', [holder])
  }

  /** Returns how many blobs are gone. */
  async expire(limit: number): Promise<number> {
    const [row] = await this.#db.query<{ count: number }>(expire, [limit])
    return row?.count ?? 0
  }

  /** Objects without a row: of deleted blobs, and of writes that never finished. */
  async orphans(limit: number): Promise<string[]> {
    const rows = await this.#db.query<{ object: string }>(
      `select object from media_object where since < now() - interval '1 hour' limit $1`,
      [limit],
    )
    return rows.map(({ object }) => object)
  }

  async forget(objects: readonly string[]): Promise<void> {
    await forget(this.#db, objects)
  }
}

class Full extends Error {}

async function forget(db: Queryable, objects: readonly string[]): Promise<void> {
  await db.query('delete from media_object where object = any($1)', [objects])
}
