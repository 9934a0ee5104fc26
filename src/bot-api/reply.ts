/** Which message a call answers: `reply_parameters`, or the older parameters. */
import { failed } from '../../actors/errors.ts'
import type { Arguments } from './arguments.ts'

export interface ReplyTarget {
  readonly replyTo?: number
  readonly replyOptional?: boolean
}

export function replyOf(args: Arguments): ReplyTarget {
  if (!args.hasJson('reply_parameters')) {
    const replyTo = args.messageId('reply_to_message_id')
    if (replyTo === 0) return {}
    return { replyTo, replyOptional: args.boolean('allow_sending_without_reply') }
  }
  const value = args.json('reply_parameters')
  if (value === undefined) throw failed('bad_request', "can't parse reply parameters JSON object")
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw failed('bad_request', 'object expected as reply parameters')
  }
  const { message_id, chat_id, allow_sending_without_reply } = value as Record<string, unknown>
  const replyTo = Number(message_id)
  if (!Number.isSafeInteger(replyTo) || replyTo <= 0) {
    throw failed('bad_request', 'message to be replied not found')
  }
  if (chat_id !== undefined && `${chat_id}` !== args.text('chat_id')) {
    throw failed('bad_request', 'replies to messages of other chats are not supported')
  }
  return { replyTo, replyOptional: allow_sending_without_reply === true }
}
