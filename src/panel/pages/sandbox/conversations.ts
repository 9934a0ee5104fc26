/** The chats of a person, newest first: chats with messages, then groups without messages. */
import type { Chat, Group, Inbox, Message, PersonName } from '../../api/sandbox.ts'

export interface Conversation {
  readonly chat: Chat
  readonly last: Message | undefined
}

export function conversationsOf(
  person: number,
  inbox: Inbox,
  groups: readonly Group[],
): readonly Conversation[] {
  const found = new Map<number, Conversation>()
  for (const message of inbox.messages) {
    if (!found.has(message.chat.id)) {
      found.set(message.chat.id, { chat: message.chat, last: message })
    }
  }
  for (const group of groups) {
    if (!found.has(group.id) && group.members.some((one) => one.person.id === person)) {
      found.set(group.id, { chat: group, last: undefined })
    }
  }
  return [...found.values()]
}

/** All existing and possible chats: those of the list, then people without a chat yet. */
export function chatsOf(
  conversations: readonly Conversation[],
  others: readonly PersonName[],
): readonly Chat[] {
  const chats = conversations.map(({ chat }) => chat)
  const known = new Set(chats.map(({ id }) => id))
  return [...chats, ...others.filter(({ id }) => !known.has(id)).map(privateChat)]
}

/** Oldest first. */
export const messagesIn = (inbox: Inbox, chat: number): readonly Message[] =>
  inbox.messages
    .filter((message) => message.chat.id === chat)
    .sort((a, b) => a.message_id - b.message_id)

/** The same with the ephemeral messages of the chat at their times; one may stand in another's place. */
export function linesIn(inbox: Inbox, chat: number): readonly Message[] {
  const own = inbox.ephemeral.filter((message) => message.chat.id === chat)
  const replaced = new Map(own.map((message) => [message.replaces_message_id, message]))
  const lines = messagesIn(inbox, chat).map((one) => replaced.get(one.message_id) ?? one)
  const others = own.filter((message) => !lines.includes(message)).reverse()
  return others.reduce<readonly Message[]>((all, message) => {
    const after = all.findLastIndex(({ date }) => date <= message.date) + 1
    return all.toSpliced(after, 0, message)
  }, lines)
}

/** The key that tells a message of a chat apart from the others. */
export const lineKey = ({ message_id, ephemeral_message_id: ephemeral }: Message): string =>
  ephemeral === undefined ? `${message_id}` : `ephemeral ${ephemeral}`

/** A chat with a person without messages yet. */
export const privateChat = ({ id, first_name, last_name, username }: PersonName): Chat => ({
  id,
  type: 'private',
  first_name,
  ...(last_name && { last_name }),
  ...(username && { username }),
})
