/** Messages of the network in neutral terms, the service messages included. */
import type { tl } from '@mtcute/node'
import type { Content, ExternalReply, Message, Origin } from '../../../../machines/model/content.ts'
import type { Person } from '../../../../machines/model/person.ts'
import { textOf } from '../entities.ts'
import type { ExistingMessage } from '../find-message.ts'
import { nativeOf } from '../natives.ts'
import { conversationOf, postFactOf, suggestionOf } from '../suggested-posts.ts'
import { contentOf, taskOf } from './content.ts'
import { announcedGiftOf } from './gifts.ts'
import { photoOf, type Shown } from './media.ts'
import { chatOf, personById, type View, writerOf } from './peers.ts'

/** Reads service messages into neutral terms. */
function serviceOf(
  message: tl.RawMessageService,
  from: Person | undefined,
  shown: Shown,
  view: View,
): Content {
  const { action } = message
  switch (action._) {
    case 'messageActionChatAddUser':
      return service({ fact: 'joined', people: action.users.map((id) => personById(id, view)) })
    case 'messageActionChatJoinedByLink':
    case 'messageActionChatJoinedByRequest':
      return service({ fact: 'joined', people: from ? [from] : [] })
    case 'messageActionChatDeleteUser':
      return service({ fact: 'left', person: personById(action.userId, view) })
    case 'messageActionChatEditTitle':
      return service({ fact: 'title', title: action.title })
    case 'messageActionChatEditPhoto':
      return service({ fact: 'photo', photo: photoOf(action.photo, shown) })
    case 'messageActionChatDeletePhoto':
      return service({ fact: 'photo', photo: undefined })
    case 'messageActionChatCreate':
    case 'messageActionChannelCreate':
      return service({ fact: 'created', title: action.title })
    case 'messageActionChatMigrateTo': {
      const chat = nativeOf({ _: 'peerChannel', channelId: action.channelId })
      return service({ fact: 'moved_to', chat })
    }
    case 'messageActionChannelMigrateFrom': {
      const chat = nativeOf({ _: 'peerChat', chatId: action.chatId })
      return service({ fact: 'moved_from', chat })
    }
    case 'messageActionTopicCreate': {
      const { title: name, iconColor, iconEmojiId } = action
      const icon = iconEmojiId && { icon: iconEmojiId.toString() }
      return service({ fact: 'topic_created', name, iconColor, ...icon })
    }
    case 'messageActionTopicEdit':
      return topicEditOf(action)
    case 'messageActionStarGift': {
      const gift = announcedGiftOf(message, action, view)
      if (gift) return service({ fact: 'gift', gift })
      break
    }
    case 'messageActionSuggestedPostApproval':
    case 'messageActionSuggestedPostSuccess':
    case 'messageActionSuggestedPostRefund':
      return { kind: 'service', ...postFactOf(action, message) }
    case 'messageActionPinMessage':
    case 'messageActionTodoCompletions':
    case 'messageActionTodoAppendTasks': {
      const { replyTo } = message
      const answered = replyTo?._ === 'messageReplyHeader' ? replyTo.replyToMsgId : undefined
      if (answered !== undefined) return aboutMessage(action, `${answered}`)
    }
  }
  return { kind: 'unsupported', label: action._ }
}

function topicEditOf(action: tl.RawMessageActionTopicEdit): Content {
  const { title: name, iconEmojiId, closed } = action
  if (closed !== undefined) return service({ fact: closed ? 'topic_closed' : 'topic_reopened' })
  if (name === undefined && iconEmojiId === undefined) {
    return { kind: 'unsupported', label: action._ }
  }
  // Without an icon it is sent as zero.
  const icon = iconEmojiId && { icon: iconEmojiId.isZero() ? '' : iconEmojiId.toString() }
  return service({ fact: 'topic_edited', ...(name !== undefined && { name }), ...icon })
}

type AboutMessage =
  | tl.RawMessageActionPinMessage
  | tl.RawMessageActionTodoCompletions
  | tl.RawMessageActionTodoAppendTasks

/** These name the message that they are about by answering it. */
function aboutMessage(action: AboutMessage, message: string): Content {
  switch (action._) {
    case 'messageActionPinMessage':
      return service({ fact: 'pinned', message })
    case 'messageActionTodoCompletions': {
      const { completed: done, incompleted: undone } = action
      return service({ fact: 'tasks_done', message, done, undone })
    }
    case 'messageActionTodoAppendTasks':
      return service({ fact: 'tasks_added', message, tasks: action.list.map(taskOf) })
  }
}

type Fact =
  Extract<Content, { kind: 'service' }> extends infer Known
    ? Known extends unknown
      ? Omit<Known, 'kind'>
      : never
    : never

const service = (fact: Fact) => ({ kind: 'service', ...fact }) as Content

