/** Deletes what was meant for a moment and nobody asks for any more: codes, presses, drafts, who is typing. */
import type { Queryable } from '../database/database.ts'

/** A day more than anybody waits, so that a late answer is still told that it is late. */
const over = [
  `delete from sandbox_challenge where expires_at < now() - interval '1 day'`,
  `delete from sandbox_callback where expires_at < now() - interval '1 day'`,
  `delete from sandbox_draft where until < now() - interval '1 day'`,
  `delete from sandbox_typing where until < now() - interval '1 day'`,
]

export async function retainSandbox(db: Queryable): Promise<void> {
  for (const statement of over) await db.query(statement)
}
