/** Messages in the reference's JSON. */
import type { Buttons, Content, Message, Origin, Text } from '../../../machines/content.ts'
import type { Ids } from '../../identities/ids.ts'
import { detectEntities } from '../entities/detect.ts'
import { mergeDetected } from '../entities/merge.ts'
import type { MessageEntity } from '../entities/types.ts'
import { chatJson, present, userJson } from './chat.ts'

/** Undefined where the bot API has no word for what the message carries. */
export function messageJson(message: Message, ids: Ids): object | undefined {
  const content = contentJson(message, ids)
  if (!content) return undefined
  const chat = chatJson(message.chat, ids)
  const isPost = message.chat.surface === 'channel'
  return {
    message_id: ids.message(message.chat.native, message.native),
    ...present({
      from: message.from && !isPost ? userJson(message.from, ids) : undefined,
      sender_chat: isPost ? chat : undefined,
      author_signature: message.signature,
    }),
    chat,
    date: message.at,
    ...present({
      edit_date: message.editedAt,
      media_group_id: message.album,
      reply_to_message: replyJson(message, ids),
    }),
    ...(message.forward && originJson(message.forward, ids)),
    ...content,
    ...(message.buttons?.length && { reply_markup: keyboardJson(message.buttons) }),
  }
}

function replyJson({ chat, replyTo }: Message, ids: Ids): object | undefined {
  if (!replyTo || ids.message(chat.native, replyTo.native) === undefined) return undefined
  if (replyTo.message) {
    // One level only: the inner message tells nothing of what it answered itself.
    const { replyTo: _, ...inner } = replyTo.message
    return messageJson(inner, ids)
  }
  return {
    message_id: ids.message(chat.native, replyTo.native),
    chat: chatJson(chat, ids),
    date: 0,
  }
}

function contentJson({ content, chat }: Message, ids: Ids): object | undefined {
  switch (content.kind) {
    case 'text':
      return { text: content.text, ...entitiesJson('entities', content, ids) }
    case 'location': {
      const location = { latitude: content.latitude, longitude: content.longitude }
      return { location, ...(content.venue && { venue: { location, ...content.venue } }) }
    }
    case 'contact':
      return {
        contact: present({
          phone_number: content.phone,
          first_name: content.firstName,
          last_name: content.lastName,
        }),
      }
    case 'dice':
      return { dice: { emoji: content.emoji, value: content.value } }
    case 'service':
      return serviceJson(content, chat.native, ids)
    case 'media':
    case 'poll':
    case 'unsupported':
      return undefined
  }
}

function serviceJson(
  content: Content & { kind: 'service' },
  chat: string,
  ids: Ids,
): object | undefined {
  switch (content.fact) {
    case 'joined': {
      const members = content.people.map((person) => userJson(person, ids))
      const [first] = members
      return { new_chat_members: members, new_chat_member: first, new_chat_participant: first }
    }
    case 'left': {
      const member = userJson(content.person, ids)
      return { left_chat_member: member, left_chat_participant: member }
    }
    case 'title':
      return { new_chat_title: content.title }
    case 'created':
      return { group_chat_created: true }
    case 'pinned': {
      const message_id = ids.message(chat, content.message)
      if (message_id === undefined) return undefined
      return { pinned_message: { message_id, date: 0, chat: { id: ids.chat(chat) } } }
    }
  }
}

/** The entities of the network, and those that every text carries by its words. */
function entitiesJson(name: string, { text, entities }: Text, ids: Ids): object {
  const marked = entities.map(({ person, customEmojiId, ...entity }) => ({
    ...entity,
    ...(customEmojiId && { custom_emoji_id: customEmojiId }),
    ...(person && { user: { id: ids.chat(person), is_bot: false, first_name: '' } }),
  })) as MessageEntity[]
  const merged = mergeDetected(marked, detectEntities(text))
  return merged.length > 0 ? { [name]: merged } : {}
}

export const keyboardJson = (buttons: Buttons) => ({
  inline_keyboard: buttons.map((row) =>
    row.map((button) =>
      'data' in button
        ? { text: button.text, callback_data: button.data }
        : { text: button.text, url: button.url },
    ),
  ),
})

function originJson(origin: Origin, ids: Ids): object {
  const date = origin.at
  switch (origin.from) {
    case 'person': {
      const user = userJson(origin.person, ids)
      return {
        forward_origin: { type: 'user', sender_user: user, date },
        forward_from: user,
        forward_date: date,
      }
    }
    case 'hidden':
      return {
        forward_origin: { type: 'hidden_user', sender_user_name: origin.name, date },
        forward_sender_name: origin.name,
        forward_date: date,
      }
    case 'chat': {
      const chat = chatJson(origin.chat, ids)
      const message = origin.message && ids.message(origin.chat.native, origin.message)
      const signature = origin.signature ? { author_signature: origin.signature } : {}
      return origin.chat.surface === 'channel'
        ? {
            forward_origin: { type: 'channel', chat, message_id: message ?? 0, date, ...signature },
            forward_from_chat: chat,
            ...(message && { forward_from_message_id: message }),
            forward_date: date,
          }
        : { forward_origin: { type: 'chat', sender_chat: chat, date }, forward_date: date }
    }
  }
}
