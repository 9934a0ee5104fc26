/** The SQL statements that admit, number, store and queue messages, and what is known before they run. */

import type { Content } from '../../../machines/model/content.ts'
import type { Queryable, Statement } from '../../database/database.ts'
import {
  hasRight,
  keepsOut,
  lastInSlowMode,
  MAY_WRITE_WHEN_CLOSED,
  MEMBER_PERMISSIONS,
} from '../chats/access.ts'
import { queued, queuedOne, queueing, queueingOne, woken } from '../delivery/queue.ts'
import type { OutgoingMessage, Wake } from '../network/context.ts'
import {
  byKey,
  type MessageView,
  messageJson,
  personJson,
  privateChatJson,
  viewColumns,
  viewJoins,
} from '../network/rows.ts'

const given = `
  given as (
    select * from jsonb_to_recordset($1::jsonb) as draft (ord integer, sender bigint,
      session bigint, native bigint, request text, content jsonb, reply bigint,
      "replyOptional" boolean, forward jsonb, buttons jsonb, keyboard jsonb, album text,
      "isProtected" boolean, attributes jsonb, topic bigint, needs text)
  )`

const chatOf = `lateral (
      select id, kind, permissions, general_closed, slow_mode, last_message from sandbox_chat
      where native = given.native
      union all
      select id, kind, permissions, general_closed, slow_mode, last_message from sandbox_chat
      where low_id = least(given.sender, given.native)
        and high_id = greatest(given.sender, given.native)
      limit 1
    )`

const memberOf = byKey('sandbox_member', 'x.chat_id = c.id and x.person_id = given.sender')

const targetOf = byKey(
  'sandbox_message',
  'x.chat_id = c.id and x.id = given.reply and x.deleted_at is null',
)

const topicOf = byKey('sandbox_topic', 'x.chat_id = c.id and x.id = coalesce(given.topic, t.topic)')

/**
 * The attributes with what the writer is in a supergroup: their title or tag. Anonymous administrators are shown as the
 * group, and sign with their title.
 */
const marked = `case
  when c.kind <> 'supergroup' or given.attributes -> 'fromChat' is not null then given.attributes
  when m.is_anonymous then coalesce(given.attributes, '{}') || jsonb_strip_nulls(
    jsonb_build_object('isAnonymous', true, 'signature', m.title))
  when m.title is not null or m.tag is not null then coalesce(given.attributes, '{}')
    || jsonb_strip_nulls(jsonb_build_object('senderTag',
      case when m.role = 'member' then m.tag else m.title end))
  else given.attributes end`

/** In slow mode an ordinary member sends one message at a time, and waits before the next one. */
const isSlowEnough = `case when c.slow_mode > 0 and m.role = 'member' and given.needs is not null
  then given.album is null and (${lastInSlowMode('given.sender')}) is null
    and not exists (select from given earlier where earlier.ord < given.ord
      and earlier.sender = given.sender and earlier.native = given.native)
  else true end`

const mayWrite = `(m.role in ('owner', 'admin') or given.needs is null
        or coalesce(${MEMBER_PERMISSIONS}, array[given.needs]) @> array[given.needs]
          and coalesce(c.permissions, array[given.needs]) @> array[given.needs])`

/** Nobody keeps the writer out, and the message was not sent before. */
const isFree = `(select 1 from sandbox_block b
        where b.person_id = given.native and b.blocked_id = given.sender) is null
      and not ${keepsOut('given.native', 'given.sender')}
      and (select 1 from sandbox_message d
        where d.sender_id = given.sender and d.request_id = given.request) is null`

const ownStep = 'row_number() over (partition by c.id order by given.ord) as step'

