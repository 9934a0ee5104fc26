/** Operations about messages as calls of the bot API. */
import { failed } from '../../../../machines/model/failure.ts'
import type { MessageOperation, Operation } from '../../../../machines/model/operation.ts'
import { array, fields, native } from '../reading/fields.ts'
import { messageOf } from '../reading/message.ts'
import { surfaceOf } from '../reading/people.ts'
import { pollOf } from '../reading/poll.ts'
import { type Call, deliveryOf, type Pen, threadOf, toDone, toMessage } from './call.ts'
import { inputMedia, locationJson, sendingOf } from './content.ts'
import { markupOf, textAs, textMessage } from './text.ts'

type NativeOperation =
  | MessageOperation<string, string>
  | Extract<Operation, { readonly kind: 'remove_reaction' | 'draft' }>
type Of<Kind extends NativeOperation['kind']> = Extract<NativeOperation, { kind: Kind }>
type PassingOn = Extract<NativeOperation, { readonly from: string }>

export function messageCall(operation: NativeOperation, pen: Pen): Call {
  switch (operation.kind) {
    case 'send':
      return send(operation, pen)
    case 'send_album':
      return sendAlbum(operation, pen)
    case 'edit':
      return edit(operation, pen)
    case 'edit_caption':
      return change('editMessageCaption', operation, {
        ...textAs(operation.caption, 'caption', 'caption_entities', pen.flavour),
        ...(operation.captionAbove && { show_caption_above_media: true }),
      })
    case 'edit_buttons':
      return change('editMessageReplyMarkup', operation, {})
    case 'edit_location':
      return operation.location
        ? change('editMessageLiveLocation', operation, locationJson(operation.location))
        : change('stopMessageLiveLocation', operation, {})
    case 'stop_poll':
      return {
        ...change('stopPoll', operation, {}),
        read: (result) => ({ kind: 'poll', poll: pollOf(result) }),
      }
    case 'delete':
      return { method: 'deleteMessage', parameters: targetOf(operation), read: toDone }
    case 'forward':
      return {
        method: 'forwardMessage',
        parameters: { ...sourceOf(operation), ...deliveryOf(operation, pen.flavour) },
        read: toMessage,
      }
    case 'copy':
      return copy(operation, pen)
    case 'react':
      return react(operation)
    case 'remove_reaction': {
      const parameters = { ...targetOf(operation), user_id: Number(operation.person) }
      return { method: 'deleteMessageReaction', parameters, read: toDone }
    }
    case 'draft': {
      const { chat, draft: draft_id, text } = operation
      const parameters = {
        chat_id: Number(chat),
        draft_id,
        ...textAs(text, 'text', 'entities', pen.flavour),
      }
      return { method: 'sendMessageDraft', parameters, read: toDone }
    }
    case 'act': {
      const { chat, action, topic } = operation
      const parameters = { chat_id: Number(chat), action, ...threadOf(topic) }
      return { method: 'sendChatAction', parameters, read: toDone }
    }
    case 'answer': {
      const { callback: callback_query_id, text, alert: show_alert, url } = operation
      const parameters = { callback_query_id, text, show_alert, url }
      return { method: 'answerCallbackQuery', parameters, read: toDone }
    }
  }
}

function send(operation: Of<'send'>, { attachments, flavour }: Pen): Call {
  const { method, parameters } = sendingOf(operation.content, attachments, flavour)
  return {
    method,
    parameters: {
      chat_id: Number(operation.chat),
      ...parameters,
      ...deliveryOf(operation, flavour),
    },
    read: toMessage,
  }
}

function sendAlbum(operation: Of<'send_album'>, { attachments, flavour }: Pen): Call {
  const media = operation.contents.map((content) => inputMedia(content, attachments, flavour))
  return {
    method: 'sendMediaGroup',
    parameters: { chat_id: Number(operation.chat), media, ...deliveryOf(operation, flavour) },
    read: (result) => ({ kind: 'messages', messages: array(result, messageOf) }),
  }
}

function edit(operation: Of<'edit'>, { attachments, flavour }: Pen): Call {
  const { content } = operation
  if (content.kind === 'text') {
    return change('editMessageText', operation, textMessage(content, flavour))
  }
  if (content.kind === 'media' && flavour.editsMedia) {
    const media = inputMedia(content, attachments, flavour)
    return change('editMessageMedia', operation, { media })
  }
  const name = content.kind === 'media' ? content.media.kind : content.kind
  throw failed('bad_request', `editing ${name} is not supported on ${flavour.name}`)
}

/** The answer tells no more of a copy than its id. */
function copy(operation: PassingOn, { flavour }: Pen): Call {
  const { chat, caption } = operation
  return {
    method: 'copyMessage',
    parameters: {
      ...sourceOf(operation),
      ...(caption && textAs(caption, 'caption', 'caption_entities', flavour)),
      ...deliveryOf(operation, flavour),
    },
    read: (result) => ({
      kind: 'message',
      message: {
        native: native(fields(result).message_id),
        chat: { native: chat, surface: surfaceOf(Number(chat)) },
        at: Math.floor(Date.now() / 1000),
        content: { kind: 'unsupported', label: 'copy' },
      },
    }),
  }
}

function react(operation: Of<'react'>): Call {
  const reaction = operation.reactions.map((reaction) =>
    'emoji' in reaction
      ? { type: 'emoji', emoji: reaction.emoji }
      : { type: 'custom_emoji', custom_emoji_id: reaction.customEmojiId },
  )
  const parameters = { ...targetOf(operation), reaction, is_big: operation.isBig }
  return { method: 'setMessageReaction', parameters, read: toDone }
}

function change(
  method: string,
  operation: Of<'edit' | 'edit_caption' | 'edit_buttons' | 'edit_location' | 'stop_poll'>,
  parameters: object,
): Call {
  return {
    method,
    parameters: { ...targetOf(operation), ...parameters, ...markupOf(operation.buttons) },
    read: toMessage,
  }
}

const targetOf = ({ chat, message }: { readonly chat: string; readonly message: string }) => ({
  chat_id: Number(chat),
  message_id: Number(message),
})

const sourceOf = ({ chat, from, message }: PassingOn) => ({
  chat_id: Number(chat),
  from_chat_id: Number(from),
  message_id: Number(message),
})
