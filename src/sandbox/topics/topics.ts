/** Topics of forums: people create, edit, close, reopen and delete them, and every change is announced in the forum. */
import type { Service } from '../../../machines/model/content.ts'
import { badRequest, failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Topic, TopicLook } from '../../../machines/model/topic.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf, assertMay, type ChatAccess, may } from '../chats/access.ts'
import { announce, type ChatTransaction, lockChat } from '../chats/transaction.ts'
import { chatOf, parseChatId, parseTopicId } from '../delivery/mapping.ts'
import { messageChange, queueing, woken } from '../delivery/queue.ts'
import { holderOf, mayHaveFilesSql, releaseFiles } from '../files/files.ts'
import type { ActingPerson, Call, NetworkContext } from '../network/context.ts'

interface Row extends TopicLook {
  readonly id: number
  readonly creator: number
  readonly isClosed: boolean
}

const DEFAULT_COLOR = 0x6fb9f0
const done: OperationResult = { kind: 'done' }

const row = `id, creator_id as creator, name, icon_color as "iconColor", icon, is_closed as "isClosed"`

/** Rejects where the chat is no forum. */
export async function forumOf({ context, by }: Call, chat: string): Promise<ChatAccess> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  if (!access.chat.is_forum) throw badRequest('the chat is not a forum')
  return access
}

/** The topics of a forum, the oldest first. Rejects with `not_found` where the network has no such chat. */
export async function listTopics(
  { db, network }: Pick<NetworkContext, 'db' | 'network'>,
  native: number,
): Promise<(Topic & { readonly isClosed: boolean })[]> {
  const [chat] = await db.query<{ id: number }>(
    'select id from sandbox_chat where native = $1 and user_id = $2',
    [native, network],
  )
  if (!chat) throw failed('not_found', '')
  const rows = await db.query<Row>(
    `select ${row} from sandbox_topic where chat_id = $1 order by id`,
    [chat.id],
  )
  return rows.map((topic) => ({ ...topicOf(topic), isClosed: topic.isClosed }))
}

export async function createTopic(
  call: Call,
  operation: OperationOf<'create_topic'>,
): Promise<OperationResult> {
  const { context, by } = call
  const { name: given, iconColor = DEFAULT_COLOR, icon } = operation
  const access = await forumOf(call, operation.chat)
  // The database takes no half surrogate pairs.
  const name = given.toWellFormed()
  assertMay(access, 'create a topic', 'manage_topics', 'manage_topics')
  const look = { name, iconColor, ...(icon && { icon }) }
  const { id } = access.chat
  const native = await lockChat(context, { chat: id, person: by.person }, async (transaction) => {
    const facts = { fact: 'topic_created' as const, ...look }
    const began = await announce(transaction, by, parseChatId(operation.chat), facts)
    await transaction.db.query(
      `insert into sandbox_topic (chat_id, id, creator_id, name, icon_color, icon)
       values ($1, $2, $3, $4, $5, $6)`,
      [id, began.native, by.person, name, iconColor, icon || null],
    )
    return began.native
  })
  return { kind: 'topic', chat: chatOf(access.chat, null), topic: { native, ...look } }
}

export async function editTopic(
  call: Call,
  operation: OperationOf<'edit_topic'>,
): Promise<OperationResult> {
  await changeTopic(call, operation, async (transaction, access, topic) => {
    assertMayChange(access, call.by, topic, 'edit the topic')
    const { icon } = operation
    const name = operation.name?.toWellFormed()
    if (name === undefined && icon === undefined) return undefined
    const changed = {
      ...(name !== undefined && name !== topic.name && { name }),
      ...(icon !== undefined && icon !== (topic.icon ?? '') && { icon }),
    }
    if (Object.keys(changed).length === 0) throw badRequest('TOPIC_NOT_MODIFIED')
    await transaction.db.query(
      `update sandbox_topic set name = coalesce($3, name),
         icon = case when $4::text is null then icon else nullif($4, '') end
       where chat_id = $1 and id = $2`,
      [access.chat.id, topic.id, name ?? null, icon ?? null],
    )
    return { fact: 'topic_edited', ...changed }
  })
  return done
}

