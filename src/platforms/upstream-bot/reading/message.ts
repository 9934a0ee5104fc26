/** Messages of the reference. */
import type { Button, Buttons, Chat, Message, Origin } from '../../../../machines/model/content.ts'
import { contentOf } from './content.ts'
import {
  array,
  type Fields,
  fields,
  integer,
  maybe,
  maybeText,
  native,
  number,
  present,
} from './fields.ts'
import { chatOf, personOf } from './people.ts'

export function messageOf(value: unknown): Message {
  const message = fields(value)
  const chat = chatOf(message.chat)
  return present({
    native: native(message.message_id),
    chat,
    from: chat.surface === 'channel' ? undefined : maybe(message.from, personOf),
    at: integer(message.date),
    editedAt: number(message.edit_date),
    content: contentOf(message),
    ...contextOf(message, chat),
    forward: originOf(message),
    buttons: maybe(message.reply_markup, buttonsOf),
    album: maybeText(message.media_group_id),
    signature: maybeText(message.author_signature),
    isProtected: message.has_protected_content === true ? true : undefined,
  })
}

/** What stands in a topic and answers nothing else comes as an answer to the message that began it. */
function contextOf(message: Fields, { surface }: Chat): Pick<Message, 'replyTo' | 'topic'> {
  const replyTo = maybe(message.reply_to_message, replyOf)
  // There is no word here for threads of discussions, which lack the mark, nor for those of private chats.
  if (message.is_topic_message !== true || surface === 'private') return present({ replyTo })
  const topic = native(message.message_thread_id)
  if (replyTo?.native === topic) return { topic: replyTo }
  return present({ topic: { native: topic }, replyTo })
}

/** Of a message that is out of reach, its date is 0 and only its id is told. */
function replyOf(value: unknown): NonNullable<Message['replyTo']> {
  const replied = fields(value)
  const id = native(replied.message_id)
  if (replied.date === 0) return { native: id }
  // What it answered itself is nobody's business: one level only, however deep it goes.
  const message = messageOf({ ...replied, reply_to_message: undefined })
  return message.content.kind === 'unsupported' ? { native: id } : { native: id, message }
}

function buttonsOf(value: unknown): Buttons | undefined {
  const { inline_keyboard } = fields(value)
  return maybe(inline_keyboard, (rows) => array(rows, (row) => array(row, buttonOf)))
}

function buttonOf(value: unknown): Button {
  const { text, callback_data, url, ...action } = fields(value)
  const shown = maybeText(text) ?? ''
  if (typeof callback_data === 'string') return { text: shown, data: callback_data }
  return typeof url === 'string' ? { text: shown, url } : { text: shown, action }
}

function originOf(message: Fields): Origin | undefined {
  if (message.forward_origin !== undefined) return newOriginOf(fields(message.forward_origin))
  const at = number(message.forward_date)
  return at === undefined ? undefined : oldOriginOf(message, at)
}

function newOriginOf(origin: Fields): Origin | undefined {
  const at = number(origin.date) ?? 0
  const signature = maybeText(origin.author_signature)
  switch (origin.type) {
    case 'user':
      return { from: 'person', person: personOf(origin.sender_user), at }
    case 'hidden_user':
      return { from: 'hidden', name: maybeText(origin.sender_user_name) ?? '', at }
    case 'chat':
      return present({ from: 'chat' as const, chat: chatOf(origin.sender_chat), signature, at })
    case 'channel': {
      const message = maybe(origin.message_id, native)
      return present({ from: 'chat' as const, chat: chatOf(origin.chat), message, signature, at })
    }
    default:
      return undefined
  }
}

/** As servers write it that follow an earlier version of the reference. */
function oldOriginOf(message: Fields, at: number): Origin | undefined {
  if (message.forward_from_chat !== undefined) {
    return present({
      from: 'chat' as const,
      chat: chatOf(message.forward_from_chat),
      message: maybe(message.forward_from_message_id, native),
      signature: maybeText(message.forward_signature),
      at,
    })
  }
  if (message.forward_from !== undefined) {
    return { from: 'person', person: personOf(message.forward_from), at }
  }
  const name = maybeText(message.forward_sender_name)
  return name === undefined ? undefined : { from: 'hidden', name, at }
}
