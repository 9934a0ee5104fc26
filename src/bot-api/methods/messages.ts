/** Methods that send, change and delete messages. */
import { failed } from '../../../actors/errors.ts'
import { buttonsOf } from '../markup.ts'
import { type Call, type Method, result } from '../method.ts'
import { replyOf } from '../reply.ts'
import { textOf } from '../text.ts'

const formatting = { parse_mode: 'string', entities: 'json', link_preview_options: 'json' } as const

const sendMessage: Method = {
  name: 'sendMessage',
  summary: 'Sends a text message',
  scope: 'bot:send',
  operation: 'send',
  sends: true,
  parameters: {
    chat_id: 'chat',
    text: 'string',
    ...formatting,
    disable_notification: 'boolean',
    reply_parameters: 'json',
    reply_to_message_id: 'integer',
    reply_markup: 'json',
  },
  required: ['chat_id', 'text'],
  run: async (call) => {
    const { args, platform } = call
    const content = { kind: 'text' as const, ...textOf(args) }
    const buttons = buttonsOf(args, platform)
    const message = await call.perform({
      kind: 'send',
      chat: args.chat(),
      content,
      silent: args.boolean('disable_notification'),
      ...replyOf(args),
      ...(buttons && { buttons }),
    })
    return result(message)
  },
}

const editMessageText: Method = {
  name: 'editMessageText',
  summary: 'Changes the text of a message',
  scope: 'bot:send',
  operation: 'edit',
  parameters: {
    chat_id: 'chat',
    message_id: 'integer',
    text: 'string',
    ...formatting,
    reply_markup: 'json',
  },
  required: ['chat_id', 'message_id', 'text'],
  run: async (call) => {
    const { args, platform } = call
    if (!args.has('chat_id') && !args.has('message_id')) {
      if (!args.has('inline_message_id')) {
        throw failed('bad_request', 'message identifier is not specified')
      }
      throw failed('bad_request', `inline messages are not supported on ${platform.name}`)
    }
    const content = { kind: 'text' as const, ...textOf(args) }
    const buttons = buttonsOf(args, platform)
    const message = args.messageId('message_id')
    const chat = args.chat()
    return result(
      await call.perform({ kind: 'edit', chat, message, content, ...(buttons && { buttons }) }),
    )
  },
}

const deleteMessage: Method = {
  name: 'deleteMessage',
  summary: 'Deletes a message for everyone',
  scope: 'bot:send',
  operation: 'delete',
  parameters: { chat_id: 'chat', message_id: 'integer' },
  required: ['chat_id', 'message_id'],
  run: async ({ args, perform }) => {
    if (!args.has('chat_id')) throw failed('bad_request', 'chat identifier is not specified')
    if (!args.has('message_id')) throw failed('bad_request', 'message identifier is not specified')
    const message = args.messageId('message_id')
    return result(await perform({ kind: 'delete', chat: args.chat(), message }))
  },
}

const again = {
  chat_id: 'chat',
  from_chat_id: 'chat',
  message_id: 'integer',
  disable_notification: 'boolean',
} as const

const forwardMessage: Method = {
  name: 'forwardMessage',
  summary: 'Forwards a message and shows where it came from',
  scope: 'bot:send',
  operation: 'forward',
  sends: true,
  parameters: again,
  required: ['chat_id', 'from_chat_id', 'message_id'],
  run: async (call) => result(await sendAgain(call, 'forward')),
}

const copyMessage: Method = {
  name: 'copyMessage',
  summary: 'Sends the content of a message again, without its source',
  scope: 'bot:send',
  operation: 'copy',
  sends: true,
  parameters: { ...again, reply_parameters: 'json', reply_markup: 'json' },
  required: ['chat_id', 'from_chat_id', 'message_id'],
  run: async (call) => {
    const message = (await sendAgain(call, 'copy')) as { message_id: number }
    return result({ message_id: message.message_id })
  },
}

function sendAgain({ args, platform, perform }: Call, kind: 'forward' | 'copy') {
  const buttons = kind === 'copy' ? buttonsOf(args, platform) : undefined
  const { replyTo } = kind === 'copy' ? replyOf(args) : {}
  return perform({
    kind,
    chat: args.chat(),
    from: args.chat('from_chat_id'),
    message: args.messageId('message_id'),
    silent: args.boolean('disable_notification'),
    ...(replyTo !== undefined && { replyTo }),
    ...(buttons && { buttons }),
  })
}

export const messageMethods = [
  sendMessage,
  editMessageText,
  deleteMessage,
  forwardMessage,
  copyMessage,
]
