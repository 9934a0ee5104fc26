/** The sandbox's rows in the words of the platform port. */
import type {
  Buttons,
  Chat,
  Content,
  Message,
  Origin,
  Person,
} from '../../../machines/model/content.ts'
import type { ChatCard, MessageCard, PersonCard, View } from './cards.ts'

export function personOf(card: PersonCard): Person {
  return {
    native: String(card.id),
    firstName: card.first_name,
    ...(card.last_name !== null && { lastName: card.last_name }),
    ...(card.username !== null && { username: card.username }),
    ...(card.language_code !== null && { languageCode: card.language_code }),
  }
}

export function privateChatWith(other: PersonCard): Chat {
  const { native, firstName, lastName, username } = personOf(other)
  return {
    native,
    surface: 'private',
    firstName,
    ...(lastName !== undefined && { lastName }),
    ...(username !== undefined && { username }),
  }
}

export function chatOf(card: ChatCard, other: PersonCard | null): Chat {
  if (card.kind === 'private') return privateChatWith(other!)
  return {
    native: String(card.native),
    surface: card.kind,
    title: card.title ?? '',
    ...(card.username !== null && { username: card.username }),
    ...(card.description !== null && { description: card.description }),
    ...(card.is_forum && { isForum: true }),
  }
}

export function messageOf(view: View): Message {
  const { message, chat, other, sender, reply, reply_sender } = view
  const seen = chatOf(chat, other)
  const answered = reply && reply_sender && bareMessage(reply, seen, reply_sender)
  const known = answered && { message: answered }
  const shown = bareMessage(message, seen, sender)
  if (message.reply_to !== null) {
    return { ...shown, replyTo: { native: String(message.reply_to), ...known } }
  }
  return shown.topic ? { ...shown, topic: { ...shown.topic, ...known } } : shown
}

/** A channel's posts are the channel's own, whoever wrote them. */
function bareMessage(card: MessageCard, chat: Chat, sender: PersonCard): Message {
  return {
    native: String(card.id),
    chat,
    ...(chat.surface !== 'channel' && { from: personOf(sender) }),
    at: card.at,
    ...(card.edited_at !== null && { editedAt: card.edited_at }),
    content: card.content as Content,
    ...(card.forward !== null && { forward: card.forward as Origin }),
    ...(card.buttons !== null && { buttons: card.buttons as Buttons }),
    ...(card.album && { album: card.album }),
    ...(card.is_protected && { isProtected: true }),
    ...(card.topic && { topic: { native: String(card.topic) } }),
  }
}
