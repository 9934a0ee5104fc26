/** The one statement that sends: admits, numbers, stores and queues any number of messages. */
import { messageCard, viewColumns, viewJoins } from './cards.ts'
import { queueing, woken } from './queue.ts'

const given = `
  given as (
    select * from jsonb_to_recordset($1::jsonb) as draft (ord integer, sender bigint,
      session bigint, native bigint, request text, content jsonb, reply bigint,
      "replyOptional" boolean, forward jsonb, buttons jsonb)
  ),
  found as (
    select given.ord, c.id from given join sandbox_chat c on c.native = given.native
    union all
    select given.ord, c.id from given join sandbox_chat c
      on c.low_id = least(given.sender, given.native)
      and c.high_id = greatest(given.sender, given.native)
  )`

/** Whoever is not admitted here learns the reason from another statement: the good case stays cheap. */
const place = `
  place as (
    select given.*, c.id as chat_id,
      row_number() over (partition by c.id order by given.ord) as step
    from given
    join found on found.ord = given.ord
    join sandbox_chat c on c.id = found.id
    join sandbox_person me on me.id = given.sender and not me.deactivated and not me.banned
    join sandbox_member m on m.chat_id = c.id and m.person_id = given.sender
      and m.role in ('owner', 'admin', case when c.kind <> 'channel' then 'member' end)
    left join sandbox_person other on other.id = given.native
    where other.deactivated is not true
      and not exists (select from sandbox_block b
        where b.person_id = given.native and b.blocked_id = given.sender)
      and not exists (select from sandbox_message d
        where d.sender_id = given.sender and d.request_id = given.request)
      and (given.reply is null or given."replyOptional" or exists (select from sandbox_message t
        where t.chat_id = c.id and t.id = given.reply and t.deleted_at is null))
  )`

const numbered = `
  held as (
    select id from sandbox_chat where id in (select chat_id from place)
    order by id for no key update
  ),
  chat as (
    update sandbox_chat c set last_message = c.last_message + n.count
    from (select chat_id, count(*) from place group by chat_id) n join held on held.id = n.chat_id
    where c.id = n.chat_id
    returning c.id, c.last_message - n.count as base
  )`

const stored = `
  message as (
    insert into sandbox_message
      (chat_id, id, sender_id, request_id, content, reply_to, forward, buttons)
    select place.chat_id, chat.base + place.step, place.sender, place.request, place.content,
      (select t.id from sandbox_message t
        where t.chat_id = place.chat_id and t.id = place.reply and t.deleted_at is null),
      place.forward, place.buttons
    from place join chat on chat.id = place.chat_id
    returning *
  ),
  change as (
    select place.ord, message.chat_id, message.sender_id as actor_id, place.session as session_id,
      ${messageCard('message')} as detail
    from message
    join place on place.sender = message.sender_id and place.request = message.request_id
  )`

export const sending = {
  name: 'sandbox_send',
  text: `with ${[given, place, numbered, stored, queueing('message')].join(',')}
    select place.ord, ${messageCard('message')} as message, ${viewColumns}, ${woken}
    from message
    join place on place.sender = message.sender_id and place.request = message.request_id
    ${viewJoins('message', 'message.sender_id')}`,
}
