/** Where the log of a credential begins anew: at a time, or at an id that may not be there any more. */
import type { Database } from '../database/database.ts'

/** The first update that was stored then or later. Ids and times rise together. Undefined when there is none. */
export function updateSince(
  db: Database,
  credentialId: number,
  since: Date,
): Promise<number | undefined> {
  return first(db, 'at >= $2::timestamptz', credentialId, since)
}

/** The first update that has this id or a later one. Undefined when there is none. */
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
