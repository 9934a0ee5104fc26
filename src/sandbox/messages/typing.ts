/** Shows for a few seconds that a person is typing. It is not queued for devices. */

import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { accessOf } from '../chats/access.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { parseChatId, parseTopicId } from '../delivery/mapping.ts'
import { chatCondition } from '../delivery/rows.ts'
import type { Call } from '../network/context.ts'

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
  { context: { db, wake }, by: { person } }: Call,
  { chat: native, action, topic }: OperationOf<'act'>,
): Promise<OperationResult> {
  const chat = parseChatId(native)
  const thread = topic === undefined ? null : parseTopicId(topic)
  const show = async () => (await db.query(showing, [person, chat, action, thread])).length > 0
  if (!(await show())) {
    await openPrivateChat(db, person, chat)
    if (!(await show())) {
      if (thread !== null) await accessOf(db, person, chat)
      throw thread === null
        ? failed('bad_request', 'chat not found', { reason: 'chat_not_found' })
        : failed('bad_request', 'message thread not found')
    }
  }
  wake([])
  return { kind: 'done' }
}
