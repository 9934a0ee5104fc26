/** The chat of two people, opened by the first that passes between them. */
import type { Queryable } from '../../database/database.ts'

export async function openPrivateChat(db: Queryable, person: number, other: number) {
  if (other <= 0) return
  await db.query(
    `with chat as (
       insert into sandbox_chat (kind, low_id, high_id)
       select 'private', least($1::bigint, $2::bigint), greatest($1::bigint, $2::bigint)
       where exists (select from sandbox_person where id = $1)
         and exists (select from sandbox_person where id = $2)
       on conflict do nothing returning id, low_id, high_id
     )
     insert into sandbox_member (chat_id, person_id)
     select id, low_id from chat union select id, high_id from chat`,
    [person, other],
  )
}
