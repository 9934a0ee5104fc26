/** Methods that change or delete an ephemeral message, which one member of a group sees. */
import { failed } from '../../../machines/model/failure.ts'
import { buttonsOf } from '../markup.ts'
import { type Call, type Method, result } from '../method.ts'
import { richContent } from '../rich/content.ts'
import { captionParameters } from '../sending.ts'
import { captionOf, previewOf, previewParameters, textOf } from '../text.ts'
import { editedMedia } from './send-media.ts'

const target = {
  chat_id: 'chat',
  receiver_user_id: 'integer',
  ephemeral_message_id: 'integer',
} as const
const required = Object.keys(target)
const editing = { scope: 'bot:send', operation: 'edit_ephemeral', required } as const

function targetOf({ args }: Call) {
  const ephemeral = args.messageId('ephemeral_message_id')
  if (ephemeral === 0) throw failed('bad_request', 'invalid ephemeral_message_id specified')
  return { chat: args.chat(), receiver: args.userId('receiver_user_id'), ephemeral }
}

function changedOf(call: Call) {
  const buttons = buttonsOf(call.args, call.platform)
  return { kind: 'edit_ephemeral' as const, ...targetOf(call), ...(buttons && { buttons }) }
}

const editEphemeralMessageText: Method = {
  name: 'editEphemeralMessageText',
  summary: 'Changes the text of an ephemeral message',
  ...editing,
  parameters: {
    ...target,
    text: 'string',
    parse_mode: 'string',
    entities: 'json',
    rich_message: 'json',
    ...previewParameters,
    reply_markup: 'json',
  },
  required: [...required, 'text'],
  run: async (call) => {
    const change = changedOf(call)
    const content = call.args.has('rich_message')
      ? await richContent(call)
      : { kind: 'text' as const, ...textOf(call.args), ...previewOf(call.args) }
    return result(await call.perform({ ...change, content }))
  },
}

const editEphemeralMessageMedia: Method = {
  name: 'editEphemeralMessageMedia',
  summary: 'Puts another file into an ephemeral message',
  ...editing,
  content: 'photo',
  parameters: { ...target, media: 'json', reply_markup: 'json' },
  required: [...required, 'media'],
  run: async (call) => {
    const change = changedOf(call)
    const content = await editedMedia(call)
    return result(await call.perform({ ...change, content }))
  },
}

const editEphemeralMessageCaption: Method = {
  name: 'editEphemeralMessageCaption',
  summary: 'Changes the caption of an ephemeral message',
  ...editing,
  parameters: { ...target, ...captionParameters, reply_markup: 'json' },
  run: async (call) => {
    const change = changedOf(call)
    const caption = captionOf(call.args)
    const above = call.args.boolean('show_caption_above_media') && { captionAbove: true }
    return result(await call.perform({ ...change, caption, ...above }))
  },
}

const editEphemeralMessageReplyMarkup: Method = {
  name: 'editEphemeralMessageReplyMarkup',
  summary: 'Changes the buttons of an ephemeral message',
  ...editing,
  parameters: { ...target, reply_markup: 'json' },
  run: async (call) => result(await call.perform(changedOf(call))),
}

const deleteEphemeralMessage: Method = {
  name: 'deleteEphemeralMessage',
  summary: 'Deletes an ephemeral message',
  scope: 'bot:send',
  operation: 'delete_ephemeral',
  parameters: target,
  required,
  run: async (call) => result(await call.perform({ kind: 'delete_ephemeral', ...targetOf(call) })),
}

export const ephemeralMethods = [
  editEphemeralMessageText,
  editEphemeralMessageMedia,
  editEphemeralMessageCaption,
  editEphemeralMessageReplyMarkup,
  deleteEphemeralMessage,
]
