/** Keeps the timeline of an account that connects and fails for years from growing as long. */
import type { Queryable } from '../database/database.ts'

/** Newest lines kept of each account: weeks of one that is in trouble every few minutes, years of any other. */
export const LINES_KEPT = 1_000
const AT_ONCE = 5_000

/** Account by account, in steps that are short of any time limit. */
export async function retainTimelines(db: Queryable, kept = LINES_KEPT): Promise<void> {
  const accounts = await db.query<{ id: number }>(
    'select id from credential where deactivated_at is null',
  )
  for (const { id } of accounts) {
    let removed = AT_ONCE
    while (removed === AT_ONCE) {
      const gone = await db.query(
        `delete from credential_transition where id in (
           select id from credential_transition where credential_id = $1
            order by id desc offset $2 limit ${AT_ONCE}) returning 1`,
        [id, kept],
      )
      removed = gone.length
    }
  }
}
