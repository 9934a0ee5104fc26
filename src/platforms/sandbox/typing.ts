/** Who is typing where: shown for a few seconds, told to nobody's queue. */
import { failed } from '../../../actors/errors.ts'
import type { Queryable } from '../../database/database.ts'
import { chatCondition } from './natives.ts'
import { openPrivateChat } from './private-chat.ts'

const SHOWN_SECONDS = 6

const showing = {
  name: 'sandbox_type',
  text: `insert into sandbox_typing (chat_id, person_id, action, until)
    select c.id, $1, $3, now() + make_interval(secs => ${SHOWN_SECONDS})
    from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $1
      and m.role not in ('left', 'kicked')
    where ${chatCondition('$1', '$2')}
    on conflict (chat_id, person_id) do update
      set action = excluded.action, until = excluded.until
    returning chat_id`,
}

export async function showTyping(db: Queryable, person: number, chat: number, action: string) {
  const show = () => db.query(showing, [person, chat, action])
  if ((await show()).length > 0) return
  await openPrivateChat(db, person, chat)
  if ((await show()).length === 0) throw failed('bad_request', 'chat not found')
}
