/** Between the messenger and the model: rows become messages, chats and people, and native ids become numbers. */
import type { Buttons } from '../../../machines/model/buttons.ts'
import type { Chat, Content, Message, Origin } from '../../../machines/model/content.ts'
import {
  failed,
  messageNotFound,
  notFound,
  type RequestFailed,
} from '../../../machines/model/failure.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { Poll } from '../../../machines/model/poll.ts'
import type { ChatRow, MessageRow, MessageView, PersonRow } from '../network/rows.ts'

/** The facts of a message that few messages have. */
export type MessageAttributes = Pick<
  Message,
  | 'quote'
  | 'externalReply'
  | 'ephemeral'
  | 'via'
  | 'sentBy'
  | 'suggestion'
  | 'isPaidPost'
  | 'fromChat'
  | 'effect'
  | 'signature'
  | 'senderTag'
> & {
  /** Written in the name of the group. */
  readonly isAnonymous?: true
  /** The bot of `via` wrote it; its sender has called the bot. */
  readonly isGuest?: true
}

export function personOf(row: PersonRow): Person {
  return {
    native: String(row.id),
    firstName: row.first_name,
    ...(row.last_name !== null && { lastName: row.last_name }),
    ...(row.username !== null && { username: row.username }),
    ...(row.language_code !== null && { languageCode: row.language_code }),
    ...(row.is_premium && { isPremium: true }),
    ...(row.is_bot && { isBot: true }),
  }
}

export function privateChatWith(other: PersonRow): Chat {
  const { native, firstName, lastName, username } = personOf(other)
  return {
    native,
    surface: 'private',
    firstName,
    ...(lastName !== undefined && { lastName }),
    ...(username !== undefined && { username }),
  }
}

export function chatOf(row: ChatRow, other: PersonRow | null): Chat {
  if (row.kind === 'private') return privateChatWith(other!)
  return {
    native: String(row.native),
    surface: row.kind,
    title: row.title ?? '',
    ...(row.username !== null && { username: row.username }),
    ...(row.description !== null && { description: row.description }),
    ...(row.is_forum && { isForum: true }),
    ...(row.permissions && { permissions: row.permissions }),
    ...(row.direct && { directWith: personOf(row.direct) }),
  }
}

export function messageOf(view: MessageView): Message {
  const { message, chat, other, sender, reply, reply_sender } = view
  const seen = chatOf(chat, other)
  const answered = reply && reply_sender && bareMessage(reply, seen, reply_sender)
  const known = answered && { message: answered }
  const shown = withAbout(bareMessage(message, seen, sender), view, seen)
  if (message.reply_to !== null) {
    return { ...shown, replyTo: { native: String(message.reply_to), ...known } }
  }
  return shown.topic ? { ...shown, topic: { ...shown.topic, ...known } } : shown
}

/** A service message with the message that it is about, as everybody may see that one. */
function withAbout(message: Message, { about, about_sender }: MessageView, seen: Chat): Message {
  const { content } = message
  if (!about || !about_sender || content.kind !== 'service' || !('message' in content)) {
    return message
  }
  const shown = withoutHiddenVotes(bareMessage(about, seen, about_sender), false)
  return { ...message, content: { ...content, about: withoutAnswer(shown) } as Content }
}

/** Without the right answers of a quiz that is open. */
export function withoutAnswer(message: Message): Message {
  const { content } = message
  if (content.kind !== 'poll' || content.poll.isClosed) return message
  const { right: _, explanation: __, explanationMedia: ___, ...poll } = content.poll
  return { ...message, content: { kind: 'poll', poll } }
}

/** The poll as it is shown to people who may vote in it, where the votes are hidden until it closes. */
export const withoutVotes = (poll: Poll): Poll =>
  poll.hidesResults && !poll.isClosed
    ? { ...poll, voters: 0, options: poll.options.map((option) => ({ ...option, voters: 0 })) }
    : poll

/** The content as people other than its author see it. */
export const votesHidden = (content: Content): Content =>
  content.kind === 'poll' ? { ...content, poll: withoutVotes(content.poll) } : content

/** Hides votes from everybody but the owner of the poll. A forward does not show them to its sender either. */
export function withoutHiddenVotes<Shown extends Message>(shown: Shown, isOwn: boolean): Shown {
  const answered = shown.replyTo?.message
  return {
    ...shown,
    ...(!(isOwn && !shown.forward) && { content: votesHidden(shown.content) }),
    ...(answered?.content.kind === 'poll' && {
      replyTo: {
        ...shown.replyTo,
        message: { ...answered, content: votesHidden(answered.content) },
      },
    }),
  }
}

