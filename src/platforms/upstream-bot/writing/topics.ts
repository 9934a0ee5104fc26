/** Operations about the topics of forums as calls of the bot API. */
import type { TopicOperation } from '../../../../machines/model/operation-topics.ts'
import { surfaceOf } from '../reading/people.ts'
import { topicOf } from '../reading/topic.ts'
import { type Call, threadOf, toDone } from './call.ts'

export function topicCall(operation: TopicOperation<string, string>): Call {
  if (operation.kind === 'create_topic') return create(operation)
  const place = { chat_id: Number(operation.chat), ...threadOf(operation.topic) }
  const call = (method: string, parameters: object = {}) => ({
    method,
    parameters: { ...place, ...parameters },
    read: toDone,
  })
  switch (operation.kind) {
    case 'edit_topic': {
      const { name, icon: icon_custom_emoji_id } = operation
      return call('editForumTopic', { name, icon_custom_emoji_id })
    }
    case 'close_topic':
      return call('closeForumTopic')
    case 'reopen_topic':
      return call('reopenForumTopic')
    case 'delete_topic':
      return call('deleteForumTopic')
  }
}

function create({
  chat,
  name,
  iconColor: icon_color,
  icon: icon_custom_emoji_id,
}: Extract<TopicOperation<string, string>, { kind: 'create_topic' }>): Call {
  return {
    method: 'createForumTopic',
    parameters: { chat_id: Number(chat), name, icon_color, icon_custom_emoji_id },
    read: (result) => ({
      kind: 'topic',
      chat: { native: chat, surface: surfaceOf(Number(chat)), isForum: true },
      topic: topicOf(result),
    }),
  }
}
