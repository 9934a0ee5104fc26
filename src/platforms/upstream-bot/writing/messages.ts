/** Operations about messages, and the sticker sets that messages use, as calls of the bot API. */
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../../machines/model/operation.ts'
import { array, fields, native } from '../reading/fields.ts'
import { stickerSetOf } from '../reading/media.ts'
import { messageOf } from '../reading/message.ts'
import { surfaceOf } from '../reading/people.ts'
import { pollOf } from '../reading/poll.ts'
import { inputMedia, locationJson, sendingOf } from './content.ts'
import { type Context, deliveryOf, threadOf, toMessage } from './context.ts'
import { markupOf, textAs, textMessage } from './text.ts'

export const messages: Handlers<Context> = {
  async send(context, operation) {
    const { attachments, dialect } = context
    const { method, parameters } = sendingOf(operation.content, attachments, dialect)
    const delivery = deliveryOf(operation, dialect)
    const chat_id = Number(operation.chat)
    return context.call(method, { chat_id, ...parameters, ...delivery }, toMessage)
  },

  send_album(context, operation) {
    const { attachments, dialect } = context
    const media = operation.contents.map((content) => inputMedia(content, attachments, dialect))
    const chat_id = Number(operation.chat)
    return context.call(
      'sendMediaGroup',
      { chat_id, media, ...deliveryOf(operation, dialect) },
      (result) => ({ kind: 'messages', messages: array(result, messageOf) }),
    )
  },

  async edit(context, operation) {
    const { attachments, dialect } = context
    const { content } = operation
    if (content.kind === 'text') {
      return change(context, 'editMessageText', operation, textMessage(content, dialect))
    }
    if (content.kind === 'media' && dialect.editsMedia) {
      const media = inputMedia(content, attachments, dialect)
      return change(context, 'editMessageMedia', operation, { media })
    }
    const name = content.kind === 'media' ? content.media.kind : content.kind
    throw failed('bad_request', `editing ${name} is not supported on ${dialect.name}`)
  },

  edit_caption: (context, operation) =>
    change(context, 'editMessageCaption', operation, {
      ...textAs(operation.caption, 'caption', 'caption_entities', context.dialect),
      ...(operation.captionAbove && { show_caption_above_media: true }),
    }),

  edit_buttons: (context, operation) => change(context, 'editMessageReplyMarkup', operation, {}),

  edit_location: (context, operation) =>
    operation.location
      ? change(context, 'editMessageLiveLocation', operation, locationJson(operation.location))
      : change(context, 'stopMessageLiveLocation', operation, {}),

  stop_poll: (context, operation) =>
    change(context, 'stopPoll', operation, {}, (result) => ({
      kind: 'poll',
      poll: pollOf(result),
    })),

  delete: (context, operation) => context.call('deleteMessage', targetOf(operation)),

  forward: (context, operation) =>
    context.call(
      'forwardMessage',
      { ...sourceOf(operation), ...deliveryOf(operation, context.dialect) },
      toMessage,
    ),

  /** The answer contains only the id of the copy. */
  copy(context, operation) {
    const { dialect } = context
    const { chat, caption } = operation
    const parameters = {
      ...sourceOf(operation),
      ...(caption && textAs(caption, 'caption', 'caption_entities', dialect)),
      ...deliveryOf(operation, dialect),
    }
    return context.call('copyMessage', parameters, (result) => ({
      kind: 'message',
      message: {
        native: native(fields(result).message_id),
        chat: { native: chat, surface: surfaceOf(Number(chat)) },
        at: Math.floor(Date.now() / 1000),
        content: { kind: 'unsupported', label: 'copy' },
      },
    }))
  },

  react(context, operation) {
    const reaction = operation.reactions.map((reaction) =>
      'emoji' in reaction
        ? { type: 'emoji', emoji: reaction.emoji }
        : { type: 'custom_emoji', custom_emoji_id: reaction.customEmojiId },
    )
    const parameters = { ...targetOf(operation), reaction, is_big: operation.isBig }
    return context.call('setMessageReaction', parameters)
  },

  remove_reaction(context, operation) {
    const parameters = { ...targetOf(operation), user_id: Number(operation.person) }
    return context.call('deleteMessageReaction', parameters)
  },

  draft(context, { chat, draft: draft_id, text }) {
    const shown = textAs(text, 'text', 'entities', context.dialect)
    return context.call('sendMessageDraft', { chat_id: Number(chat), draft_id, ...shown })
  },

  act: (context, { chat, action, topic }) =>
    context.call('sendChatAction', { chat_id: Number(chat), action, ...threadOf(topic) }),

  answer(context, { callback: callback_query_id, text, alert: show_alert, url }) {
    return context.call('answerCallbackQuery', { callback_query_id, text, show_alert, url })
  },

  sticker_set: (context, { name }) =>
    context.call('getStickerSet', { name }, (result) => ({
      kind: 'stickers',
      set: stickerSetOf(result),
    })),
}

function change(
  context: Context,
  method: string,
  operation: OperationOf<'edit' | 'edit_caption' | 'edit_buttons' | 'edit_location' | 'stop_poll'>,
  parameters: object,
  read = toMessage,
): Promise<OperationResult> {
  const all = { ...targetOf(operation), ...parameters, ...markupOf(operation.buttons) }
  return context.call(method, all, read)
}

const targetOf = ({ chat, message }: { readonly chat: string; readonly message: string }) => ({
  chat_id: Number(chat),
  message_id: Number(message),
})

const sourceOf = ({ chat, from, message }: OperationOf<'forward' | 'copy'>) => ({
  chat_id: Number(chat),
  from_chat_id: Number(from),
  message_id: Number(message),
})