/** A post belongs to its channel: its author is not shown. */
function bareMessage(row: MessageRow, chat: Chat, sender: PersonRow): Message {
  return {
    native: String(row.id),
    chat,
    ...(chat.surface !== 'channel' && { from: personOf(sender) }),
    at: row.at,
    ...(row.edited_at !== null && { editedAt: row.edited_at }),
    content: row.content as Content,
    ...(row.forward !== null && { forward: row.forward as Origin }),
    ...(row.buttons !== null && { buttons: row.buttons as Buttons }),
    ...(row.album && { album: row.album }),
    ...(row.is_protected && { isProtected: true }),
    ...shownAttributes(row, chat, sender),
    ...(row.topic && { topic: { native: String(row.topic) } }),
  }
}

/** The reference's stand-in for the author of a message in the name of a channel. */
const CHANNEL_BOT: Person = {
  native: '136817688',
  firstName: 'Channel',
  username: 'Channel_Bot',
  isBot: true,
}

/** The reference's stand-in for the author of a message in the name of its group. */
const GROUP_BOT: Person = {
  native: '1087968824',
  firstName: 'Group',
  username: 'GroupAnonymousBot',
  isBot: true,
}

function shownAttributes(
  { attributes }: MessageRow,
  chat: Chat,
  sender: PersonRow,
): Partial<Message> {
  const { isGuest, isAnonymous, via, ...shown } = (attributes ?? {}) as MessageAttributes
  const name = via && !isGuest ? { via } : {}
  if (isAnonymous) return { ...shown, ...name, from: GROUP_BOT, fromChat: bareChat(chat) }
  if (shown.fromChat) return { ...shown, from: CHANNEL_BOT }
  if (!via) return shown
  return isGuest ? { ...shown, from: via, guestCaller: personOf(sender) } : { ...shown, via }
}

/** The bot that a message was sent by way of, as it was named then. */
export const viaOf = ({ attributes }: Pick<MessageRow, 'attributes'>): Person | undefined =>
  (attributes as MessageAttributes | null)?.via

/** A chat as the sender of a message, without its details. */
const bareChat = ({ description: _, ...chat }: Chat): Chat => chat

/** A message forwarded again keeps its first origin. What was written in the name of a chat has it as its origin. */
export function originOf({ message, chat, other, sender }: MessageView): Origin {
  if (message.forward !== null) return message.forward as Origin
  const { fromChat, isAnonymous, signature } = (message.attributes ?? {}) as MessageAttributes
  const writer = isAnonymous ? bareChat(chatOf(chat, other)) : fromChat
  if (writer) {
    return { from: 'chat', chat: writer, ...(signature && { signature }), at: message.at }
  }
  if (chat.kind !== 'channel') return { from: 'person', person: personOf(sender), at: message.at }
  return {
    from: 'chat',
    chat: chatOf(chat, other),
    message: String(message.id),
    at: message.at,
  }
}

/** A native id is an integer in decimal. Any other text is the id of nothing. */
const form = /^-?\d{1,15}$/

export function parseChatId(text: string): number {
  if (!form.test(text)) throw notFound('chat')
  return Number(text)
}

/** `purpose` completes the text of the refusal: `message to edit not found`. */
export function parseMessageId(text: string, purpose: string): number {
  if (!form.test(text)) throw noMessageTo(purpose)
  return Number(text)
}

export const noMessageTo = (purpose: string): RequestFailed =>
  purpose === 'forward'
    ? failed('bad_request', 'message to forward not found', { reason: 'forward_not_found' })
    : messageNotFound(`message to ${purpose}`)

export function parseTopicId(text: string): number {
  if (!form.test(text)) throw notFound('message thread')
  return Number(text)
}

export interface MessageKey {
  /** The id of the chat's row. */
  readonly chat: number
  readonly message: number
}

/** The name of a message for the bot that it was sent by way of: the bot need not be in the chat. */
export const inlineId = ({ chat, message }: MessageKey): string =>
  Buffer.from(`${chat}.${message}`).toString('base64url')

/** Undefined for a text that names no message. */
export function parseInlineId(text: string): MessageKey | undefined {
  const [, chat, message] =
    /^(\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString()) ?? []
  return chat === undefined ? undefined : { chat: Number(chat), message: Number(message) }
}
