/** Lists the chats of a person, shows their history, and remembers how far they are read. */
import { failed, messageNotFound, notFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { ListedChat, PastMessage } from '../../../machines/model/operation-reading.ts'
import type { Queryable } from '../../database/database.ts'
import { withoutSolution } from '../delivery/event-page.ts'
import { chatOf, messageOf, parseChatId, parseMessageId, personOf } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import { openPaid } from '../delivery/paid-media.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import {
  aboutColumns,
  aboutJoins,
  byKey,
  type ChatRow,
  chatJson,
  type MessageView,
  messageJson,
  type PersonRow,
  personJson,
  viewColumns,
  viewJoins,
} from '../network/rows.ts'
import { accessOf, assertDirectTopic, readAccessOf } from './access.ts'
import { type ChatTransaction, lockChat } from './transaction.ts'

/** Unread messages of one chat are counted up to this number. */
const MOST_UNREAD = 1000

interface ChatLine {
  /** The position of the chat in the list: the time of its newest message in microseconds, and the id of its row. */
  readonly place: string
  readonly chat: ChatRow
  readonly other: PersonRow | null
  /** The id of its newest message. */
  readonly last: number | null
  readonly unread: number
}

const listing = `
  with mine as (
    select c.*, m.read_up_to, t.id as last,
      (extract(epoch from coalesce(t.at, c.created_at)) * 1000000)::bigint as moved_at
    from sandbox_member m
    join sandbox_chat c on c.id = m.chat_id
    left join lateral (
      select x.id, x.at from sandbox_message x
      where x.chat_id = c.id and x.deleted_at is null order by x.id desc limit 1
    ) t on true
    where m.person_id = $1 and m.role not in ('left', 'kicked')
  )
  select c.moved_at || ':' || c.id as place, ${chatJson('c')} as chat, ${personJson('o')} as other,
    c.last, (
      select count(*)::int from (
        select from sandbox_message x
        where x.chat_id = c.id and x.id > c.read_up_to and x.sender_id <> $1
          and x.deleted_at is null limit ${MOST_UNREAD}) counted
    ) as unread
  from mine c
  left join ${byKey(
    'sandbox_person',
    'x.id = case when c.low_id = $1 then c.high_id else c.low_id end',
  )} o on true
  where $2::bigint is null or (c.moved_at, c.id) < ($2::bigint, $3::bigint)
  order by c.moved_at desc, c.id desc limit $4`

export async function listChats(
  { context: { db }, by: { person } }: Call,
  { limit, after }: OperationOf<'list_chats'>,
): Promise<OperationResult> {
  const lines = await db.query<ChatLine>(listing, [person, ...placeOf(after), limit + 1])
  const page = lines.slice(0, limit)
  const newest = await db.query<MessageView>(showing(NEWEST), [
    person,
    page.map(({ chat }) => chat.id),
    page.map(({ last }) => last ?? 0),
  ])
  const past = await pastFor(db, person, newest)
  const last = new Map(newest.map((view, place) => [view.chat.id, past[place]]))
  const chats = page.map(({ chat, other, unread }): ListedChat => {
    const message = last.get(chat.id)
    return { chat: chatOf(chat, other), unread, ...(message && { last: message }) }
  })
  const next = lines.length > limit ? page.at(-1)?.place : undefined
  return { kind: 'chats', chats, ...(next !== undefined && { next }) }
}

function placeOf(after: string | undefined): readonly (string | null)[] {
  if (after === undefined) return [null, null]
  const [, at, chat] = /^(\d{1,18}):(\d{1,18})$/.exec(after) ?? []
  if (at === undefined || chat === undefined) throw failed('bad_request', 'OFFSET_INVALID')
  return [at, chat]
}

const showing = (messages: string) => `
  select ${messageJson('m')} as message, ${viewColumns}, ${aboutColumns}
  from (${messages}) m ${viewJoins('m', '$1')} ${aboutJoins('m.chat_id', 'm.content')}
  order by m.id desc`

