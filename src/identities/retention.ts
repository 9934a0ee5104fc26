/** Deletes the message ids of deleted accounts: no key is left that could use them. */
import type { Queryable } from '../database/database.ts'

const AT_ONCE = 5_000

/** The lateral join uses the index for each account, however large the table is. */
const forget = `
  delete from message_identity m
   using (
     select its.* from credential c
      cross join lateral (
        select credential_id, chat_id, message_id from message_identity
         where credential_id = c.id limit ${AT_ONCE}) its
      where c.deactivated_at is not null limit ${AT_ONCE}) gone
   where m.credential_id = gone.credential_id and m.chat_id = gone.chat_id
     and m.message_id = gone.message_id
  returning 1`

export async function forgetMessages(db: Queryable): Promise<void> {
  let removed = AT_ONCE
  while (removed === AT_ONCE) removed = (await db.query(forget)).length
}
