/** Which message a call answers: `reply_parameters`, or the older parameters. */
import { failed } from '../../machines/model/failure.ts'
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
  const replyTo = numberOf(message_id)
  if (replyTo <= 0) throw failed('bad_request', 'message to be replied not found')
  if (chat_id != null && isAnotherChat(`${chat_id}`, args.text('chat_id') ?? '')) {
    throw failed('bad_request', 'replies to messages of other chats are not supported')
  }
  return { replyTo, replyOptional: booleanOf(allow_sending_without_reply) }
}

/** Absent is 0; text may stand for a number in the one way that a number is written. */
function numberOf(value: unknown): number {
  if (value === undefined) return 0
  const number = typeof value === 'string' && /^(0|-?[1-9]\d*)$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || Math.abs(number) >= 2 ** 31) {
    throw failed('bad_request', 'field "message_id" must be a valid Number')
  }
  return number
}

function booleanOf(value: unknown): boolean {
  if (value === undefined) return false
  if (typeof value === 'boolean') return value
  throw failed('bad_request', 'field "allow_sending_without_reply" must be of type Boolean')
}

/** A name and a number may mean the same chat; only two of a kind can be told apart here. */
function isAnotherChat(replied: string, target: string): boolean {
  const haveOneForm = replied.startsWith('@') === target.startsWith('@')
  return haveOneForm && replied.toLowerCase() !== target.toLowerCase()
}
