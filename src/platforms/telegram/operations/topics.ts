/** Topics of forums: created, changed, closed, reopened, and deleted with all their messages. */
import { Long, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import type { OperationResult } from '../../../../machines/model/operation.ts'
import { type Context, done, doneInPart, messagesIn, randomId, untold } from './context.ts'
import { topicId } from './send.ts'

export const topics: Handlers<Context> = {
  async create_topic({ calls, self, signal, requestId }, { chat, name, iconColor, icon }) {
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
    for (const { native, content, chat } of messagesIn(calls.take(result), self)) {
      if (content.kind !== 'service' || content.fact !== 'topic_created') continue
      const { name, iconColor, icon } = content
      const topic = { native, name, iconColor, ...(icon !== undefined && { icon }) }
      return { kind: 'topic', chat, topic }
    }
    throw untold('made the topic and does not say which it is')
  },

  async edit_topic(context, { chat, topic, name, icon }) {
    if (name === undefined && icon === undefined) return done
    return change(context, chat, topic, {
      ...(name !== undefined && { title: name }),
      ...(icon !== undefined && { iconEmojiId: Long.fromString(icon || '0') }),
    })
  },

  close_topic: (context, { chat, topic }) => change(context, chat, topic, { closed: true }),

  reopen_topic: (context, { chat, topic }) => change(context, chat, topic, { closed: false }),

  async delete_topic({ calls, signal }, { chat, topic }) {
    const topMsgId = topicId(topic)
    const peer = await calls.peer(chat, signal)
    const channelId = peer._ === 'inputPeerChannel' ? peer.channelId : 0
    const request = { _: 'messages.deleteTopicHistory', peer, topMsgId } as const
    // Each call deletes some of the messages and answers how many are left.
    const deleteSome = async () => {
      const { pts, ptsCount, offset } = await calls.call(request, { signal })
      calls.count(pts, ptsCount, channelId)
      return offset
    }
    for (let left = await deleteSome(); left > 0; ) left = await deleteSome().catch(doneInPart)
    return done
  },
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