const NEWEST = `
  select x.* from sandbox_message x
  join unnest($2::bigint[], $3::bigint[]) as wanted (chat_id, id)
    on x.chat_id = wanted.chat_id and x.id = wanted.id`

const PAST = `
  select * from sandbox_message
  where chat_id = $2 and deleted_at is null and ($3::bigint is null or id < $3)
  order by id desc limit $4`

/** A chat with a public name can be read without being in it. */
export async function readHistory(
  { context: { db }, by: { person } }: Call,
  { chat, message, directTopic, limit }: OperationOf<'read_history'>,
): Promise<OperationResult> {
  const access = await readAccessOf(db, person, parseChatId(chat))
  assertDirectTopic(access.chat, directTopic)
  const before = message === undefined ? null : parseMessageId(message, 'go back from')
  const views = await db.query<MessageView>(showing(PAST), [
    ...[person, access.chat.id, before, limit],
  ])
  return { kind: 'history', messages: await pastFor(db, person, views) }
}

/** The channel in a person's profile is public: everyone who sees the profile may read it. */
export async function personalMessages(
  { context: { db, network }, by }: Call,
  { person, limit }: OperationOf<'personal_messages'>,
): Promise<OperationResult> {
  const [found] = await db.query<{ readonly chat: number | null }>(
    'select personal_chat_id as chat from sandbox_person where id = $1 and user_id = $2',
    [parseChatId(person), network],
  )
  if (!found) throw notFound('user')
  if (found.chat === null) return { kind: 'history', messages: [] }
  const newest = [by.person, found.chat, null, limit]
  const views = await db.query<MessageView>(showing(PAST), newest)
  return { kind: 'history', messages: await pastFor(db, by.person, views) }
}

/** Shows a channel with a public name in the person's profile; null: none. */
export async function setPersonalChat(
  { db, network }: NetworkContext,
  person: number,
  chat: number | null,
): Promise<void> {
  const changed = await db.query(
    `update sandbox_person p set personal_chat_id = c.id
     from (values (1)) as one left join sandbox_chat c on c.native = $2 and c.user_id = $3
       and c.kind = 'channel' and c.username is not null
       and exists (select from sandbox_member m
         where m.chat_id = c.id and m.person_id = $1 and m.role in ('owner', 'admin'))
     where p.id = $1 and ($2::bigint is null or c.id is not null) returning p.id`,
    [person, chat, network],
  )
  if (changed.length === 0) throw failed('bad_request', 'PERSONAL_CHANNEL_INVALID')
}

async function pastFor(
  db: Queryable,
  person: number,
  views: readonly MessageView[],
): Promise<PastMessage[]> {
  const messages = await openPaid(db, person, views.map(messageOf))
  return messages.map((message, place) => {
    const isOwn = views[place]!.message.sender_id === person
    return { message: withoutSolution(message, isOwn ? 'own' : 'incoming'), isOwn }
  })
}

/** A read mark never moves back. The authors of the newly read messages are notified, except in channels. */
export async function markRead(
  call: Call,
  { chat, message, directTopic }: OperationOf<'mark_read'>,
): Promise<OperationResult> {
  const { context, by } = call
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  assertDirectTopic(access.chat, directTopic)
  const { id, kind } = access.chat
  const upTo = message === undefined ? null : parseMessageId(message, 'read')
  await lockChat(context, { chat: id, person: by.person }, async (tx) => {
    const mark = await moveMark(tx, 'read_up_to', [id, by.person, upTo])
    if (!mark) throw messageNotFound('message to read')
    // A message that is read has reached a device.
    if (kind === 'private') await deliver(tx, call, id, mark.after)
    if (mark.after <= mark.before || kind === 'channel') return
    const read = [id, by.person, mark.before, mark.after]
    await confirm(
      tx,
      call,
      { chat: id, state: 'read' },
      await tx.db.query<Confirmed>(newlyRead, read),
    )
  })
  return { kind: 'done' }
}