/** A message that is not admitted is left out; `refusal.ts` finds the reason. */
const place = `
  place as (
    select given.*, c.id as chat_id, t.id as target, tp.id as thread, ${marked} as marked,
      ${ownStep}
    from given
    cross join ${chatOf} c
    cross join ${byKey('sandbox_person', 'x.id = given.sender')} me
    cross join ${memberOf} m
    left join ${byKey('sandbox_person', 'x.id = given.native')} other on true
    left join ${targetOf} t on true
    left join ${topicOf} tp on true
    where not me.deactivated and not me.banned and other.deactivated is not true
      and m.role in ('owner', 'admin', case when c.kind <> 'channel' then 'member' end)
      and (c.kind <> 'channel' or given.needs is null or ${hasRight('post_messages')})
      and (c.kind <> 'channel' or given.keyboard is null)
      and ${mayWrite}
      and (given.reply is null or given."replyOptional" or t.id is not null)
      and (given.topic is null or tp.id is not null)
      and ${isSlowEnough}
      and ((case when tp.id is null then c.general_closed else tp.is_closed end) is not true
        or given.needs is null or ${MAY_WRITE_WHEN_CLOSED})
      and ${isFree}
  )`

/** Looks each chat up by its key. The planner does not know the sizes: a plain join would compare all rows with all. */
const numbered = `
  held as (
    select c.id, n.count
    from (select chat_id, count(*) from place group by chat_id order by chat_id) n
    cross join lateral (
      select id from sandbox_chat x where x.id = n.chat_id for no key update
    ) c
  ),
  chat as (
    update sandbox_chat c set last_message = c.last_message + held.count
    from held where c.id = held.id
    returning c.id, c.last_message - held.count as base
  ),
  bases as (select jsonb_object_agg(id, base) as of from chat)`

const BASE = '((select of from bases) ->> place.chat_id::text)::bigint'

const messages = `
  message as (
    select place.ord, place.session, place.request, place.chat_id, ${BASE} + place.step as id,
      place.sender as sender_id, now() as at, null::timestamptz as edited_at, 1 as version,
      place.content, place.target as reply_to, place.forward, place.buttons, place.keyboard,
      place.album, place.marked as attributes,
      coalesce(place."isProtected", false) as is_protected,
      case when place.content @> '{"kind": "service", "fact": "topic_created"}'
        then ${BASE} + place.step else place.thread end as topic
    from place
  )`

/** Builds the rows before it inserts them: to match the rows that an insert returns costs more than all the rest. */
const stored = `
  inserted as (
    insert into sandbox_message
      (chat_id, id, sender_id, request_id, content, reply_to, forward, buttons, keyboard, album,
        is_protected, topic, attributes)
    select chat_id, id, sender_id, request, content, reply_to, forward, buttons, keyboard, album,
      is_protected, topic, attributes
    from message
  ),
  change as (
    select ord, chat_id, sender_id as actor_id, session as session_id from message
  )`

/** Built only for people with a device to notify: few messages of bots have one. */
const detail = `(select ${messageJson('message')} from message where message.ord = r.ord)`

const sendAny: Statement = {
  name: 'sandbox_send',
  text: `with ${[given, place, numbered, messages, stored, queueing('message', { detail })].join(',')}
    select message.ord, ${messageJson('message')} as message, ${viewColumns}, ${woken}
    from message ${viewJoins('message', 'message.sender_id')}`,
}

const givenPlain = `
  given as (
    select * from jsonb_to_recordset($1::jsonb) as draft (ord integer, sender bigint,
      session bigint, native bigint, request text, content jsonb, forward jsonb, buttons jsonb,
      album text, "isProtected" boolean, needs text)
  )`

const placePlain = (step: string) => `
  place as (
    select given.*, c.id as chat_id, ${personJson('me')} as sender_shown,
      ${privateChatJson('c')} as chat_shown, ${personJson('other')} as other_shown, ${step}
    from given
    cross join ${byKey(
      'sandbox_chat',
      'x.low_id = least(given.sender, given.native) and x.high_id = greatest(given.sender, given.native)',
    )} c
    cross join ${byKey('sandbox_person', 'x.id = given.sender')} me
    cross join ${memberOf} m
    cross join ${byKey('sandbox_person', 'x.id = given.native')} other
    where not me.deactivated and not me.banned and not other.deactivated
      and m.role in ('owner', 'admin', 'member') and ${mayWrite} and ${isFree}
  )`

const messagePlain = (id: string, from: string) => `
  message as (
    select place.ord, place.session, place.request, place.chat_id, ${id} as id,
      place.sender as sender_id, now() as at, null::timestamptz as edited_at, 1 as version,
      place.content, null::bigint as reply_to, place.forward, place.buttons,
      null::jsonb as keyboard, place.album, null::jsonb as attributes,
      coalesce(place."isProtected", false) as is_protected, null::bigint as topic,
      place.sender_shown, place.chat_shown, place.other_shown
    from ${from}
  )`

