/** One message as somebody in its chat has it. */
import type { Buttons, Content } from '../../../machines/model/content.ts'
import type { Queryable } from '../../database/database.ts'
import { chatCondition } from '../delivery/natives.ts'
import type { Place } from '../messages/revise.ts'

export interface Target {
  /** The chat's own number. */
  readonly chat: number
  readonly kind: 'private' | 'group' | 'supergroup' | 'channel'
  readonly id: number
  readonly sender: number
  readonly request: string
  readonly at: Date
  readonly version: number
  readonly content: Content
  readonly buttons: Buttons | null
  readonly album: string | null
  readonly isForwarded: boolean
  readonly hasKeyboard: boolean
}

/** Nothing when the chat or the message is not there for them. */
export async function lookAt(
  db: Queryable,
  person: number,
  { chat, message }: Place,
): Promise<Target | undefined> {
  const [found] = await db.query<Target>(looking, [person, chat, message])
  return found
}

const looking = {
  name: 'sandbox_look',
  text: `select c.id as chat, c.kind, t.id, t.sender_id as sender, t.request_id as request, t.at,
      t.version, t.content, t.buttons, t.album, t.forward is not null as "isForwarded",
      t.keyboard is not null as "hasKeyboard"
    from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $1
      and m.role not in ('left', 'kicked')
    join sandbox_message t on t.chat_id = c.id and t.id = $3 and t.deleted_at is null
    where ${chatCondition('$1', '$2')}`,
}
