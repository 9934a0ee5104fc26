/** Parameters that all sending and editing methods share, and the operation they become. */

import type { Json } from '../../actors/ports/platform.ts'
import type { Buttons, Content } from '../../machines/model/content.ts'
import { failed } from '../../machines/model/failure.ts'
import type { PublicChat } from '../../machines/model/operation.ts'
import type { Change } from '../../machines/model/operation-inline.ts'
import type { Arguments } from './arguments.ts'
import { ephemeralOf, sendEphemeral } from './ephemeral.ts'
import { buttonsOf, markupOf } from './markup.ts'
import type { Call } from './method.ts'
import { replyOf, withQuote } from './reply.ts'

export const forBusiness = { business_connection_id: 'string' } as const

/** What every method shares that changes a message of a chat. */
export const changing = {
  ...forBusiness,
  chat_id: 'chat',
  message_id: 'integer',
  reply_markup: 'json',
} as const

/** The same, also for messages that people sent by way of the bot. */
export const editing = { ...changing, inline_message_id: 'string' } as const

interface InChat {
  readonly chat: PublicChat
  readonly message: number
  readonly buttons?: Buttons
}

export function targetOf({ args, platform }: Call): InChat {
  if (!args.has('chat_id') && !args.has('message_id')) {
    throw failed('bad_request', 'message identifier is not specified')
  }
  const buttons = buttonsOf(args, platform)
  return {
    chat: args.chat(),
    message: args.messageId('message_id'),
    ...(buttons && { buttons }),
  }
}

/** Whether the call names a message by the id that it has in inline mode. */
export function isInline({ args, platform }: Call): boolean {
  if (args.has('chat_id') || args.has('message_id') || !args.has('inline_message_id')) return false
  if (platform.capabilities.operations.includes('edit_inline')) return true
  throw failed('bad_request', `inline messages are not supported on ${platform.name}`)
}

/** Changes the message that the call names. `change` is not asked where the call names none. */
export async function edit(call: Call, change: () => Change | Promise<Change>): Promise<Json> {
  if (!isInline(call)) {
    const target = targetOf(call)
    return call.perform({ ...(await change()), ...target })
  }
  const buttons = buttonsOf(call.args, call.platform)
  const inline = call.args.text('inline_message_id') ?? ''
  const changed = { ...(await change()), ...(buttons && { buttons }) }
  return call.perform({ kind: 'edit_inline', inline, change: changed })
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

export const withEffect = { message_effect_id: 'string' } as const

/** The parameters beside the content itself. */
export const sending = {
  chat_id: 'chat',
  ...forBusiness,
  ...delivery,
  ...replying,
  ...withEffect,
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

/** The effect that a message comes with; an empty or zero id is none. */
export function effectOf(args: Arguments): { readonly effect?: string } {
  const effect = args.text('message_effect_id')?.trim() ?? ''
  if (/^0*$/.test(effect)) return {}
  if (!/^\d{1,20}$/.test(effect)) throw failed('bad_request', 'EFFECT_ID_INVALID')
  return { effect }
}

/** Resolves with the message as the reference shows it. */
export async function send(call: Call, content: Content | (() => Promise<Content>)): Promise<Json> {
  const { args, platform } = call
  const markup = markupOf(args, platform)
  const ephemeral = ephemeralOf(args)
  if (ephemeral) return sendEphemeral(call, ephemeral, content)
  // What is refused is refused before any file is looked at.
  const terms = {
    chat: args.chat(),
    ...deliveryOf(args),
    ...effectOf(args),
    ...replyOf(args, platform),
    ...markup,
  }
  const carried = typeof content === 'function' ? await content() : content
  return call.perform({ kind: 'send', ...withQuote(platform, { ...terms, content: carried }) })
}
