/** Takes old updates out of the log, and writes down for every key how many it had not read. */
import type { Database } from '../database/database.ts'

const AT_ONCE = 5_000

export interface RetentionLimits {
  readonly days: number
  /** Newest updates kept of each credential. */
  readonly updates: number
}

/** Resolves with the number of updates removed. In small steps, so that nothing waits for it. */
export async function retainUpdates(
  db: Database,
  { days, updates }: RetentionLimits,
): Promise<number> {
  const logs = await db.query<{ credential_id: number; next_update_id: number }>(
    'select credential_id, next_update_id from credential_log',
  )
  let removed = 0
  for (const { credential_id, next_update_id } of logs) {
    for (;;) {
      const step = await removeSome(db, credential_id, next_update_id - updates, days)
      removed += step
      if (step < AT_ONCE) break
    }
  }
  return removed
}

async function removeSome(
  db: Database,
  credentialId: number,
  keepFrom: number,
  days: number,
): Promise<number> {
  return db.transaction(async (tx) => {
    const [cut] = await tx.query<{ last: number | null; removed: number }>(
      `select max(update_id) as last, count(*) as removed from (
         select update_id from update_log
          where credential_id = $1 and (update_id < $2 or at < now() - make_interval(days => $3))
          order by update_id limit ${AT_ONCE}) old`,
      [credentialId, keepFrom, days],
    )
    if (cut?.last == null) return 0
    // Told, never silent: a key learns how many updates it will not get.
    await tx.query(
      `update api_key k
          set dropped_updates = k.dropped_updates + d.unread, dropped_at = now()
         from (select k.id, count(*) as unread
                 from api_key k join update_log u
                   on u.credential_id = k.credential_id and u.update_id > k.cursor
                      and u.update_id <= $2 and u.api_key_id is distinct from k.id
                where k.credential_id = $1 and k.revoked_at is null
                group by k.id) d
        where k.id = d.id`,
      [credentialId, cut.last],
    )
    await tx.query('delete from update_log where credential_id = $1 and update_id <= $2', [
      credentialId,
      cut.last,
    ])
    await tx.query('delete from update_block where credential_id = $1 and block <= $2 / 1000', [
      credentialId,
      cut.last,
    ])
    return cut.removed
  })
}
