/** Ephemeral messages: one member of a group sees them, for a day at most, and they can be edited and deleted. */
import type { Content, Message } from '../../../machines/model/content.ts'
import { badRequest, failed, messageNotFound, notFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Change } from '../../../machines/model/operation-inline.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf, type ChatAccess } from '../chats/access.ts'
import { viewOf } from '../chats/find-message.ts'
import { messageOf, parseChatId, parseMessageId, parseTopicId } from '../delivery/mapping.ts'
import { oneRecipient, queueing, woken } from '../delivery/queue.ts'
import { holderOf, mayHaveFiles, releaseFiles, withFileHolds } from '../files/files.ts'
import type { Call } from '../network/context.ts'
import {
  asMessage,
  type MessageView,
  messageJson,
  viewColumns,
  viewJoins,
} from '../network/rows.ts'
import { type PressedButton, pressOf } from './callback.ts'
import { neededPermission, prepareContent, sendingWords } from './content.ts'
import { contentAfter, isSame, NOT_MODIFIED } from './edit.ts'

/** An account that is no administrator may answer for so long. */
const ANSWER_SECONDS = 15
const MOST_SHOWN = 200

type Send = OperationOf<'send_ephemeral'>

const told = (kind: 'message' | 'edited') => `
    message as (select m.*, e.receiver_id from stored e cross join ${asMessage('e')} m),
    change as (
      select 1 as ord, message.chat_id, message.sender_id as actor_id, $1::bigint as session_id,
        message.receiver_id as recipient_id, ${messageJson('message')} as detail
      from message
    ), ${queueing(kind, { recipients: oneRecipient })}
    select ${messageJson('message')} as message, ${viewColumns}, ${woken}
    from message ${viewJoins('message', 'message.sender_id')}`

const sending = {
  name: 'sandbox_ephemeral_send',
  text: `with stored as (
      insert into sandbox_ephemeral (chat_id, sender_id, receiver_id, request_id, content, buttons,
        reply_to, topic, is_protected, replaces)
      values ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning *
    ), ${told('message')}`,
}

const changing = {
  name: 'sandbox_ephemeral_edit',
  text: `with stored as (
      update sandbox_ephemeral e
      set content = $4, buttons = $5, edited_at = now(), version = e.version + 1
      where e.ephemeral_id = $2 and e.version = $3 returning e.*
    ), ${told('edited')}`,
}

const seen = (condition: string) => `
  select ${messageJson('message')} as message, ${viewColumns}
  from sandbox_ephemeral e cross join ${asMessage('e')} message
  ${viewJoins('message', '$1')}
  where ${condition} order by e.ephemeral_id desc limit ${MOST_SHOWN}`

type Told = MessageView & { readonly woken: number[] }

export async function sendEphemeral(call: Call, operation: Send): Promise<OperationResult> {
  const { context, by, request } = call
  const { db, wake } = context
  const [before] = await db.query<MessageView>(seen('e.sender_id = $1 and e.request_id = $2'), [
    by.person,
    request,
  ])
  if (before) return { kind: 'message', message: messageOf(before) }
  const pressed =
    operation.callback === undefined ? undefined : await pressOf(db, by.person, operation.callback)
  const place = await placeOf(call, operation, pressed)
  const { chat, receiver } = place
  await assertMaySend(call, operation, place, pressed)
  const reply = await replyOf(call, chat.native ?? 0, operation)
  const topic = operation.topic === undefined ? null : parseTopicId(operation.topic)
  await assertTopic(db, chat.id, topic)
  const replaces = replacedBy(operation, pressed)
  const message = await withFileHolds(context, [holderOf(by.person, request)], async () => {
    const content = await prepareContent(context, by.person, request, operation.content)
    const values = [by.session ?? null, chat.id, by.person, receiver, request]
    const buttons = operation.buttons && JSON.stringify(operation.buttons)
    const [row] = await db.query<Told>(sending, [
      ...[...values, JSON.stringify(content), buttons ?? null, reply, topic],
      ...[operation.isProtected ?? false, replaces],
    ])
    wake(row!.woken)
    return messageOf(row!)
  })
  return { kind: 'message', message }
}

interface Place extends ChatAccess {
  readonly receiver: number
}

/** The chat and the receiver; a callback query says both where they are not named. */
async function placeOf(
  { context: { db }, by }: Call,
  { chat, receiver }: Send,
  pressed: PressedButton | undefined,
): Promise<Place> {
  const native = chat === undefined ? pressed?.native : parseChatId(chat)
  const person = receiver === undefined ? pressed?.person : parseChatId(receiver)
  if (native == null) throw badRequest('chat_id is empty')
  if (person === undefined) throw badRequest('invalid receiver_user_id specified')
  // The reference's answer where no chat has administrators.
  if (native > 0) throw badRequest('BOT_NOT_ADMIN')
  const access = await accessOf(db, by.person, native)
  if (access.chat.kind === 'channel') {
    throw badRequest('method is available for supergroup and group chats only')
  }
  const isPresser = pressed?.person === person && pressed.chat === access.chat.id
  if (pressed && !isPresser) throw badRequest('the callback query belongs to another chat or user')
  const inside = await db.query(
    `select from sandbox_member where chat_id = $1 and person_id = $2
       and role not in ('left', 'kicked')`,
    [access.chat.id, person],
  )
  if (inside.length === 0) throw badRequest('USER_NOT_PARTICIPANT')
  return { ...access, receiver: person }
}

