/** Deletes expired one-time codes, ephemeral messages, queries of bots, old payments, prepared messages, drafts and typing notices. */
import type { Queryable } from '../database/database.ts'

/** They stay one more day, so that a late answer is refused as late. */
const deleting = [
  `delete from sandbox_challenge where expires_at < now() - interval '1 day'`,
  `delete from sandbox_callback where expires_at < now() - interval '1 day'`,
  `delete from sandbox_inline_query where asked_at < now() - interval '2 days'`,
  `delete from sandbox_prepared_message where expires_at < now() - interval '1 day'`,
  `delete from sandbox_prepared_key where expires_at < now() - interval '1 day'`,
  `delete from sandbox_web_app where expires_at < now() - interval '1 day'`,
  `delete from sandbox_payment where paid_at is null and asked_at < now() - interval '2 days'`,
  `delete from sandbox_payment where paid_at < now() - interval '400 days'
     and (invoice ->> 'periodSeconds' is null or is_canceled)`,
  `delete from sandbox_star_entry where at < now() - interval '400 days'`,
  `delete from sandbox_suggested_post where settled_at < now() - interval '400 days'`,
  `delete from sandbox_invoice where at < now() - interval '400 days'`,
  `delete from sandbox_ephemeral where at < now() - interval '1 day'`,
  `delete from sandbox_draft where until < now() - interval '1 day'`,
  `delete from sandbox_typing where until < now() - interval '1 day'`,
]

export async function retainSandbox(db: Queryable): Promise<void> {
  for (const statement of deleting) await db.query(statement)
}
