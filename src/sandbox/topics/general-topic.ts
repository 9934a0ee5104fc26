/** The general topic of a forum: messages that stand in no other topic. It is renamed, closed and hidden, never deleted. */
import type { Service } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { assertMay, may } from '../chats/access.ts'
import { announce, lockChat } from '../chats/transaction.ts'
import { parseChatId, parseTopicId } from '../delivery/mapping.ts'
import type { Call } from '../network/context.ts'
import { forumOf } from './topics.ts'

interface General {
  readonly name: string
  readonly isClosed: boolean
  readonly isHidden: boolean
}

const NAME = 'General'
const done: OperationResult = { kind: 'done' }

export async function editGeneralTopic(
  call: Call,
  { chat, change }: OperationOf<'edit_general_topic'>,
): Promise<OperationResult> {
  const { context, by } = call
  const access = await forumOf(call, chat)
  if (!may(access, 'manage_topics')) throw lacking(change.do)
  const { id } = access.chat
  await lockChat(context, { chat: id, person: by.person }, async (transaction) => {
    const [before] = await transaction.db.query<General>(
      `select coalesce(general_name, '${NAME}') as name, general_closed as "isClosed",
         general_hidden as "isHidden" from sandbox_chat where id = $1`,
      [id],
    )
    const [after, facts] = changed(before!, change)
    await transaction.db.query(
      `update sandbox_chat set general_name = $2, general_closed = $3, general_hidden = $4
       where id = $1`,
      [id, after.name, after.isClosed, after.isHidden],
    )
    await announce(transaction, by, parseChatId(chat), facts)
  })
  return done
}

function changed(
  before: General,
  change: OperationOf<'edit_general_topic'>['change'],
): readonly [after: General, facts: Service] {
  switch (change.do) {
    case 'rename': {
      const name = change.name.toWellFormed()
      if (name === before.name) throw notModified()
      return [
        { ...before, name },
        { fact: 'topic_edited', name },
      ]
    }
    case 'close':
    case 'reopen': {
      const isClosed = change.do === 'close'
      if (before.isClosed === isClosed) throw notModified()
      // An open topic is seen.
      const isHidden = isClosed && before.isHidden
      return [
        { ...before, isClosed, isHidden },
        { fact: isClosed ? 'topic_closed' : 'topic_reopened' },
      ]
    }
    case 'hide':
    case 'unhide': {
      const isHidden = change.do === 'hide'
      if (before.isHidden === isHidden) throw notModified()
      const isClosed = isHidden || before.isClosed
      const fact = isHidden ? 'general_topic_hidden' : 'general_topic_unhidden'
      return [{ ...before, isHidden, isClosed }, { fact }]
    }
  }
}

/** The reference's server checks the one itself and leaves the other to the network. */
const lacking = (change: OperationOf<'edit_general_topic'>['change']['do']) =>
  failed(
    'bad_request',
    change === 'hide' || change === 'unhide'
      ? 'not enough rights to close or open the topic'
      : 'CHAT_ADMIN_REQUIRED',
  )

const notModified = () => failed('bad_request', 'TOPIC_NOT_MODIFIED')

/** Unpins the messages of one topic. */
export async function unpinTopic(
  call: Call,
  { chat, topic }: OperationOf<'unpin_topic'>,
): Promise<OperationResult> {
  const { db } = call.context
  const access = await forumOf(call, chat)
  assertMay(access, 'manage pinned messages in the chat', 'pin_messages', 'pin_messages')
  const thread = topic === undefined ? null : parseTopicId(topic)
  if (thread !== null) {
    const known = await db.query('select from sandbox_topic where chat_id = $1 and id = $2', [
      ...[access.chat.id, thread],
    ])
    if (known.length === 0) throw failed('bad_request', 'TOPIC_ID_INVALID')
  }
  await db.query(
    `delete from sandbox_pin p using sandbox_message m
     where p.chat_id = $1 and m.chat_id = p.chat_id and m.id = p.message_id
       and m.topic is not distinct from $2`,
    [access.chat.id, thread],
  )
  return done
}
