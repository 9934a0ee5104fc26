/** A message of the network in neutral terms. */
import type { tl } from '@mtcute/node'
import type { Message, Origin, Person } from '../../../../machines/model/content.ts'
import { nativeOf } from '../natives.ts'
import { contentOf } from './content.ts'
import { chatOf, personById, type View, writerOf } from './peers.ts'
import { serviceOf } from './service.ts'

export type Written = tl.RawMessage | tl.RawMessageService

export function messageOf(message: Written, view: View): Message {
  const chat = chatOf(message.peerId, view)
  const from = authorOf(message, chat, view)
  const shown = { of: 'message', chat: chat.native, message: message.id } as const
  const facts = {
    native: `${message.id}`,
    chat,
    at: message.date,
    ...(from && { from }),
    ...replyOf(message),
    ...topicOf(message),
  }
  if (message._ === 'messageService') {
    return { ...facts, content: serviceOf(message, from, shown, view) }
  }
  const { editDate, editHide, fwdFrom, groupedId, postAuthor, noforwards } = message
  return {
    ...facts,
    content: contentOf(message, shown),
    ...(editDate !== undefined && !editHide && { editedAt: editDate }),
    ...(fwdFrom && { forward: originOf(fwdFrom, view) }),
    ...(groupedId && { album: groupedId.toString() }),
    ...(postAuthor && { signature: postAuthor }),
    ...(noforwards && { isProtected: true }),
  }
}

/** The account wrote it itself, on whatever device; notes to itself are not marked as sent. */
export const isOwn = ({ out, peerId }: Written, self: string): boolean =>
  out === true || nativeOf(peerId) === self

function authorOf(message: Written, chat: Message['chat'], view: View): Person | undefined {
  if (message.fromId) return writerOf(message.fromId, chat, view)
  if (chat.surface === 'channel' || message.post) return undefined
  if (message.out) return personById(Number(view.self), view)
  return writerOf(message.peerId, chat, view)
}

/** Answers to messages of other chats and to stories have no word in neutral terms. */
function replyOf({ replyTo }: Written): Pick<Message, 'replyTo'> {
  if (replyTo?._ !== 'messageReplyHeader' || replyTo.replyToMsgId === undefined) return {}
  if (replyTo.replyToPeerId || replyTo.replyToScheduled) return {}
  // In a forum the first message of a topic stands for the topic.
  if (replyTo.forumTopic && replyTo.replyToTopId === undefined) return {}
  return { replyTo: { native: `${replyTo.replyToMsgId}` } }
}

/** The message that began a topic stands in it itself. */
function topicOf({ replyTo, ...message }: Written): Pick<Message, 'topic'> {
  if (message._ === 'messageService' && message.action._ === 'messageActionTopicCreate') {
    return { topic: { native: `${message.id}` } }
  }
  if (replyTo?._ !== 'messageReplyHeader' || !replyTo.forumTopic) return {}
  const top = replyTo.replyToTopId ?? replyTo.replyToMsgId
  return top === undefined ? {} : { topic: { native: `${top}` } }
}

function originOf(header: tl.TypeMessageFwdHeader, view: View): Origin {
  const { fromId, fromName, date: at, channelPost, postAuthor } = header
  if (fromId?._ === 'peerUser')
    return { from: 'person', person: personById(fromId.userId, view), at }
  if (!fromId) return { from: 'hidden', name: fromName ?? '', at }
  return {
    from: 'chat',
    chat: chatOf(fromId, view),
    at,
    ...(channelPost !== undefined && { message: `${channelPost}` }),
    ...(postAuthor && { signature: postAuthor }),
  }
}
