/** Editing a message and deleting it for all. */
import { failed } from '../../../actors/errors.ts'
import type { Buttons, Content, Message } from '../../../machines/content.ts'
import type { Queryable } from '../../database/database.ts'
import { messageCard, type View, viewColumns, viewJoins } from './cards.ts'
import { chatCondition } from './natives.ts'
import { messageOf } from './neutral.ts'
import type { Doer } from './operations.ts'
import { messageChange, queueing, woken } from './queue.ts'

export interface Place {
  readonly chat: number
  readonly message: number
}

export interface Revision {
  readonly content: Content
  readonly buttons?: Buttons
}

type Wake = (people: readonly number[]) => void

const notModified =
  'message is not modified: specified new message content and reply markup are exactly the ' +
  'same as a current content and reply markup of the message'

const target = `
  target as (
    select t.chat_id, t.id, t.sender_id, c.kind, m.role
    from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $2 and m.role not in ('left', 'kicked')
    join sandbox_message t on t.chat_id = c.id and t.id = $4 and t.deleted_at is null
    where ${chatCondition('$2', '$3')}
  )`

const editing = {
  name: 'sandbox_edit',
  text: `with ${target},
    message as (
      update sandbox_message e
      set content = $5, buttons = $6, edited_at = now(), version = e.version + 1
      from target
      where e.chat_id = target.chat_id and e.id = target.id and e.deleted_at is null
        and e.sender_id = $2 and e.forward is null and e.content ->> 'kind' = 'text'
        and (e.content, e.buttons) is distinct from ($5::jsonb, $6::jsonb)
      returning e.*
    ),
    change as (${messageChange()}), ${queueing('edited')}
    select ${messageCard('message')} as message, ${viewColumns}, ${woken}
    from message ${viewJoins('message', '$2')}`,
}

const deleting = {
  name: 'sandbox_delete',
  text: `with ${target},
    message as (
      update sandbox_message e set deleted_at = now()
      from target
      where e.chat_id = target.chat_id and e.id = target.id and e.deleted_at is null
        and (e.sender_id = $2 or target.kind = 'private' or target.role in ('owner', 'admin'))
      returning e.*
    ),
    change as (${messageChange('1', '$1::bigint', '$2::bigint')}), ${queueing('deleted')}
    select ${woken} from message`,
}

export async function edit(
  db: Queryable,
  wake: Wake,
  actor: Doer,
  { chat, message }: Place,
  { content, buttons }: Revision,
): Promise<Message> {
  const at = [actor.session ?? null, actor.person, chat, message]
  const revised = [JSON.stringify(content), buttons ? JSON.stringify(buttons) : null]
  const [row] = await db.query<View & { woken: number[] }>(editing, [...at, ...revised])
  if (!row) throw await refusalOfEdit(db, actor, { chat, message })
  wake(row.woken)
  return messageOf(row)
}

export async function remove(db: Queryable, wake: Wake, actor: Doer, { chat, message }: Place) {
  const at = [actor.session ?? null, actor.person, chat, message]
  const [row] = await db.query<{ woken: number[] }>(deleting, at)
  if (row) return wake(row.woken)
  const [found] = await look(db, actor, { chat, message })
  throw failed('bad_request', found ? "message can't be deleted" : 'message to delete not found')
}

async function refusalOfEdit(db: Queryable, actor: Doer, place: Place) {
  const [found] = await look(db, actor, place)
  if (!found) return failed('bad_request', 'message to edit not found')
  const isEditable =
    found.sender_id === actor.person && !found.is_forwarded && found.kind === 'text'
  return failed('bad_request', isEditable ? notModified : "message can't be edited")
}

/** What the target is to this person; nothing when the chat or the message is not there for them. */
function look(db: Queryable, actor: Doer, { chat, message }: Place) {
  return db.query<{ sender_id: number; is_forwarded: boolean; kind: string }>(
    `with ${target}
     select e.sender_id, e.forward is not null as is_forwarded, e.content ->> 'kind' as kind
     from target join sandbox_message e on e.chat_id = target.chat_id and e.id = target.id
     where $1::bigint is null`,
    [null, actor.person, chat, message],
  )
}
