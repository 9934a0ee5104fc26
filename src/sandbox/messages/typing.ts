/** Who is typing where: shown for a few seconds, told to nobody's queue. */
import { failed } from '../../../machines/model/failure.ts'
import type { Operation } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { standingOf } from '../chats/standing.ts'
import { chatCondition, chatNative, topicNative } from '../delivery/natives.ts'

const SHOWN_SECONDS = 6

const showing = {
  name: 'sandbox_type',
  text: `insert into sandbox_typing (chat_id, person_id, action, topic, until)
    select c.id, $1, $3, $4::bigint, now() + make_interval(secs => ${SHOWN_SECONDS})
    from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $1
      and m.role not in ('left', 'kicked')
    where ${chatCondition('$1', '$2')} and ($4::bigint is null
      or exists (select from sandbox_topic t where t.chat_id = c.id and t.id = $4::bigint))
    on conflict (chat_id, person_id) do update
      set action = excluded.action, topic = excluded.topic, until = excluded.until
    returning chat_id`,
}

export async function showTyping(
  db: Queryable,
  person: number,
  { chat: native, action, topic }: Extract<Operation, { readonly kind: 'act' }>,
): Promise<void> {
  const chat = chatNative(native)
  const thread = topic === undefined ? null : topicNative(topic)
  const show = () => db.query(showing, [person, chat, action, thread])
  if ((await show()).length > 0) return
  await openPrivateChat(db, person, chat)
  if ((await show()).length > 0) return
  if (thread !== null) await standingOf(db, person, chat)
  throw failed('bad_request', thread === null ? 'chat not found' : 'message thread not found')
}
