/** Forwarding a message with its origin, and copying it without. */
import { failed } from '../../../actors/errors.ts'
import type { Content, Message, Origin } from '../../../machines/content.ts'
import type { Queryable } from '../../database/database.ts'
import { messageCard, type View, viewColumns, viewJoins } from './cards.ts'
import { chatCondition } from './natives.ts'
import { chatOf, personOf } from './neutral.ts'
import type { Draft, Outbox } from './outbox.ts'
import type { Place } from './revise.ts'
import { send } from './send.ts'

export async function passOn(
  db: Queryable,
  outbox: Outbox,
  as: 'forward' | 'copy',
  from: Place,
  draft: Omit<Draft, 'content' | 'forward'>,
): Promise<Message> {
  const [source] = await db.query<View>(
    `select ${messageCard('m')} as message, ${viewColumns}
     from sandbox_message m ${viewJoins('m', '$1')}
     join sandbox_member reader on reader.chat_id = m.chat_id and reader.person_id = $1
       and reader.role not in ('left', 'kicked')
     where ${chatCondition('$1', '$2')} and m.id = $3 and m.deleted_at is null`,
    [draft.sender, from.chat, from.message],
  )
  if (!source) throw failed('bad_request', `message to ${as} not found`)
  const content = source.message.content as Content
  if (content.kind !== 'text') {
    throw failed('bad_request', `message can't be ${as === 'copy' ? 'copied' : 'forwarded'}`)
  }
  return send(db, outbox, {
    ...draft,
    content,
    ...(as === 'forward' && { forward: originOf(source) }),
  })
}

/** A message forwarded again keeps its first origin. */
function originOf({ message, chat, other, sender }: View): Origin {
  if (message.forward !== null) return message.forward as Origin
  if (chat.kind !== 'channel') return { from: 'person', person: personOf(sender), at: message.at }
  return {
    from: 'chat',
    chat: chatOf(chat, other),
    message: String(message.id),
    at: message.at,
  }
}
