/** Topics of forums in the reference's JSON. */
import type { Topic, TopicLook } from '../../../machines/model/content.ts'
import { present } from './chat.ts'
import type { Names } from './names.ts'

export const topicLookJson = ({ name, iconColor, icon }: TopicLook) =>
  present({ name, icon_color: iconColor, icon_custom_emoji_id: icon })

export const topicJson = (chat: string, topic: Topic, ids: Names): object => ({
  message_thread_id: ids.message(chat, topic.native),
  ...topicLookJson(topic),
})

/** Where a message stands; nothing for a topic that no client was told of. */
export function threadJson(chat: string, topic: string, ids: Names): object {
  const message_thread_id = ids.message(chat, topic)
  return message_thread_id === undefined ? {} : { message_thread_id, is_topic_message: true }
}