export async function closeOrReopenTopic(
  call: Call,
  operation: OperationOf<'close_topic' | 'reopen_topic'>,
): Promise<OperationResult> {
  await changeTopic(call, operation, async (transaction, access, topic) => {
    assertMayChange(access, call.by, topic, 'close or open the topic')
    const isClosed = operation.kind === 'close_topic'
    if (isClosed === topic.isClosed) throw badRequest('TOPIC_NOT_MODIFIED')
    await transaction.db.query(
      'update sandbox_topic set is_closed = $3 where chat_id = $1 and id = $2',
      [access.chat.id, topic.id, isClosed],
    )
    return { fact: isClosed ? 'topic_closed' : 'topic_reopened' }
  })
  return done
}

/** Changes a topic while its chat is locked, and announces the facts that `change` resolves with. */
async function changeTopic(
  call: Call,
  operation: OperationOf<'edit_topic' | 'close_topic' | 'reopen_topic'>,
  change: (
    transaction: ChatTransaction,
    access: ChatAccess,
    topic: Row,
  ) => Promise<Service | undefined>,
): Promise<void> {
  const { context, by } = call
  const access = await forumOf(call, operation.chat)
  await lockChat(context, { chat: access.chat.id, person: by.person }, async (transaction) => {
    const topic = await topicAt(transaction.db, access, operation.topic)
    const facts = await change(transaction, access, topic)
    if (facts) await announce(transaction, by, parseChatId(operation.chat), facts, topic.id)
  })
}

/** Deletes the topic with all its messages. The device that did it is notified, too. */
const deleting = {
  name: 'sandbox_delete_topic',
  text: `with topic as (
      delete from sandbox_topic where chat_id = $2 and id = $3 returning chat_id, id
    ),
    message as (
      update sandbox_message e set deleted_at = now() from topic
      where e.chat_id = topic.chat_id and e.topic = topic.id and e.deleted_at is null
      returning e.*
    ),
    change as (${messageChange('message.id', 'null::bigint', '$1::bigint')}), ${queueing('deleted')}
    select ${woken}, coalesce(
      (select jsonb_agg(jsonb_build_object('sender', sender_id, 'request', request_id))
       from message where ${mayHaveFilesSql}), '[]'
    ) as files`,
}

interface Deleted {
  readonly woken: readonly number[]
  readonly files: readonly { readonly sender: number; readonly request: string }[]
}

export async function deleteTopic(
  call: Call,
  operation: OperationOf<'delete_topic'>,
): Promise<OperationResult> {
  const { context, by } = call
  const access = await forumOf(call, operation.chat)
  const topic = await topicAt(context.db, access, operation.topic)
  assertMayChange(access, by, topic, 'delete the topic', 'delete_messages')
  const { id: chat } = access.chat
  const files = await lockChat(context, { chat, person: by.person }, async ({ db, wake }) => {
    const [row] = await db.query<Deleted>(deleting, [by.person, chat, topic.id])
    wake(row?.woken ?? [])
    return row?.files ?? []
  })
  for (const { sender, request } of files) await releaseFiles(context, holderOf(sender, request))
  return done
}

async function topicAt(db: Queryable, { chat }: ChatAccess, topic: string): Promise<Row> {
  const [found] = await db.query<Row>(
    `select ${row} from sandbox_topic where chat_id = $1 and id = $2`,
    [chat.id, parseTopicId(topic)],
  )
  if (!found) throw badRequest('TOPIC_ID_INVALID')
  return found
}

/** The person who created a topic may always change it. */
function assertMayChange(
  access: ChatAccess,
  { person }: ActingPerson,
  { creator }: Row,
  purpose: string,
  right: 'manage_topics' | 'delete_messages' = 'manage_topics',
): void {
  if (creator === person || may(access, right)) return
  throw badRequest(`not enough rights to ${purpose}`)
}

const topicOf = ({ id, name, iconColor, icon }: Row): Topic => ({
  native: String(id),
  name,
  iconColor,
  ...(icon && { icon }),
})
