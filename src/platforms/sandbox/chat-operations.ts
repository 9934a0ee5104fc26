/** Changing a chat: its name and photo, what members may do, its pins, and leaving it. */

import type { Service } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { changeMember } from '../../sandbox/chats/membership.ts'
import { assertGroup, assertMay, type Standing, standingOf } from '../../sandbox/chats/standing.ts'
import { inTurn } from '../../sandbox/chats/turn.ts'
import { chatNative, messageNative } from '../../sandbox/delivery/natives.ts'
import { storedMedia } from '../../sandbox/files/files.ts'
import { send } from '../../sandbox/messages/send.ts'
import type { Doer, World } from './operations.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export type ChatChange = Of<
  | 'set_title'
  | 'set_description'
  | 'set_photo'
  | 'set_permissions'
  | 'pin'
  | 'unpin'
  | 'unpin_all'
  | 'leave'
>

export async function changeChat(
  world: World,
  doer: Doer,
  operation: ChatChange,
): Promise<OperationResult> {
  const standing = await standingOf(world.db, doer.person, chatNative(operation.chat))
  await carryOut(world, doer, standing, operation)
  return { kind: 'done' }
}

async function carryOut(
  world: World,
  doer: Doer,
  standing: Standing,
  operation: ChatChange,
): Promise<void> {
  const { id } = standing.chat
  switch (operation.kind) {
    case 'set_title':
      assertGroup(standing, 'title')
      assertMay(standing, 'change chat title', 'change_info', 'change_info')
      await set(world, id, 'title', operation.title)
      return say(world, doer, operation.chat, { fact: 'title', title: operation.title })
    case 'set_description':
      assertGroup(standing, 'description')
      assertMay(standing, 'set chat description', 'change_info', 'change_info')
      return set(world, id, 'description', operation.description || null)
    case 'set_photo': {
      assertGroup(standing, 'photo')
      assertMay(standing, 'change chat photo', 'change_info', 'change_info')
      const photo = operation.photo && (await storedMedia(world, operation.photo, `chat:${id}`))
      await set(world, id, 'photo', photo ? JSON.stringify(photo) : null)
      return say(world, doer, operation.chat, { fact: 'photo', photo })
    }
    case 'set_permissions':
      assertGroup(standing, 'permissions')
      assertMay(standing, 'change chat permissions', 'restrict_members')
      return set(world, id, 'permissions', [...operation.permissions])
    case 'leave':
      if (standing.chat.kind === 'private') throw failed('bad_request', 'chat not found')
      return inTurn(world, { chat: id, person: doer.person }, (turn) =>
        changeMember(turn, doer, standing.chat, doer.person, { role: 'left', keepsLimits: true }),
      )
    default:
      assertMay(standing, 'manage pinned messages in the chat', 'pin_messages', 'pin_messages')
      return pin(world, doer, id, operation)
  }
}

async function pin(
  world: World,
  doer: Doer,
  chat: number,
  operation: Of<'pin' | 'unpin' | 'unpin_all'>,
): Promise<void> {
  const { db } = world
  if (operation.kind === 'unpin_all') {
    await db.query('delete from sandbox_pin where chat_id = $1', [chat])
    return
  }
  if (operation.kind === 'unpin') {
    const message = operation.message ?? (await newestPin(world, chat))
    const rows = await db.query(
      'delete from sandbox_pin where chat_id = $1 and message_id = $2 returning message_id',
      [chat, message === undefined ? 0 : messageNative(`${message}`, 'unpin')],
    )
    if (rows.length === 0) throw failed('bad_request', 'message to unpin not found')
    return
  }
  const message = messageNative(operation.message, 'pin')
  const [pinned] = await db.query<{ topic: number | null }>(
    `with target as (
       select chat_id, id, topic from sandbox_message
       where chat_id = $1 and id = $2 and deleted_at is null and content ->> 'kind' <> 'service'
     ),
     pin as (
       insert into sandbox_pin (chat_id, message_id) select chat_id, id from target
       on conflict (chat_id, message_id) do update set at = now()
     )
     select topic from target`,
    [chat, message],
  )
  if (!pinned) throw failed('bad_request', 'message to pin not found')
  await say(world, doer, operation.chat, { fact: 'pinned', message: `${message}` }, pinned.topic)
}

/** The newest pinned message of a chat, by its number. */
export async function newestPin(
  { db }: Pick<World, 'db'>,
  chat: number,
): Promise<number | undefined> {
  const [row] = await db.query<{ message_id: number }>(
    `select p.message_id from sandbox_pin p
     join sandbox_message m on m.chat_id = p.chat_id and m.id = p.message_id
     where p.chat_id = $1 and m.deleted_at is null order by p.at desc limit 1`,
    [chat],
  )
  return row?.message_id
}

type Column = 'title' | 'description' | 'photo' | 'permissions'

async function set({ db }: World, chat: number, column: Column, value: unknown): Promise<void> {
  const [row] = await db.query<{ changed: boolean }>(
    `update sandbox_chat c set ${column} = $2 from sandbox_chat old
     where c.id = $1 and old.id = c.id returning old.${column} is distinct from c.${column} as changed`,
    [chat, value],
  )
  if (row?.changed === false && column === 'description') {
    throw failed('bad_request', 'chat description is not modified')
  }
}

/** Changes are told as a message of their own kind, also to the device that made them. */
async function say(
  { db, outbox }: World,
  { person }: Doer,
  chat: string,
  facts: Service,
  topic: number | null = null,
): Promise<void> {
  await send(db, outbox, {
    sender: person,
    native: chatNative(chat),
    request: crypto.randomUUID(),
    content: { kind: 'service', ...facts },
    ...(topic !== null && { topic }),
  })
}
