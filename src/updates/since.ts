/** The first update of a credential that was stored at a time or later. */
import type { Database } from '../database/database.ts'

/** Ids and times rise together. Undefined when there is none. */
export async function updateSince(
  db: Database,
  credentialId: number,
  since: string,
): Promise<number | undefined> {
  const [row] = await db.query<{ update_id: number }>(
    `select update_id from update_log where credential_id = $1 and at >= $2::timestamptz
      order by update_id limit 1`,
    [credentialId, since],
  )
  return row?.update_id
}