export function messageOf(message: ExistingMessage, view: View): Message {
  const chat = conversationOf(message, chatOf(message.peerId, view), view)
  const from = authorOf(message, chat, view)
  const shown = { of: 'message', chat: chat.native, message: message.id } as const
  const facts = {
    native: `${message.id}`,
    chat,
    at: message.date,
    ...(from && { from }),
    ...writtenFor(message, chat, view),
    ...replyOf(message, view),
    ...topicOf(message),
  }
  if (message._ === 'messageService') {
    return { ...facts, content: serviceOf(message, from, shown, view) }
  }
  const { editDate, editHide, fwdFrom, groupedId, postAuthor, noforwards } = message
  return {
    ...facts,
    content: contentOf(message, shown, view),
    ...(editDate !== undefined && !editHide && { editedAt: editDate }),
    ...(fwdFrom && { forward: originOf(fwdFrom, view) }),
    ...(groupedId && { album: groupedId.toString() }),
    ...(postAuthor && { signature: postAuthor }),
    ...(noforwards && { isProtected: true }),
    ...(message.viaBotId !== undefined && { via: personById(message.viaBotId, view) }),
    ...(message.effect && { effect: message.effect.toString() }),
    ...(message.suggestedPost && { suggestion: suggestionOf(message.suggestedPost) }),
    ...((message.paidSuggestedPostStars || message.paidSuggestedPostTon) && { isPaidPost: true }),
  }
}

/** Whether the account wrote it, on any device. Messages to itself are not marked as outgoing. */
export const isOwn = ({ out, peerId }: ExistingMessage, self: string): boolean =>
  out === true || nativeOf(peerId) === self

function authorOf(message: ExistingMessage, chat: Message['chat'], view: View): Person | undefined {
  if (message.fromId) return writerOf(message.fromId, chat, view)
  if (chat.surface === 'channel' || message.post) return undefined
  if (message.out) return personById(Number(view.self), view)
  return writerOf(message.peerId, chat, view)
}

/** Anonymous administrators write in the name of the group, channels in their own name. */
function writtenFor(
  { fromId }: ExistingMessage,
  chat: Message['chat'],
  view: View,
): Pick<Message, 'fromChat'> {
  if (!fromId || fromId._ === 'peerUser' || chat.surface === 'channel') return {}
  return { fromChat: chatOf(fromId, view) }
}

/** Answers to stories cannot be expressed in neutral terms. */
function replyOf(
  message: ExistingMessage,
  view: View,
): Pick<Message, 'replyTo' | 'quote' | 'answeredTask' | 'externalReply'> {
  const { replyTo } = message
  if (replyTo?._ !== 'messageReplyHeader' || replyTo.replyToScheduled) return {}
  const { todoItemId: answeredTask } = replyTo
  const quote = { ...quoteOf(replyTo), ...(answeredTask !== undefined && { answeredTask }) }
  // The network leaves out chat and number of a message of another private chat.
  if (replyTo.replyToPeerId || replyTo.replyFrom) {
    const externalReply = externalOf(replyTo, message, view)
    return { ...quote, ...(externalReply && { externalReply }) }
  }
  return { ...quote, ...answeredIn(replyTo) }
}

function quoteOf(header: tl.RawMessageReplyHeader): Pick<Message, 'quote'> {
  const { quoteText, quoteEntities, quoteOffset: position = 0, quote: isManual } = header
  if (!quoteText) return {}
  const text = textOf(quoteText, quoteEntities)
  return { quote: { ...text, position, ...(isManual && { isManual }) } }
}

function externalOf(
  header: tl.RawMessageReplyHeader,
  message: ExistingMessage,
  view: View,
): ExternalReply | undefined {
  const { replyFrom, replyToPeerId, replyToMsgId, replyMedia } = header
  const chat = replyToPeerId && chatOf(replyToPeerId, view)
  const known = replyFrom && originOf(replyFrom, view)
  const origin: Origin | undefined = known ?? (chat && { from: 'chat', chat, at: 0 })
  if (!origin || message._ !== 'message') return undefined
  // Files of the answered message could not be downloaded by the name of this message.
  const hasFile = replyMedia?._ === 'messageMediaPhoto' || replyMedia?._ === 'messageMediaDocument'
  const shown = { of: 'message', chat: nativeOf(message.peerId), message: message.id } as const
  const content: Content =
    replyMedia && !hasFile
      ? contentOf({ ...message, message: '', media: replyMedia }, shown, view)
      : { kind: 'unsupported', label: 'reply' }
  return {
    origin,
    content,
    ...(chat && { chat }),
    ...(replyToMsgId !== undefined && { message: `${replyToMsgId}` }),
  }
}

function answeredIn(replyTo: tl.RawMessageReplyHeader): Pick<Message, 'replyTo'> {
  if (replyTo.replyToMsgId === undefined) return {}
  // In a forum the first message of a topic stands for the topic.
  if (replyTo.forumTopic && replyTo.replyToTopId === undefined) return {}
  return { replyTo: { native: `${replyTo.replyToMsgId}` } }
}

/** The message that began a topic stands in it itself. */
function topicOf(message: ExistingMessage): Pick<Message, 'topic'> {
  const { replyTo } = message
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
