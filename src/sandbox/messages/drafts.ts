/** Drafts: texts that the reader sees while they are written, for half a minute or until the message is sent. */

import type { Chat } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Text } from '../../../machines/model/text.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf } from '../chats/access.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { chatOf, parseChatId } from '../delivery/mapping.ts'
import { type ChatRow, chatJson, type PersonRow, personJson } from '../delivery/rows.ts'
import type { Call } from '../network/context.ts'
import { checkedDraft } from './content.ts'
import { refusalOf } from './refusal.ts'

const SHOWN_FOR_MS = 30_000

export interface ShownDraft {
  readonly chat: Chat
  readonly person: PersonRow
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

/** Only in a private chat. A draft is not queued for devices. */
export async function showDraft(
  { context: { db, wake, now }, by: { person } }: Call,
  operation: OperationOf<'draft'>,
): Promise<OperationResult> {
  const native = parseChatId(operation.chat)
  const text = checkedDraft(operation.text)
  if (native < 0) {
    await accessOf(db, person, native)
    throw failed('bad_request', 'method is available only for private chats')
  }
  const times = [now(), now() + SHOWN_FOR_MS].map((time) => new Date(time))
  const values = [person, native, operation.draft, JSON.stringify(text), ...times]
  const show = async () => (await db.query(showing, values)).length > 0
  if (!(await show())) {
    await openPrivateChat(db, person, native)
    const content = { kind: 'text' as const, ...text }
    const unsent = { sender: person, native, request: '', content }
    if (!(await show())) throw await refusalOf(db, [unsent])
  }
  wake([])
  return { kind: 'done' }
}

/** The drafts that other people show to this person. */
export async function draftsFor(db: Queryable, person: number, now: number): Promise<ShownDraft[]> {
  const rows = await db.query<{
    readonly person: PersonRow
    readonly chat: ChatRow
    readonly draft: number
    readonly text: Text
  }>(
    `select ${personJson('s')} as person, ${chatJson('c')} as chat, d.draft, d.text
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
