/** Takes old updates out of the log, and writes down for every key how many it had not read. */

import type { Database } from '../database/database.ts'
import { BLOCK } from './pending.ts'
import { wantedBy } from './wanted.ts'

const AT_ONCE = 5_000

export interface RetentionLimits {
  readonly days: number
  /** Newest updates kept of each credential. */
  readonly updates: number
}

/**
 * Resolves with the number of updates removed. In small steps, so that nothing waits for it; `removed` hears of each:
 * the newest id that is gone. A credential that fails does not keep the others from their turn.
 */
export async function retainUpdates(
  db: Database,
  { days, updates }: RetentionLimits,
  removed: (credentialId: number, updateId: number) => void,
  onFailure = (_credentialId: number, cause: unknown): void => {
    throw cause
  },
): Promise<number> {
  const logs = await db.query<{ credential_id: number; next_update_id: number }>(
    'select credential_id, next_update_id from credential_log',
  )
  let total = 0
  for (const { credential_id, next_update_id } of logs) {
    const keepFrom = next_update_id - updates
    for (;;) {
      const step = await removeSome(db, credential_id, keepFrom, days).catch((cause) => {
        onFailure(credential_id, cause)
        return { count: 0, last: 0 }
      })
      if (step.count > 0) removed(credential_id, step.last)
      total += step.count
      if (step.count < AT_ONCE) break
    }
  }
  return total
}

async function removeSome(
  db: Database,
  credentialId: number,
  keepFrom: number,
  days: number,
): Promise<{ count: number; last: number }> {
  return db.transaction(async (tx) => {
    // Ids and times rise together: where the oldest are young enough, nothing else is looked at.
    const [cut] = await tx.query<{ last: number | null }>(
      `select max(update_id) as last from (
         select update_id, at from update_log
          where credential_id = $1 order by update_id limit ${AT_ONCE}) oldest
        where update_id < $2 or at < now() - make_interval(days => $3)`,
      [credentialId, keepFrom, days],
    )
    if (cut?.last == null) return { count: 0, last: 0 }
    // Told, never silent: a key learns how many updates it will not get.
    await tx.query(
      `update api_key k
          set dropped_updates = k.dropped_updates + d.unread, dropped_at = now()
         from (select k.id, count(*) as unread
                 from api_key k join update_log u
                   on u.credential_id = k.credential_id and u.update_id > k.cursor
                      and u.update_id <= $2 and ${wantedBy}
                where k.credential_id = $1 and k.revoked_at is null
                group by k.id) d
        where k.id = d.id`,
      [credentialId, cut.last],
    )
    const gone = await tx.query(
      'delete from update_log where credential_id = $1 and update_id <= $2 returning 1',
      [credentialId, cut.last],
    )
    await tx.query(`delete from update_block where credential_id = $1 and block <= $2 / ${BLOCK}`, [
      credentialId,
      cut.last,
    ])
    return { count: gone.length, last: cut.last }
  })
}
