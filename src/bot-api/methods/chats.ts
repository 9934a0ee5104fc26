/** Methods about a chat: its description, typing, answers to pressed buttons, and its settings. */
import { failed } from '../../../machines/model/failure.ts'
import type { PublicOperation } from '../../../machines/model/operation.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, type ParameterType, result } from '../method.ts'
import { businessParameters, topicOf } from '../sending.ts'
import { permissions, permissionsOf } from './members.ts'

const ACTIONS = [
  'typing',
  'upload_photo',
  'record_video',
  'upload_video',
  'record_voice',
  'upload_voice',
  'upload_document',
  'choose_sticker',
  'find_location',
  'record_video_note',
  'upload_video_note',
  'cancel',
]

/** Names that these had once, or in another place of the reference. */
const OLDER: Readonly<Record<string, string>> = {
  record_audio: 'record_voice',
  upload_audio: 'upload_voice',
  pick_up_location: 'find_location',
}

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
  parameters: {
    ...businessParameters,
    chat_id: 'chat',
    message_thread_id: 'integer',
    action: 'string',
  },
  required: ['chat_id', 'action'],
  run: async ({ args, perform }) => {
    const named = (args.text('action') ?? '').toLowerCase()
    const action = OLDER[named] ?? named
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

type Parameters = Readonly<Record<string, ParameterType>>

/** All of them name a chat, do one thing there and answer `true`. */
const change = (
  name: string,
  summary: string,
  parameters: Parameters,
  required: readonly string[],
  operation: PublicOperation['kind'],
  read: (args: Arguments) => PublicOperation,
): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation,
  parameters: { chat_id: 'chat', ...parameters },
  required: ['chat_id', ...required],
  run: async ({ args, perform }) => result(await perform(read(args))),
})

const titleOf = (args: Arguments): string => {
  const title = (args.text('title') ?? '').trim()
  if (title === '') throw failed('bad_request', 'title must be non-empty')
  return [...title].slice(0, 128).join('')
}

export const chatMethods: readonly Method[] = [
  getChat,
  sendChatAction,
  answerCallbackQuery,
  change(
    'setChatTitle',
    'Gives a chat a name',
    { title: 'string' },
    ['title'],
    'set_title',
    (args) => ({
      kind: 'set_title',
      chat: args.chat(),
      title: titleOf(args),
    }),
  ),
  change(
    'setChatDescription',
    'Says what a chat is about',
    { description: 'string' },
    [],
    'set_description',
    (args) => ({
      kind: 'set_description',
      chat: args.chat(),
      description: [...(args.text('description') ?? '')].slice(0, 255).join(''),
    }),
  ),
  change('deleteChatPhoto', 'Takes the photo of a chat away', {}, [], 'set_photo', (args) => ({
    kind: 'set_photo',
    chat: args.chat(),
  })),
  change(
    'setChatPermissions',
    'Says what ordinary members may do',
    permissions,
    ['permissions'],
    'set_permissions',
    (args) => ({
      kind: 'set_permissions',
      chat: args.chat(),
      permissions: permissionsOf(args),
    }),
  ),
  change(
    'pinChatMessage',
    'Pins a message',
    { ...businessParameters, message_id: 'integer', disable_notification: 'boolean' },
    ['message_id'],
    'pin',
    (args) => ({
      kind: 'pin',
      chat: args.chat(),
      message: args.messageId('message_id'),
      silent: args.boolean('disable_notification'),
    }),
  ),
  change(
    'unpinChatMessage',
    'Unpins a message; the newest one unless told which',
    { ...businessParameters, message_id: 'integer' },
    [],
    'unpin',
    (args) => {
      const message = args.messageId('message_id')
      return { kind: 'unpin', chat: args.chat(), ...(message > 0 && { message }) }
    },
  ),
  change('unpinAllChatMessages', 'Unpins every message', {}, [], 'unpin_all', (args) => ({
    kind: 'unpin_all',
    chat: args.chat(),
  })),
  change('leaveChat', 'Leaves a chat', {}, [], 'leave', (args) => ({
    kind: 'leave',
    chat: args.chat(),
  })),
]
