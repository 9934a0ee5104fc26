/** Finds the first update at or after a time or an id, where a replay begins. */
import type { Database } from '../database/database.ts'

/** The first update that was stored at this time or later; undefined if there is none. Ids and times rise together. */
export function updateSince(
  db: Database,
  credentialId: number,
  since: Date,
): Promise<number | undefined> {
  return first(db, 'at >= $2::timestamptz', credentialId, since)
}

/** The first update with this id or a later one; undefined if there is none. */
export function updateFrom(
  db: Database,
  credentialId: number,
  updateId: number,
): Promise<number | undefined> {
  return first(db, 'update_id >= $2', credentialId, updateId)
}

async function first(
  db: Database,
  which: string,
  credentialId: number,
  value: Date | number,
): Promise<number | undefined> {
  const [row] = await db.query<{ update_id: number }>(
    `select update_id from update_log where credential_id = $1 and ${which}
      order by update_id limit 1`,
    [credentialId, value],
  )
  return row?.update_id
}
