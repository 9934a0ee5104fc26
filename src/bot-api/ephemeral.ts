/** Ephemeral messages: what a sending call says of the one person who shall see its message. */
import type { Json } from '../../actors/ports/platform.ts'
import type { Content } from '../../machines/model/content.ts'
import { failed } from '../../machines/model/failure.ts'
import { Arguments } from './arguments.ts'
import { buttonsOf } from './markup.ts'
import type { Call } from './method.ts'
import { replyOf } from './reply.ts'

export const ephemeralParameters = { ephemeral_message_parameters: 'json' } as const

interface Ephemeral {
  readonly receiver?: number
  readonly callback?: string
  readonly replaces?: boolean
}

/** The names that these members had as parameters in version 10.2 of the reference. */
const FLAT = ['receiver_user_id', 'callback_query_id']

/** Undefined where the message is for the whole chat. */
export function ephemeralOf(args: Arguments): Ephemeral | undefined {
  const name = 'ephemeral_message_parameters'
  if (!args.hasJson(name)) {
    return FLAT.some((flat) => args.has(flat) && args.text(flat) !== '0')
      ? termsOf(args)
      : undefined
  }
  const value = args.json(name)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw failed('bad_request', "can't parse ephemeral message parameters JSON object")
  }
  return termsOf(Arguments.from(value))
}

function termsOf(args: Arguments): Ephemeral {
  const callback = args.text('callback_query_id')
  const hasReceiver = args.has('receiver_user_id')
  if (!hasReceiver && callback === undefined) {
    throw failed('bad_request', 'invalid receiver_user_id specified')
  }
  return {
    ...(hasReceiver && { receiver: args.userId('receiver_user_id') }),
    ...(callback !== undefined && { callback }),
    ...(args.boolean('replace_callback_query_message') && { replaces: true }),
  }
}

/** Resolves with the message as the reference shows it. */
export async function sendEphemeral(
  { args, platform, perform }: Call,
  ephemeral: Ephemeral,
  content: Content | (() => Promise<Content>),
): Promise<Json> {
  const buttons = buttonsOf(args, platform)
  const topic = args.messageId('message_thread_id')
  const terms = {
    ...((args.has('chat_id') || ephemeral.callback === undefined) && { chat: args.chat() }),
    ...ephemeral,
    ...answeredBy({ args, platform }),
    ...(topic > 0 && { topic }),
    ...(args.boolean('protect_content') && { isProtected: true }),
    ...(buttons && { buttons }),
  }
  const carried = typeof content === 'function' ? await content() : content
  return perform({ kind: 'send_ephemeral', ...terms, content: carried })
}

/** A quote is passed over, as the reference does. */
function answeredBy({ args, platform }: Pick<Call, 'args' | 'platform'>) {
  const reply = args.json('reply_parameters')
  if (typeof reply === 'object' && reply !== null && 'ephemeral_message_id' in reply) {
    return { replyToEphemeral: Arguments.from(reply).messageId('ephemeral_message_id') }
  }
  const { replyTo, replyFrom } = replyOf(args, platform)
  if (replyFrom !== undefined || (replyTo !== undefined && !args.has('chat_id'))) {
    throw failed('bad_request', 'message to be replied not found')
  }
  return replyTo === undefined ? {} : { replyTo }
}