/** Administrators may at any time; other accounts answer a press or an ephemeral message. People command. */
async function assertMaySend(
  { context: { db }, by }: Call,
  { content, replyToEphemeral }: Send,
  { chat, role, receiver, permissions }: Place,
  pressed: PressedButton | undefined,
): Promise<void> {
  const needed = neededPermission({ content })
  if (role === 'member' && needed && !permissions.includes(needed)) {
    throw badRequest(`not enough rights to ${sendingWords({ content })}`)
  }
  if (content.kind === 'location' && content.liveSeconds) {
    throw badRequest("live locations can't be sent as ephemeral messages")
  }
  if (replyToEphemeral !== undefined) {
    const answered = await db.query(
      `select from sandbox_ephemeral where ephemeral_id = $1 and chat_id = $2
         and sender_id = $3 and receiver_id = $4
         and at > now() - make_interval(secs => ${ANSWER_SECONDS})`,
      [replyToEphemeral, chat.id, receiver, by.person],
    )
    if (answered.length === 0) throw messageNotFound('message to be replied')
    return
  }
  const isAnswer = pressed !== undefined && pressed.ageSeconds <= ANSWER_SECONDS
  if (role === 'member' && by.session !== undefined && !isAnswer) throw badRequest('BOT_NOT_ADMIN')
}

async function replyOf(
  { context: { db }, by }: Call,
  chat: number,
  { replyTo }: Send,
): Promise<number | null> {
  if (replyTo === undefined) return null
  const message = parseMessageId(replyTo, 'be replied')
  if (await viewOf(db, by.person, { chat, message })) return message
  throw messageNotFound('message to be replied')
}

async function assertTopic(db: Queryable, chat: number, topic: number | null): Promise<void> {
  if (topic === null) return
  const found = await db.query('select from sandbox_topic where chat_id = $1 and id = $2', [
    chat,
    topic,
  ])
  if (found.length === 0) throw notFound('message thread')
}

function replacedBy({ replaces }: Send, pressed: PressedButton | undefined): number | null {
  if (!replaces) return null
  if (pressed?.message == null) {
    throw badRequest('only the message of a callback query can be replaced')
  }
  return pressed.message
}

interface Stored {
  readonly ephemeral_id: number
  readonly chat_id: number
  readonly request_id: string
  readonly at: Date
  readonly version: number
  readonly content: Content
  readonly buttons: unknown
}

type Target = OperationOf<'edit_ephemeral' | 'delete_ephemeral'>

/** The ephemeral message that this person sent; rejects where there is none. */
async function targetOf(
  { context: { db }, by }: Call,
  { chat, receiver, ephemeral }: Target,
  purpose: 'edit' | 'delete',
): Promise<Stored> {
  const access = await accessOf(db, by.person, parseChatId(chat))
  const [stored] = await db.query<Stored>(
    `select * from sandbox_ephemeral
     where ephemeral_id = $1 and chat_id = $2 and sender_id = $3 and receiver_id = $4`,
    [ephemeral, access.chat.id, by.person, parseChatId(receiver)],
  )
  if (!stored) throw messageNotFound(`message to ${purpose}`)
  return stored
}

export async function editEphemeral(
  call: Call,
  operation: OperationOf<'edit_ephemeral'>,
): Promise<OperationResult> {
  const { context, by } = call
  const stored = await targetOf(call, operation, 'edit')
  const target = {
    ...{ chat: stored.chat_id, kind: 'supergroup' as const, id: 0, sender: by.person },
    ...{ request: stored.request_id, at: stored.at, version: stored.version },
    ...{ content: stored.content, buttons: null, album: null },
    ...{ isForwarded: false, isInline: false, isFinal: false, hasKeyboard: false },
  }
  const content = await contentAfter(context, target, changeOf(operation), context.now())
  const buttons = operation.buttons ?? null
  if (isSame(content, stored.content) && isSame(buttons, stored.buttons))
    throw badRequest(NOT_MODIFIED)
  const [row] = await context.db.query<Told>(changing, [
    ...[by.session ?? null, stored.ephemeral_id, stored.version],
    ...[JSON.stringify(content), buttons && JSON.stringify(buttons)],
  ])
  if (!row) throw failed('unavailable', 'the message is being changed', { retryAfterSeconds: 1 })
  context.wake(row.woken)
  return { kind: 'done' }
}

function changeOf({ content, caption, captionAbove }: OperationOf<'edit_ephemeral'>): Change {
  if (content) return { kind: 'edit', content }
  if (!caption) return { kind: 'edit_buttons' }
  return { kind: 'edit_caption', caption, ...(captionAbove && { captionAbove }) }
}

export async function deleteEphemeral(
  call: Call,
  operation: OperationOf<'delete_ephemeral'>,
): Promise<OperationResult> {
  const { context, by } = call
  const { ephemeral_id, request_id, content } = await targetOf(call, operation, 'delete')
  await context.db.query('delete from sandbox_ephemeral where ephemeral_id = $1', [ephemeral_id])
  if (mayHaveFiles(content)) await releaseFiles(context, holderOf(by.person, request_id))
  context.wake([])
  return { kind: 'done' }
}

/** The newest ephemeral messages that this person received or sent, the newest first. */
export async function ephemeralFor(db: Queryable, person: number): Promise<Message[]> {
  const rows = await db.query<MessageView>(seen('$1 in (e.receiver_id, e.sender_id)'), [person])
  return rows.map(messageOf)
}
