/** Opens the private chats of two people of one network each, where they are not open yet. */
import type { Queryable } from '../../database/database.ts'
import { byKey, SERVICE_PERSON } from '../network/rows.ts'

interface Pair {
  readonly person: number
  /** A person, or another chat: nothing is opened for that one. */
  readonly other: number
}

/** In the order of the pairs: two statements that open the same chats wait for each other, and cannot lock each other out. */
const opening = {
  name: 'sandbox_open_chats',
  text: `with pair as (
       select distinct least(p.one, p.two) as low, greatest(p.one, p.two) as high
       from unnest($1::bigint[], $2::bigint[]) as p (one, two)
     ), chat as (
       insert into sandbox_chat (kind, low_id, high_id, user_id)
       select 'private', pair.low, pair.high, coalesce(me.user_id, other.user_id)
       from pair
       cross join ${byKey('sandbox_person', 'x.id = pair.low')} me
       cross join ${byKey('sandbox_person', 'x.id = pair.high')} other
       where (me.user_id = other.user_id or ${SERVICE_PERSON} in (me.id, other.id))
         and (select 1 from sandbox_chat c
           where c.low_id = pair.low and c.high_id = pair.high limit 1) is null
       order by pair.low, pair.high
       on conflict do nothing returning id, low_id, high_id
     )
     insert into sandbox_member (chat_id, person_id)
     select id, low_id from chat union select id, high_id from chat`,
}

export async function openPrivateChat(db: Queryable, person: number, other: number) {
  await openPrivateChats(db, [{ person, other }])
}

export async function openPrivateChats(db: Queryable, pairs: readonly Pair[]): Promise<void> {
  const people = pairs.filter(({ other }) => other > 0)
  if (people.length === 0) return
  await db.query(opening, [people.map(({ person }) => person), people.map(({ other }) => other)])
}
