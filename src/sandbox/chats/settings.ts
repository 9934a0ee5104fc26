/** Changes the settings of a chat, pins its messages, and leaves chats. Service messages announce the changes. */
import { failed, messageNotFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { parseChatId, parseMessageId } from '../delivery/mapping.ts'
import { storedMedia } from '../files/files.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { findStickerSet } from '../stickers/sticker-sets.ts'
import { accessOf, assertGroup, assertMay } from './access.ts'
import { changeMember } from './members.ts'
import { announce, lockChat } from './transaction.ts'

const done: OperationResult = { kind: 'done' }

export async function setTitle(
  { context, by }: Call,
  { chat, title }: OperationOf<'set_title'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  assertGroup(access, 'title')
  assertMay(access, 'change chat title', 'change_info', 'change_info')
  await lockChat(context, { chat: access.chat.id, person: by.person }, async ({ db, outbox }) => {
    await store({ db }, access.chat.id, 'title', title)
    await announce({ outbox }, by, parseChatId(chat), { fact: 'title', title })
  })
  return done
}

export async function setDescription(
  { context, by }: Call,
  { chat, description }: OperationOf<'set_description'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  assertGroup(access, 'description')
  assertMay(access, 'set chat description', 'change_info', 'change_info')
  await store(context, access.chat.id, 'description', description || null)
  return done
}

export async function setPhoto(
  { context, by }: Call,
  { chat, photo: given }: OperationOf<'set_photo'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  assertGroup(access, 'photo')
  assertMay(access, 'change chat photo', 'change_info', 'change_info')
  const { id } = access.chat
  const photo = given && (await storedMedia(context, given, `chat:${id}`))
  await lockChat(context, { chat: access.chat.id, person: by.person }, async ({ db, outbox }) => {
    await store({ db }, id, 'photo', photo ? JSON.stringify(photo) : null)
    await announce({ outbox }, by, parseChatId(chat), { fact: 'photo', photo })
  })
  return done
}

export async function setPermissions(
  { context, by }: Call,
  { chat, permissions }: OperationOf<'set_permissions'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  assertGroup(access, 'permissions')
  assertMay(access, 'change chat permissions', 'restrict_members')
  await store(context, access.chat.id, 'permissions', [...permissions])
  return done
}

/** The delays that the reference's network knows, in seconds. */
export const SLOW_MODE_DELAYS = [0, 5, 10, 30, 60, 300, 900, 3600] as const

export async function setSlowMode(
  context: NetworkContext,
  person: number,
  chat: number,
  seconds: (typeof SLOW_MODE_DELAYS)[number],
): Promise<void> {
  const access = await accessOf(context.db, person, chat)
  if (access.chat.kind !== 'supergroup') {
    throw failed('bad_request', 'method is available only for supergroups')
  }
  assertMay(access, 'change slow mode', 'restrict_members')
  await store(context, access.chat.id, 'slow_mode', seconds)
}

export async function setChatStickers(
  { context, by }: Call,
  { chat, name }: OperationOf<'set_chat_stickers'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  if (access.chat.kind !== 'supergroup') {
    throw failed('bad_request', 'method is available only for supergroups')
  }
  assertMay(access, 'change group sticker set', 'change_info')
  const set = name === undefined ? undefined : await findStickerSet(context, name)
  if (name !== undefined && !set) throw failed('bad_request', 'sticker set not found')
  await store(context, access.chat.id, 'sticker_set', set?.name ?? null)
  return done
}

export async function leave(
  { context, by }: Call,
  { chat: given }: OperationOf<'leave'>,
): Promise<OperationResult> {
  const { chat } = await accessOf(context.db, by.person, parseChatId(given))
  if (chat.kind === 'private') {
    throw failed('bad_request', "chat member status can't be changed in private chats")
  }
  await lockChat(context, { chat: chat.id, person: by.person }, (transaction) =>
    changeMember(transaction, by, chat, by.person, { role: 'left', keepsLimits: true }),
  )
  return done
}

type Column = 'title' | 'description' | 'photo' | 'permissions' | 'sticker_set' | 'slow_mode'

async function store(
  { db }: { readonly db: Queryable },
  chat: number,
  column: Column,
  value: unknown,
): Promise<void> {
  const [row] = await db.query<{ changed: boolean }>(
    `update sandbox_chat c set ${column} = $2 from sandbox_chat old
     where c.id = $1 and old.id = c.id returning old.${column} is distinct from c.${column} as changed`,
    [chat, value],
  )
  if (row?.changed === false && column === 'description') {
    throw failed('bad_request', 'chat description is not modified')
  }
}

/** Resolves with the id of the chat's row. */
async function assertMayPin({ context, by }: Call, native: string): Promise<number> {
  const access = await accessOf(context.db, by.person, parseChatId(native))
  const right = access.chat.kind === 'channel' ? 'edit_messages' : 'pin_messages'
  assertMay(access, 'manage pinned messages in the chat', right, 'pin_messages')
  return access.chat.id
}

export async function pin(call: Call, operation: OperationOf<'pin'>): Promise<OperationResult> {
  const chat = await assertMayPin(call, operation.chat)
  const { context, by } = call
  const message = parseMessageId(operation.message, 'pin')
  await lockChat(context, { chat, person: by.person }, async ({ db, outbox }) => {
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
    if (!pinned) throw messageNotFound('message to pin')
    const fact = { fact: 'pinned' as const, message: `${message}` }
    await announce({ outbox }, by, parseChatId(operation.chat), fact, pinned.topic)
  })
  return done
}

export async function unpin(call: Call, operation: OperationOf<'unpin'>): Promise<OperationResult> {
  const chat = await assertMayPin(call, operation.chat)
  const { db } = call.context
  const message = operation.message ?? (await newestPin(db, chat))
  const rows = await db.query(
    'delete from sandbox_pin where chat_id = $1 and message_id = $2 returning message_id',
    [chat, message === undefined ? 0 : parseMessageId(`${message}`, 'unpin')],
  )
  if (rows.length === 0) throw messageNotFound('message to unpin')
  return done
}

export async function unpinAll(
  call: Call,
  operation: OperationOf<'unpin_all'>,
): Promise<OperationResult> {
  const chat = await assertMayPin(call, operation.chat)
  await call.context.db.query('delete from sandbox_pin where chat_id = $1', [chat])
  return done
}

/** Resolves with the id of the newest pinned message. */
async function newestPin(db: Queryable, chat: number): Promise<number | undefined> {
  const [row] = await db.query<{ message_id: number }>(
    `select p.message_id from sandbox_pin p
     join sandbox_message m on m.chat_id = p.chat_id and m.id = p.message_id
     where p.chat_id = $1 and m.deleted_at is null order by p.at desc limit 1`,
    [chat],
  )
  return row?.message_id
}
