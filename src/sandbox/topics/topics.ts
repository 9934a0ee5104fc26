/** Topics of forums: begun, changed, closed, opened again, and deleted with all that was written there. */

import type { Topic, TopicLook } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import type { TopicOperation } from '../../../machines/model/operation-topics.ts'
import type { Queryable } from '../../database/database.ts'
import type { Doer, World } from '../../platforms/sandbox/operations.ts'
import { assertMay, may, type Standing, standingOf } from '../chats/standing.ts'
import { inTurn, type Turn } from '../chats/turn.ts'
import { chatNative, topicNative } from '../delivery/natives.ts'
import { chatOf } from '../delivery/neutral.ts'
import { send } from '../messages/send.ts'
import { deleteTopic } from './delete-topic.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>
type Creation = Of<'create_topic'>
type Change = Exclude<TopicOperation<string, string>, { kind: 'create_topic' | 'delete_topic' }>
type Announced = Of<'send'>['content'] & { readonly kind: 'service' }

interface Row extends TopicLook {
  readonly id: number
  readonly creator: number
  readonly isClosed: boolean
}

const DEFAULT_COLOR = 0x6fb9f0
const done: OperationResult = { kind: 'done' }
const bad = (description: string) => failed('bad_request', description)

const row = `id, creator_id as creator, name, icon_color as "iconColor", icon, is_closed as "isClosed"`

export async function changeTopic(
  world: World,
  doer: Doer,
  operation: TopicOperation<string, string>,
): Promise<OperationResult> {
  const standing = await standingOf(world.db, doer.person, chatNative(operation.chat))
  if (!standing.chat.is_forum) throw bad('the chat is not a forum')
  switch (operation.kind) {
    case 'create_topic':
      return create(world, doer, standing, operation)
    case 'delete_topic': {
      const topic = await topicAt(world.db, standing, operation.topic)
      assertMayChange(standing, doer, topic, 'delete the topic', 'delete_messages')
      await deleteTopic(world, doer, standing.chat.id, topic.id)
      return done
    }
    default:
      await inTurn(world, { chat: standing.chat.id, person: doer.person }, async (turn) => {
        const topic = await topicAt(turn.db, standing, operation.topic)
        await change(turn, doer, standing, topic, operation)
      })
      return done
  }
}

/** The topics of a forum, the oldest first. */
export async function topicsOf(
  { db, network }: Pick<World, 'db' | 'network'>,
  native: number,
): Promise<(Topic & { readonly isClosed: boolean })[]> {
  const rows = await db.query<Row>(
    `select ${row} from sandbox_topic
     where chat_id = (select id from sandbox_chat where native = $1 and user_id = $2)
     order by id`,
    [native, network],
  )
  return rows.map((topic) => ({ ...topicOf(topic), isClosed: topic.isClosed }))
}

async function create(
  world: World,
  doer: Doer,
  standing: Standing,
  { name: given, iconColor = DEFAULT_COLOR, icon, chat }: Creation,
): Promise<OperationResult> {
  // The database takes no half surrogate pairs.
  const name = given.toWellFormed()
  assertMay(standing, 'create a topic', 'manage_topics', 'manage_topics')
  const look = { name, iconColor, ...(icon && { icon }) }
  const { id } = standing.chat
  const native = await inTurn(world, { chat: id, person: doer.person }, async (turn) => {
    const began = await say(turn, doer, chat, { kind: 'service', fact: 'topic_created', ...look })
    await turn.db.query(
      `insert into sandbox_topic (chat_id, id, creator_id, name, icon_color, icon)
       values ($1, $2, $3, $4, $5, $6)`,
      [id, began.native, doer.person, name, iconColor, icon || null],
    )
    return began.native
  })
  return { kind: 'topic', chat: chatOf(standing.chat, null), topic: { native, ...look } }
}

async function change(
  turn: Turn,
  doer: Doer,
  standing: Standing,
  topic: Row,
  operation: Change,
): Promise<void> {
  const at = [standing.chat.id, topic.id]
  if (operation.kind !== 'edit_topic') {
    assertMayChange(standing, doer, topic, 'close or open the topic')
    const isClosed = operation.kind === 'close_topic'
    if (isClosed === topic.isClosed) throw bad('TOPIC_NOT_MODIFIED')
    await turn.db.query('update sandbox_topic set is_closed = $3 where chat_id = $1 and id = $2', [
      ...[...at, isClosed],
    ])
    const fact = isClosed ? 'topic_closed' : 'topic_reopened'
    await say(turn, doer, operation.chat, { kind: 'service', fact }, topic.id)
    return
  }
  assertMayChange(standing, doer, topic, 'edit the topic')
  const { icon } = operation
  const name = operation.name?.toWellFormed()
  if (name === undefined && icon === undefined) return
  const news = {
    ...(name !== undefined && name !== topic.name && { name }),
    ...(icon !== undefined && icon !== (topic.icon ?? '') && { icon }),
  }
  if (Object.keys(news).length === 0) throw bad('TOPIC_NOT_MODIFIED')
  await turn.db.query(
    `update sandbox_topic set name = coalesce($3, name),
       icon = case when $4::text is null then icon else nullif($4, '') end
     where chat_id = $1 and id = $2`,
    [...at, name ?? null, icon ?? null],
  )
  await say(
    turn,
    doer,
    operation.chat,
    { kind: 'service', fact: 'topic_edited', ...news },
    topic.id,
  )
}

async function topicAt(db: Queryable, { chat }: Standing, topic: string): Promise<Row> {
  const [found] = await db.query<Row>(
    `select ${row} from sandbox_topic where chat_id = $1 and id = $2`,
    [chat.id, topicNative(topic)],
  )
  if (!found) throw bad('TOPIC_ID_INVALID')
  return found
}

/** Whoever began a topic may always change it. */
function assertMayChange(
  standing: Standing,
  { person }: Doer,
  { creator }: Row,
  purpose: string,
  right: 'manage_topics' | 'delete_messages' = 'manage_topics',
): void {
  if (creator === person || may(standing, right)) return
  throw bad(`not enough rights to ${purpose}`)
}

/** Told as a message of its own kind, also to the device that did it. */
const say = (
  { db, outbox }: Turn,
  { person }: Doer,
  chat: string,
  content: Announced,
  topic?: number,
) =>
  send(db, outbox, {
    sender: person,
    native: chatNative(chat),
    request: crypto.randomUUID(),
    content,
    ...(topic !== undefined && { topic }),
  })

const topicOf = ({ id, name, iconColor, icon }: Row): Topic => ({
  native: String(id),
  name,
  iconColor,
  ...(icon && { icon }),
})
