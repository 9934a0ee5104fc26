/** What every sending method shares: its parameters, and the operation they become. */
import type { Json } from '../../actors/ports/platform.ts'
import type { Content } from '../../machines/model/content.ts'
import type { Arguments } from './arguments.ts'
import { markupOf } from './markup.ts'
import type { Call } from './method.ts'
import { replyOf } from './reply.ts'

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

export const forBusiness = { business_connection_id: 'string' } as const

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
