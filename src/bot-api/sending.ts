/** Parameters that all sending and editing methods share, and the operation they become. */

import type { Json } from '../../actors/ports/platform.ts'
import type { Content } from '../../machines/model/content.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Arguments } from './arguments.ts'
import { buttonsOf, markupOf } from './markup.ts'
import type { Call } from './method.ts'

interface ReplyTarget {
  readonly replyTo?: number
  readonly replyOptional?: boolean
}

/** Which message a call answers: `reply_parameters`, or the older parameters. */
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

export const forBusiness = { business_connection_id: 'string' } as const

/** What every editing method shares: which message is meant, and its buttons. */
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

export const replying = {
  reply_parameters: 'json',
  reply_to_message_id: 'integer',
  allow_sending_without_reply: 'boolean',
} as const

export const delivery = {
  message_thread_id: 'integer',
  disable_notification: 'boolean',
  protect_content: 'boolean',
} as const

/** The parameters beside the content itself. */
export const sending = {
  chat_id: 'chat',
  ...forBusiness,
  ...delivery,
  ...replying,
  reply_markup: 'json',
} as const

export const captioned = {
  caption: 'string',
  parse_mode: 'string',
  caption_entities: 'json',
  show_caption_above_media: 'boolean',
} as const

export const topicOf = (args: Arguments): { readonly topic?: number } => {
  const topic = args.messageId('message_thread_id')
  return topic > 0 ? { topic } : {}
}

export const deliveryOf = (args: Arguments) => ({
  ...topicOf(args),
  silent: args.boolean('disable_notification'),
  ...(args.boolean('protect_content') && { isProtected: true }),
})

/** Resolves with the message as the reference shows it. */
export async function send(call: Call, content: Content | (() => Promise<Content>)): Promise<Json> {
  const { args, platform } = call
  const markup = markupOf(args, platform)
  // What is refused is refused before any file is looked at.
  const terms = {
    chat: args.chat(),
    ...deliveryOf(args),
    ...replyOf(args),
    ...markup,
  }
  const carried = typeof content === 'function' ? await content() : content
  return call.perform({ kind: 'send', ...terms, content: carried })
}
