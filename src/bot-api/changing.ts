/** What every editing method shares: which message is meant, and its buttons. */
import { failed } from '../../machines/model/failure.ts'
import { buttonsOf } from './markup.ts'
import type { Call } from './method.ts'
import { forBusiness } from './sending.ts'

export const changing = {
  ...forBusiness,
  chat_id: 'chat',
  message_id: 'integer',
  reply_markup: 'json',
} as const

export function targetOf({ args, platform }: Call) {
  if (!args.has('chat_id') && !args.has('message_id')) {
    if (!args.has('inline_message_id')) {
      throw failed('bad_request', 'message identifier is not specified')
    }
    throw failed('bad_request', `inline messages are not supported on ${platform.name}`)
  }
  const buttons = buttonsOf(args, platform)
  return {
    chat: args.chat(),
    message: args.messageId('message_id'),
    ...(buttons && { buttons }),
  }
}