const shownPlain = (queued: string) => `
    select ord, ${messageJson('message')} as message, sender_shown as sender, chat_shown as chat,
      other_shown as other, null as reply, null as reply_sender, ${queued}
    from message`

const sendPlain: Statement = {
  name: 'sandbox_send_plain',
  text: `with ${[
    givenPlain,
    placePlain(ownStep),
    numbered,
    messagePlain(`${BASE} + place.step`, 'place'),
    stored,
    queueing('message', { detail }),
  ].join(',')} ${shownPlain(queued)}`,
}

/** One message needs no counts, and no order in which chats are locked. */
const sendOnePlain: Statement = {
  name: 'sandbox_send_one_plain',
  text: `with ${[
    givenPlain,
    placePlain('1 as step'),
    `chat as (
      update sandbox_chat c set last_message = c.last_message + 1
      from place where c.id = place.chat_id returning c.last_message
    )`,
    messagePlain('chat.last_message', 'place cross join chat'),
    stored,
    queueingOne('message', `(select ${messageJson('message')} from message)`),
  ].join(',')} ${shownPlain(queuedOne)}`,
}

/** To a person, and without what few messages have. */
const isPlain = ({ native, reply, topic, keyboard, attributes }: OutgoingMessage): boolean =>
  native > 0 && (reply ?? topic ?? keyboard ?? attributes) === undefined

/**
 * The statement that sends these. Most of the time of a statement goes into its beginning, which grows with its parts: what
 * plain messages do not need is left out.
 */
export function sendStatement(messages: readonly OutgoingMessage[]): Statement {
  if (!messages.every(isPlain)) return sendAny
  return messages.length === 1 ? sendOnePlain : sendPlain
}

export type SentRow = MessageView & {
  readonly ord: number
  /** People with messages in their queues; in one row of plain messages their places there, too. */
  readonly woken?: readonly number[]
  readonly queued?: readonly (readonly [ord: number, person: number, seq: number])[] | null
}

/** The people to wake, and plain messages as each of them sees them. */
export function wokenBy(
  messages: readonly OutgoingMessage[],
  rows: readonly SentRow[],
): Parameters<Wake> {
  const queued = rows.flatMap((row) => row.queued ?? [])
  const people = rows[0]?.woken ?? [...new Set(queued.map(([, person]) => person))]
  if (!rows.every(isShownAlike)) return [people]
  const sent = new Map(rows.map((row) => [row.ord, row]))
  const handed = queued.map(([ord, person, seq]) => {
    const view = sent.get(ord)!
    const other = person === view.message.sender_id ? view.other : view.sender
    return { ...view, other, person, seq, session: messages[ord]?.session ?? null }
  })
  return [people, handed]
}

/** Each reader is shown paid media in another way, and a service message with the message that it is about. */
const isShownAlike = ({ message: { content } }: MessageView) => {
  const { kind } = content as Content
  return kind !== 'paid_media' && kind !== 'service'
}

/** Finds the message that an earlier, equal request has sent. */
export async function sentBefore(
  db: Queryable,
  { sender, request }: Pick<OutgoingMessage, 'sender' | 'request'>,
): Promise<MessageView | undefined> {
  const [view] = await db.query<MessageView>(
    `select ${messageJson('m')} as message, ${viewColumns}
     from sandbox_message m ${viewJoins('m', 'm.sender_id')}
     where m.sender_id = $1 and m.request_id = $2`,
    [sender, request],
  )
  return view
}

const UNIQUE_VIOLATION = '23505'
/** A deleted chat gives its message no number. */
const NOT_NULL_VIOLATION = '23502'

/** A person was deleted while their chat was opened. */
const FOREIGN_KEY_VIOLATION = '23503'

const ofOneMessage: readonly unknown[] = [
  UNIQUE_VIOLATION,
  NOT_NULL_VIOLATION,
  FOREIGN_KEY_VIOLATION,
]

export const isOfOneMessage = (cause: unknown) =>
  cause instanceof Error && 'code' in cause && ofOneMessage.includes(cause.code)
