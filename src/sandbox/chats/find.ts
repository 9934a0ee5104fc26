/** Finding a chat by its public name or its id, as one person sees it. */

import type { Chat } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import type { World } from '../../platforms/sandbox/operations.ts'
import { type ChatCard, chatCard, type PersonCard, personCard } from '../delivery/cards.ts'
import { SERVICE_PERSON } from '../delivery/natives.ts'
import { chatOf, privateChatWith } from '../delivery/neutral.ts'
import { outside } from './standing.ts'

interface Found {
  readonly person: PersonCard | null
  readonly chat: ChatCard | null
  readonly members: number
}

const looking = (person: string, chat: string) => `
  select ${personCard('p')} as person, null::jsonb as chat, 2 as members
  from sandbox_person p where ${person}
  union all
  select null, ${chatCard('c')}, (select count(*)::int from sandbox_member n
    where n.chat_id = c.id and n.role not in ('left', 'kicked'))
  from sandbox_chat c where ${chat}`

export async function resolve(
  { db, network }: Pick<World, 'db' | 'network'>,
  name: string,
): Promise<Chat> {
  const condition = 'user_id = $2 and lower(username) = lower($1)'
  return found(await db.query<Found>(looking(condition, condition), [name, network]))
}

/** A group without a public name is there for its members alone. */
export async function describe(db: Queryable, viewer: number, native: number): Promise<Chat> {
  await assertNotOut(db, viewer, native)
  const mine = '(select user_id from sandbox_person where id = $2)'
  const visible = `(c.username is not null or exists (select from sandbox_member m
    where m.chat_id = c.id and m.person_id = $2 and m.role not in ('left', 'kicked')))`
  const text = looking(
    `p.id = $1 and (p.user_id = ${mine} or p.id = ${SERVICE_PERSON})`,
    `c.native = $1 and c.user_id = ${mine} and ${visible}`,
  )
  return found(await db.query<Found>(text, [native, viewer]))
}

/** Whoever was in a chat knows that it is there, and learns why it is no more for them. */
async function assertNotOut(db: Queryable, viewer: number, native: number): Promise<void> {
  const [former] = await db.query<{ kind: ChatCard['kind']; isOpen: boolean; isBanned: boolean }>(
    `select c.kind, c.username is not null as "isOpen",
       m.role = 'kicked' and coalesce(m.until > now(), true) as "isBanned"
     from sandbox_chat c join sandbox_member m on m.chat_id = c.id and m.person_id = $2
     where c.native = $1 and m.role in ('left', 'kicked')`,
    [native, viewer],
  )
  if (former?.isBanned) throw outside(former.kind, 'kicked')
  if (former && !former.isOpen) throw outside(former.kind, 'left')
}

function found([first]: readonly Found[]): Chat {
  if (first?.person) return privateChatWith(first.person)
  if (!first?.chat) throw failed('bad_request', 'chat not found')
  const members = first.chat.kind === 'channel' ? undefined : first.members
  return { ...chatOf(first.chat, null), ...(members !== undefined && { memberCount: members }) }
}
