/** Methods that change a message that was sent before. */
import { failed } from '../../../machines/model/failure.ts'
import { type Method, result } from '../method.ts'
import { richContent } from '../rich/content.ts'
import { captionParameters, edit, editParameters } from '../sending.ts'
import { captionOf, previewOf, previewParameters, textOf } from '../text.ts'
import { liveLocation, locationOf } from './structured.ts'

const required = ['chat_id', 'message_id']

const editMessageText: Method = {
  name: 'editMessageText',
  summary: 'Changes the text of a message',
  scope: 'bot:send',
  operation: 'edit',
  parameters: {
    ...editParameters,
    text: 'string',
    parse_mode: 'string',
    entities: 'json',
    rich_message: 'json',
    ...previewParameters,
  },
  required: [...required, 'text'],
  run: async (call) => {
    const { args } = call
    if (args.has('rich_message')) {
      return result(
        await edit(call, async () => ({ kind: 'edit', content: await richContent(call) })),
      )
    }
    const content = () => ({ kind: 'text' as const, ...textOf(args), ...previewOf(args) })
    return result(await edit(call, () => ({ kind: 'edit', content: content() })))
  },
}

const editMessageCaption: Method = {
  name: 'editMessageCaption',
  summary: 'Changes the caption of a message',
  scope: 'bot:send',
  operation: 'edit_caption',
  parameters: { ...editParameters, ...captionParameters },
  required,
  run: async (call) => {
    const above = call.args.boolean('show_caption_above_media') && { captionAbove: true }
    const caption = () => captionOf(call.args)
    return result(await edit(call, () => ({ kind: 'edit_caption', caption: caption(), ...above })))
  },
}

const editMessageReplyMarkup: Method = {
  name: 'editMessageReplyMarkup',
  summary: 'Changes the buttons of a message',
  scope: 'bot:send',
  operation: 'edit_buttons',
  parameters: editParameters,
  required,
  run: async (call) => result(await edit(call, () => ({ kind: 'edit_buttons' }))),
}

const editMessageLiveLocation: Method = {
  name: 'editMessageLiveLocation',
  summary: 'Moves a live location',
  scope: 'bot:send',
  operation: 'edit_location',
  parameters: { ...editParameters, ...liveLocation },
  required: [...required, 'latitude', 'longitude'],
  run: async (call) => {
    const location = () => locationOf(call.args)
    return result(await edit(call, () => ({ kind: 'edit_location', location: location() })))
  },
}

const stopMessageLiveLocation: Method = {
  name: 'stopMessageLiveLocation',
  summary: 'Ends a live location',
  scope: 'bot:send',
  operation: 'edit_location',
  parameters: editParameters,
  required,
  run: async (call) => result(await edit(call, () => ({ kind: 'edit_location' }))),
}

const deleteMessage: Method = {
  name: 'deleteMessage',
  summary: 'Deletes a message for everyone',
  scope: 'bot:send',
  operation: 'delete',
  parameters: { chat_id: 'chat', message_id: 'integer' },
  required,
  run: async ({ args, perform }) => {
    if (!args.has('chat_id')) throw failed('bad_request', 'chat identifier is not specified')
    const message = args.messageId('message_id')
    if (message === 0) throw failed('bad_request', 'message identifier is not specified')
    return result(await perform({ kind: 'delete', chat: args.chat(), message }))
  },
}

export const editMethods = [
  editMessageText,
  editMessageCaption,
  editMessageReplyMarkup,
  editMessageLiveLocation,
  stopMessageLiveLocation,
  deleteMessage,
]
