/** Signs of writing: typing for some seconds, and drafts until the message is there. */

import type { Chat } from '../../../machines/model/content.ts'
import { failed, notFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Text } from '../../../machines/model/text.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf } from '../chats/access.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { chatOf, parseChatId, parseTopicId } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import {
  type ChatRow,
  chatCondition,
  chatJson,
  type PersonRow,
  personJson,
} from '../network/rows.ts'
import { checkedDraft } from './content.ts'
import { refusalOf } from './refusal.ts'

/** A draft, after its last word. */
const SHOWN_FOR_MS = 30_000

export interface ShownDraft {
  readonly chat: Chat
  readonly person: PersonRow
  readonly draft: number
  readonly text: Text
  readonly can_stop: boolean
}

/** The message of the draft is there. */
const isOver = `exists (
  select from sandbox_message m
  where m.chat_id = d.chat_id and m.id > d.after and m.sender_id = d.person_id)`

const SHOWN = ['text', 'after', 'until', 'can_stop', 'keep_on_stop']

/** Later text of a stopped draft is ignored until a message is written or the draft's time is over. */
const isStopped = `(d.is_stopped and d.until > $5::timestamptz and d.after = excluded.after)`

const unlessStopped = (column: string) =>
  `${column} = case when ${isStopped} then d.${column} else excluded.${column} end`

const showing = {
  name: 'sandbox_draft',
  text: `with over as (
      delete from sandbox_draft where person_id = $1 and draft <> $3 and until < $5::timestamptz
    )
    insert into sandbox_draft as d (chat_id, person_id, draft, text, after, until, can_stop, keep_on_stop)
    select c.id, $1, $3, $4, c.last_message, $6::timestamptz, $7::boolean, $8::boolean
    from sandbox_chat c
    join sandbox_person me on me.id = $1 and not me.deactivated and not me.banned
    join sandbox_person other on other.id = $2 and not other.deactivated
    where c.low_id = least($1::bigint, $2::bigint) and c.high_id = greatest($1::bigint, $2::bigint)
      and not exists (select from sandbox_block where person_id = $2 and blocked_id = $1)
    on conflict (chat_id, person_id, draft) do update
      set ${SHOWN.map(unlessStopped).join(', ')}, is_stopped = ${isStopped}
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
  const { draft, stop } = operation
  const ways = [stop !== undefined, stop?.keeps ?? false]
  const values = [person, native, draft, JSON.stringify(text), ...times, ...ways]
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
    readonly can_stop: boolean
  }>(
    `select ${personJson('s')} as person, ${chatJson('c')} as chat, d.draft, d.text,
       d.can_stop and not d.is_stopped as can_stop
     from sandbox_draft d
     join sandbox_chat c on c.id = d.chat_id and $1 in (c.low_id, c.high_id)
     join sandbox_person s on s.id = d.person_id
     where d.person_id <> $1 and d.until > $2 and (d.keep_on_stop or not d.is_stopped)
       and not ${isOver}
     order by d.chat_id, d.draft`,
    [person, new Date(now)],
  )
  return rows.map(({ chat, ...row }) => ({ ...row, chat: chatOf(chat, row.person) }))
}

const stopping = `
  update sandbox_draft d set is_stopped = true
  from sandbox_chat c
  where c.id = d.chat_id and d.person_id = $2 and d.draft = $3
    and c.low_id = least($1::bigint, $2::bigint) and c.high_id = greatest($1::bigint, $2::bigint)
    and $1::bigint <> $2::bigint and d.can_stop and not d.is_stopped and d.until > $4
    and not ${isOver}
  returning d.chat_id as chat`

/** Stops a draft that `writer` shows to this person, who presses its button once. The writer is notified. */
export async function stopDraft(
  { db, wake, now }: Pick<NetworkContext, 'db' | 'wake' | 'now'>,
  person: number,
  writer: number,
  draft: number,
): Promise<void> {
  const woken: number[] = []
  const later = (people: readonly number[]) => woken.push(...people)
  await db.transaction(async (tx) => {
    const values = [person, writer, draft, new Date(now())]
    const [stopped] = await tx.query<{ readonly chat: number }>(stopping, values)
    if (!stopped) throw failed('bad_request', 'there is no draft to stop')
    const event = { kind: 'draft_stopped', ...stopped, actor: person, facts: { draft } } as const
    await notify({ db: tx, wake: later }, event, { people: [writer] })
  })
  wake(woken)
}

const TYPING_SECONDS = 6

const typing = {
  name: 'sandbox_type',
  text: `insert into sandbox_typing (chat_id, person_id, action, topic, until)
    select c.id, $1, $3, $4::bigint,
      now() + make_interval(secs => case $3 when 'cancel' then 0 else ${TYPING_SECONDS} end)
    from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $1
      and m.role not in ('left', 'kicked')
    where ${chatCondition('$1', '$2')} and ($4::bigint is null
      or exists (select from sandbox_topic t where t.chat_id = c.id and t.id = $4::bigint))
    on conflict (chat_id, person_id) do update
      set action = excluded.action, topic = excluded.topic, until = excluded.until
    returning chat_id`,
}

/** It is not queued for devices. */
export async function showTyping(
  { context: { db, wake }, by: { person } }: Call,
  { chat: native, action, topic }: OperationOf<'act'>,
): Promise<OperationResult> {
  const chat = parseChatId(native)
  const thread = topic === undefined ? null : parseTopicId(topic)
  const show = async () => (await db.query(typing, [person, chat, action, thread])).length > 0
  if (!(await show())) {
    await openPrivateChat(db, person, chat)
    if (!(await show())) {
      if (thread !== null) await accessOf(db, person, chat)
      throw thread === null ? notFound('chat') : notFound('message thread')
    }
  }
  wake([])
  return { kind: 'done' }
}
