/** Methods about a chat: its description, typing, and the answer to a pressed button. */
import { failed } from '../../../machines/model/failure.ts'
import { type Method, result } from '../method.ts'
import { forBusiness, topicOf } from '../sending.ts'

const ACTIONS = [
  'typing',
  'upload_photo',
  'record_video',
  'upload_video',
  'record_voice',
  'upload_voice',
  'record_audio',
  'upload_audio',
  'upload_document',
  'choose_sticker',
  'find_location',
  'record_video_note',
  'upload_video_note',
  'cancel',
]

const ANSWER_LENGTH = 200

const getChat: Method = {
  name: 'getChat',
  summary: 'What is known of a chat',
  scope: undefined,
  operation: 'describe',
  parameters: { chat_id: 'chat' },
  required: ['chat_id'],
  run: async ({ args, perform }) => result(await perform({ kind: 'describe', chat: args.chat() })),
}

const sendChatAction: Method = {
  name: 'sendChatAction',
  summary: 'Shows that something is being written',
  scope: 'bot:send',
  operation: 'act',
  parameters: { ...forBusiness, chat_id: 'chat', message_thread_id: 'integer', action: 'string' },
  required: ['chat_id', 'action'],
  run: async ({ args, perform }) => {
    const action = (args.text('action') ?? '').toLowerCase()
    const chat = args.chat()
    if (!ACTIONS.includes(action)) {
      throw failed('bad_request', 'wrong parameter action in request')
    }
    return result(await perform({ kind: 'act', chat, action, ...topicOf(args) }))
  },
}

const answerCallbackQuery: Method = {
  name: 'answerCallbackQuery',
  summary: 'Answers a pressed button',
  scope: 'bot:send',
  operation: 'answer',
  parameters: {
    callback_query_id: 'string',
    text: 'string',
    show_alert: 'boolean',
    url: 'string',
  },
  required: ['callback_query_id'],
  run: async ({ args, perform }) => {
    const [text, url] = [args.text('text'), args.text('url')]
    if ([...(text ?? '')].length > ANSWER_LENGTH) throw failed('bad_request', 'MESSAGE_TOO_LONG')
    const answered = await perform({
      kind: 'answer',
      callback: args.text('callback_query_id') ?? '',
      alert: args.boolean('show_alert'),
      ...(text !== undefined && { text }),
      ...(url !== undefined && { url }),
    })
    return result(answered)
  },
}

export const chatMethods = [getChat, sendChatAction, answerCallbackQuery]
