/** Methods beyond the reference: the chats of an account, their history, marks of what is read, and people by phone. */

import { failed } from '../../../machines/model/failure.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'
import { directTopicOf, directTopicParameters } from '../sending.ts'

/** As many as the reference gives in one answer. */
const PAGE = 100

const limitOf = (args: Arguments): number =>
  args.has('limit') ? args.integer('limit', { min: 1, max: PAGE }) : PAGE

const getChats: Method = {
  name: 'getChats',
  summary: 'The chats of the account, those with the newest messages first (beyond the reference)',
  scope: 'bot:receive',
  operation: 'list_chats',
  parameters: { offset: 'string', limit: 'integer' },
  required: [],
  run: async ({ args, perform }) => {
    const after = args.text('offset')
    return result(
      await perform({
        kind: 'list_chats',
        limit: limitOf(args),
        ...(after !== undefined && { after }),
      }),
    )
  },
}

const getChatHistory: Method = {
  name: 'getChatHistory',
  summary: 'Messages of a chat, the newest first (beyond the reference)',
  scope: 'bot:receive',
  operation: 'read_history',
  parameters: {
    chat_id: 'chat',
    ...directTopicParameters,
    before_message_id: 'integer',
    limit: 'integer',
  },
  required: ['chat_id'],
  run: async ({ args, perform }) => {
    const before = args.has('before_message_id') && {
      message: args.messageId('before_message_id'),
    }
    const from = { chat: args.chat(), ...directTopicOf(args) }
    return result(await perform({ kind: 'read_history', ...from, ...before, limit: limitOf(args) }))
  },
}

const markAsRead: Method = {
  name: 'markAsRead',
  summary: 'Marks a chat as read up to a message, or all of it (beyond the reference)',
  scope: 'bot:send',
  operation: 'mark_read',
  parameters: { chat_id: 'chat', ...directTopicParameters, message_id: 'integer' },
  required: ['chat_id'],
  run: async ({ args, perform }) => {
    const message = args.has('message_id') && { message: args.messageId('message_id') }
    const what = { chat: args.chat(), ...directTopicOf(args), ...message }
    return result(await perform({ kind: 'mark_read', ...what }))
  },
}

const resolvePhone: Method = {
  name: 'resolvePhone',
  summary: 'Whether a person with this phone number is on the network (beyond the reference)',
  scope: 'bot:receive',
  operation: 'resolve_phone',
  parameters: { phone_number: 'string' },
  required: ['phone_number'],
  run: async ({ args, perform }) => {
    const phone = `+${(args.text('phone_number') ?? '').replaceAll(/[\s().-]/g, '').replace(/^(\+|00)/, '')}`
    if (!/^\+[1-9]\d{4,14}$/.test(phone)) throw failed('bad_request', 'PHONE_NUMBER_INVALID')
    return result(await perform({ kind: 'resolve_phone', phone }))
  },
}

export const readingMethods = [getChats, getChatHistory, markAsRead, resolvePhone]
