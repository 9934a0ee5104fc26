/** Opens the private chat of two people of one network, where it is not open yet. */
import type { Queryable } from '../../database/database.ts'
import { SERVICE_PERSON } from '../delivery/rows.ts'

export async function openPrivateChat(db: Queryable, person: number, other: number) {
  if (other <= 0) return
  await db.query(
    `with chat as (
       insert into sandbox_chat (kind, low_id, high_id, user_id)
       select 'private', least(me.id, other.id), greatest(me.id, other.id),
         coalesce(me.user_id, other.user_id)
       from sandbox_person me, sandbox_person other
       where me.id = $1 and other.id = $2
         and (me.user_id = other.user_id or ${SERVICE_PERSON} in (me.id, other.id))
       on conflict do nothing returning id, low_id, high_id
     )
     insert into sandbox_member (chat_id, person_id)
     select id, low_id from chat union select id, high_id from chat`,
    [person, other],
  )
}
