/** Changing a message and deleting it for all. */
import { isDeepStrictEqual } from 'node:util'
import type { Buttons, Content, Message, Surface } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Doer, World } from '../../platforms/sandbox/operations.ts'
import { lookAt, type Target } from '../chats/look.ts'
import { messageCard, type View, viewColumns, viewJoins } from '../delivery/cards.ts'
import { chatCondition } from '../delivery/natives.ts'
import { messageOf } from '../delivery/neutral.ts'
import { messageChange, queueing, woken } from '../delivery/queue.ts'
import { holderOf, letGo } from '../files/holding.ts'

export interface Place {
  readonly chat: number
  readonly message: number
}

export interface Revision {
  readonly content: Content
  readonly buttons?: Buttons
}

const bad = (description: string) => failed('bad_request', description)

const NOT_MODIFIED =
  'message is not modified: specified new message content and reply markup are exactly the ' +
  'same as a current content and reply markup of the message'

/** Somebody else may change the message between the look and the write. */
const TRIES = 10

const target = `
  target as (
    select t.chat_id, t.id, c.kind, m.role
    from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $2 and m.role not in ('left', 'kicked')
    join sandbox_message t on t.chat_id = c.id and t.id = $4 and t.deleted_at is null
    where ${chatCondition('$2', '$3')}
  )`

const writing = {
  name: 'sandbox_revise',
  text: `with message as (
      update sandbox_message e
      set content = $6, buttons = $7, edited_at = now(), version = e.version + 1
      where e.chat_id = $3 and e.id = $4 and e.deleted_at is null and e.version = $5
      returning e.*
    ),
    change as (${messageChange()}), ${queueing('edited')}
    select ${messageCard('message')} as message, ${viewColumns}, ${woken}
    from message ${viewJoins('message', '$2::bigint')}`,
}

const deleting = {
  name: 'sandbox_delete',
  text: `with ${target},
    message as (
      update sandbox_message e set deleted_at = now()
      from target
      where e.chat_id = target.chat_id and e.id = target.id and e.deleted_at is null
        and e.topic is distinct from e.id
        and (e.sender_id = $2 or target.kind = 'private' or target.role in ('owner', 'admin'))
      returning e.*
    ),
    change as (${messageChange('1', '$1::bigint', '$2::bigint')}), ${queueing('deleted')}
    select ${woken}, sender_id as sender, request_id as request,
      content ->> 'kind' = 'media' as "hasFiles",
      (select kind from target) as surface
    from message`,
}

/** `change` says what the message shall be; it throws where that cannot be. */
export async function revise(
  { db, wake, now }: World,
  { person, session }: Doer,
  place: Place,
  change: (target: Target, now: number) => Revision | Promise<Revision>,
): Promise<Message> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await lookAt(db, person, place)
    if (!found) throw bad('message to edit not found')
    const isFixed = found.isForwarded || found.hasKeyboard || found.content.kind === 'service'
    if (found.sender !== person || isFixed) {
      throw bad("message can't be edited")
    }
    const { content, buttons = null } = await change(found, now())
    if (isSame(content, found.content) && isSame(buttons, found.buttons)) throw bad(NOT_MODIFIED)
    const [row] = await db.query<View & { woken: number[] }>(writing, [
      ...[session ?? null, person, found.chat, found.id, found.version],
      ...[JSON.stringify(content), buttons && JSON.stringify(buttons)],
    ])
    if (row) {
      wake(row.woken)
      return messageOf(row)
    }
  }
  throw failed('unavailable', 'the message is changed by too many at once', {
    retryAfterSeconds: 1,
  })
}

/** Resolves with the kind of chat it was in. */
export async function remove(
  world: World,
  { person, session }: Doer,
  place: Place,
): Promise<Surface> {
  const { chat, message } = place
  const [row] = await world.db.query<{
    readonly woken: number[]
    readonly sender: number
    readonly request: string
    readonly hasFiles: boolean
    readonly surface: Surface
  }>(deleting, [session ?? null, person, chat, message])
  if (!row) {
    const found = await lookAt(world.db, person, place)
    throw bad(found ? "message can't be deleted" : 'message to delete not found')
  }
  world.wake(row.woken)
  if (row.hasFiles) await letGo(world, holderOf(row.sender, row.request))
  return row.surface
}

/** As the database would see it: what is undefined is not there. */
const isSame = (one: unknown, other: unknown) =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), other)