/** The messages of a private chat, up to one of them or all, reach a device of this person. Their writer is notified. */
export async function markDelivered(
  call: Call,
  { chat, message }: Omit<OperationOf<'mark_read'>, 'kind'>,
): Promise<void> {
  const { context, by } = call
  const { id, kind } = (await accessOf(context.db, by.person, parseChatId(chat))).chat
  if (kind !== 'private') throw failed('bad_request', 'only private chats tell what is delivered')
  const upTo = message === undefined ? null : parseMessageId(message, 'deliver')
  await lockChat(context, { chat: id, person: by.person }, (tx) => deliver(tx, call, id, upTo))
}

async function deliver(tx: Confirming, call: Call, chat: number, upTo: number | null) {
  const person = call.by.person
  const mark = await moveMark(tx, 'delivered_up_to', [chat, person, upTo])
  if (!mark) throw messageNotFound('message to deliver')
  if (mark.after <= mark.before) return
  const reached = [chat, person, mark.before, mark.after]
  const messages = await tx.db.query<Confirmed>(newlyDelivered, reached)
  await confirm(tx, call, { chat, state: 'delivered' }, messages)
}

type Confirming = Pick<ChatTransaction, 'db' | 'wake'>

/** Undefined where the message is none of the chat, or the person no member. */
async function moveMark(
  { db }: Confirming,
  column: 'read_up_to' | 'delivered_up_to',
  values: readonly (number | null)[],
): Promise<{ readonly before: number; readonly after: number } | undefined> {
  const marking = `
    update sandbox_member m
    set ${column} = greatest(m.${column}, coalesce($3::bigint, c.last_message))
    from sandbox_chat c, sandbox_member old
    where c.id = $1 and m.chat_id = c.id and m.person_id = $2
      and old.chat_id = m.chat_id and old.person_id = m.person_id
      and ($3::bigint is null or exists (
        select from sandbox_message x where x.chat_id = c.id and x.id = $3))
    returning old.${column} as before, m.${column} as after`
  const [mark] = await db.query<{ before: number; after: number }>(marking, [...values])
  return mark
}

interface Confirmed {
  readonly writer: number
  readonly target: number
}

async function confirm(
  tx: Confirming,
  { by }: Call,
  { chat, state }: { readonly chat: number; readonly state: 'read' | 'delivered' },
  messages: readonly Confirmed[],
): Promise<void> {
  if (messages.length === 0) return
  const [reader] = await tx.db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p where p.id = $1`,
    [by.person],
  )
  const person = personOf(reader!.person)
  for (const { writer, target } of messages) {
    const facts = { state, target: `${target}`, person }
    const event = { kind: 'receipt' as const, chat, actor: by.person, facts }
    await notify(tx, event, { people: [writer] })
  }
}

/** The newest message of each writer among those read. */
const newlyRead = `
  select x.sender_id as writer, max(x.id) as target
  from sandbox_message x join sandbox_person p on p.id = x.sender_id and p.sessions > 0
  where x.chat_id = $1 and x.sender_id <> $2 and x.deleted_at is null
    and x.id > greatest($3::bigint, $4::bigint - ${MOST_UNREAD}) and x.id <= $4
  group by x.sender_id order by x.sender_id`

/** Messages that are confirmed one by one at once: the newest so many. */
const MOST_DELIVERED = 100

const newlyDelivered = `
  select x.sender_id as writer, x.id as target
  from sandbox_message x join sandbox_person p on p.id = x.sender_id and p.sessions > 0
  where x.chat_id = $1 and x.sender_id <> $2 and x.deleted_at is null
    and x.id > greatest($3::bigint, $4::bigint - ${MOST_DELIVERED}) and x.id <= $4
  order by x.id`
