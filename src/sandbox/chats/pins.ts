/** Pins messages in a chat and unpins them. */
import { messageNotFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { parseChatId, parseMessageId } from '../delivery/mapping.ts'
import type { Call } from '../network/context.ts'
import { accessOf, assertMay } from './access.ts'
import { announce } from './transaction.ts'

const done: OperationResult = { kind: 'done' }

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
  const [pinned] = await context.db.query<{ topic: number | null }>(
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
  await announce(context, by, parseChatId(operation.chat), fact, pinned.topic)
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
