/** Deletes expired one-time codes, callback queries, drafts and typing notices. */
import type { Queryable } from '../database/database.ts'

/** They stay one more day, so that a late answer is refused as late. */
const deleting = [
  `delete from sandbox_challenge where expires_at < now() - interval '1 day'`,
  `delete from sandbox_callback where expires_at < now() - interval '1 day'`,
  `delete from sandbox_draft where until < now() - interval '1 day'`,
  `delete from sandbox_typing where until < now() - interval '1 day'`,
]

export async function retainSandbox(db: Queryable): Promise<void> {
  for (const statement of deleting) await db.query(statement)
}
