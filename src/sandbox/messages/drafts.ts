/** Texts that are seen while they are being written: for a short time, until the message itself is there. */

import type { Chat, Text } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Operation } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import type { World } from '../../platforms/sandbox/operations.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { standingOf } from '../chats/standing.ts'
import { type ChatCard, chatCard, type PersonCard, personCard } from '../delivery/cards.ts'
import { chatNative } from '../delivery/natives.ts'
import { chatOf } from '../delivery/neutral.ts'
import { checkedDraft } from './draft.ts'
import { refusalOf } from './send.ts'

const SHOWN_FOR = 30_000

export interface ShownDraft {
  readonly chat: Chat
  readonly person: PersonCard
  readonly draft: number
  readonly text: Text
}

const showing = {
  name: 'sandbox_draft',
  text: `with over as (
      delete from sandbox_draft where person_id = $1 and draft <> $3 and until < $5::timestamptz
    )
    insert into sandbox_draft as d (chat_id, person_id, draft, text, after, until)
    select c.id, $1, $3, $4, c.last_message, $6::timestamptz
    from sandbox_chat c
    join sandbox_person me on me.id = $1 and not me.deactivated and not me.banned
    join sandbox_person other on other.id = $2 and not other.deactivated
    where c.low_id = least($1::bigint, $2::bigint) and c.high_id = greatest($1::bigint, $2::bigint)
      and not exists (select from sandbox_block where person_id = $2 and blocked_id = $1)
    on conflict (chat_id, person_id, draft) do update
      set text = excluded.text, after = excluded.after, until = excluded.until
    returning draft`,
}

/** Between two people only; nothing of it is queued for anybody's devices. */
export async function showDraft(
  { db, now }: Pick<World, 'db' | 'now'>,
  person: number,
  operation: Extract<Operation, { readonly kind: 'draft' }>,
): Promise<void> {
  const native = chatNative(operation.chat)
  const text = checkedDraft(operation.text)
  if (native < 0) {
    await standingOf(db, person, native)
    throw failed('bad_request', 'method is available only for private chats')
  }
  const times = [now(), now() + SHOWN_FOR].map((time) => new Date(time))
  const values = [person, native, operation.draft, JSON.stringify(text), ...times]
  const show = () => db.query(showing, values)
  if ((await show()).length > 0) return
  await openPrivateChat(db, person, native)
  if ((await show()).length > 0) return
  const content = { kind: 'text' as const, ...text }
  throw await refusalOf(db, [{ sender: person, native, request: '', content }])
}

/** What others are writing to this person. */
export async function draftsFor(db: Queryable, person: number, now: number): Promise<ShownDraft[]> {
  const rows = await db.query<{
    readonly person: PersonCard
    readonly chat: ChatCard
    readonly draft: number
    readonly text: Text
  }>(
    `select ${personCard('s')} as person, ${chatCard('c')} as chat, d.draft, d.text
     from sandbox_draft d
     join sandbox_chat c on c.id = d.chat_id and $1 in (c.low_id, c.high_id)
     join sandbox_person s on s.id = d.person_id
     where d.person_id <> $1 and d.until > $2 and not exists (
       select from sandbox_message m
       where m.chat_id = d.chat_id and m.id > d.after and m.sender_id = d.person_id)
     order by d.chat_id, d.draft`,
    [person, new Date(now)],
  )
  return rows.map(({ chat, ...row }) => ({ ...row, chat: chatOf(chat, row.person) }))
}
