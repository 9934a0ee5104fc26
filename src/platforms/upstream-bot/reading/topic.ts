/** Topics of the reference, and what is told of them. */
import type { Service } from '../../../../machines/model/content.ts'
import type { Topic, TopicLook } from '../../../../machines/model/topic.ts'
import { type Fields, fields, integer, maybeText, native, present, text } from './fields.ts'

export function topicOf(value: unknown): Topic {
  const topic = fields(value)
  return { native: native(topic.message_thread_id), ...lookOf(topic) }
}

/** What happened to the topic that the message stands in. */
export function topicFactOf(message: Fields): Service | undefined {
  const { forum_topic_created, forum_topic_edited } = message
  if (forum_topic_created !== undefined) {
    return { fact: 'topic_created', ...lookOf(fields(forum_topic_created)) }
  }
  if (forum_topic_edited !== undefined) return editOf(fields(forum_topic_edited))
  if (message.forum_topic_closed !== undefined) return { fact: 'topic_closed' }
  return message.forum_topic_reopened === undefined ? undefined : { fact: 'topic_reopened' }
}

const lookOf = (look: Fields): TopicLook =>
  present({
    name: text(look.name),
    iconColor: integer(look.icon_color),
    icon: maybeText(look.icon_custom_emoji_id),
  })

/** An icon that was taken away is told as an empty one. */
function editOf({ name, icon_custom_emoji_id: icon }: Fields): Service {
  return present({
    fact: 'topic_edited' as const,
    name: maybeText(name),
    icon: typeof icon === 'string' ? icon : undefined,
  })
}
