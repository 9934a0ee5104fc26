/** Topics of forums: begun, changed, closed, opened again, and deleted with all that was written there. */
import { Long, type tl } from '@mtcute/node'
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { type Context, done, messagesIn } from './context.ts'
import { randomId } from './random-id.ts'
import { topicId } from './send.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function createTopic(
  context: Context,
  { chat, name, iconColor, icon }: Of<'create_topic'>,
): Promise<OperationResult> {
  const { calls, self, signal, requestId } = context
  const peer = await calls.peer(chat, signal)
  const result = await calls.call(
    {
      _: 'messages.createForumTopic',
      peer,
      title: name,
      randomId: randomId(requestId),
      ...(iconColor !== undefined && { iconColor }),
      ...(icon && { iconEmojiId: Long.fromString(icon) }),
    },
    { signal },
  )
  const told = messagesIn(calls.take(result), self)
  for (const { native, content, chat } of told) {
    if (content.kind !== 'service' || content.fact !== 'topic_created') continue
    const { name, iconColor, icon } = content
    const topic = { native, name, iconColor, ...(icon !== undefined && { icon }) }
    return { kind: 'topic', chat, topic }
  }
  const remark = 'Telegram has made the topic and does not say which it is'
  throw failed('timeout', remark, { certain: false })
}

export async function editTopic(
  context: Context,
  { chat, topic, name, icon }: Of<'edit_topic'>,
): Promise<OperationResult> {
  if (name === undefined && icon === undefined) return done
  return change(context, chat, topic, {
    ...(name !== undefined && { title: name }),
    ...(icon !== undefined && { iconEmojiId: Long.fromString(icon || '0') }),
  })
}

export const closeTopic = (
  context: Context,
  { chat, topic, kind }: Of<'close_topic' | 'reopen_topic'>,
): Promise<OperationResult> => change(context, chat, topic, { closed: kind === 'close_topic' })

export async function deleteTopic(
  { calls, signal }: Context,
  { chat, topic }: Of<'delete_topic'>,
): Promise<OperationResult> {
  const topMsgId = topicId(topic)
  const peer = await calls.peer(chat, signal)
  const channelId = peer._ === 'inputPeerChannel' ? peer.channelId : 0
  const request = { _: 'messages.deleteTopicHistory', peer, topMsgId } as const
  // The network deletes so many at once, and says how many are left.
  for (let left = 1; left > 0; ) {
    const { pts, ptsCount, offset } = await calls.call(request, { signal })
    calls.count(pts, ptsCount, channelId)
    left = offset
  }
  return done
}

type Change = Partial<
  Pick<tl.messages.RawEditForumTopicRequest, 'title' | 'iconEmojiId' | 'closed'>
>

async function change(
  { calls, signal }: Context,
  chat: string,
  topic: string,
  changed: Change,
): Promise<OperationResult> {
  const peer = await calls.peer(chat, signal)
  const request = { _: 'messages.editForumTopic', peer, topicId: topicId(topic) } as const
  calls.take(await calls.call({ ...request, ...changed }, { signal }))
  return done
}
