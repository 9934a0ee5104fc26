/** Parameters that all sending and editing methods share, and the operation they become: target, reply, receiver. */
import type { Platform } from '../../actors/ports/platform.ts'
import type { Buttons } from '../../machines/model/buttons.ts'
import type { Content } from '../../machines/model/content.ts'
import { failed, messageNotFound } from '../../machines/model/failure.ts'
import type { PublicChat } from '../../machines/model/operation.ts'
import type { Change } from '../../machines/model/operation-inline.ts'
import type { DirectTerms, PostTerms } from '../../machines/model/payment.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { AnsweredPart, Quote, Text } from '../../machines/model/text.ts'
import { Arguments, chatFrom, chatIn, numberIn } from './arguments.ts'
import { buttonsOf, markupOf } from './markup.ts'
import type { Call } from './method.ts'
import { quoteOf } from './text.ts'

export const businessParameters = { business_connection_id: 'string' } as const

/** The parts of every method that changes a message of a chat. */
export const changeParameters = {
  ...businessParameters,
  chat_id: 'chat',
  message_id: 'integer',
  reply_markup: 'json',
} as const

/** The same for methods that can also change messages sent in inline mode. */
export const editParameters = { ...changeParameters, inline_message_id: 'string' } as const

interface InChat {
  readonly chat: PublicChat
  readonly message: number
  readonly buttons?: Buttons
}

export function targetOf({ args, platform }: Call): InChat {
  const buttons = buttonsOf(args, platform)
  return {
    chat: args.chat(),
    message: args.messageId('message_id'),
    ...(buttons && { buttons }),
  }
}

/** Whether the call names a message by the id that it has in inline mode. */
export function isInline({ args, platform }: Call): boolean {
  if (args.has('chat_id') || args.messageId('message_id') > 0) return false
  if (!args.has('inline_message_id')) {
    throw failed('bad_request', 'message identifier is not specified')
  }
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

export const replyParameters = {
  reply_parameters: 'json',
  reply_to_message_id: 'integer',
  allow_sending_without_reply: 'boolean',
} as const

export const deliveryParameters = {
  message_thread_id: 'integer',
  disable_notification: 'boolean',
  protect_content: 'boolean',
} as const

export const directTopicParameters = { direct_messages_topic_id: 'integer' } as const

export const suggestParameters = {
  ...directTopicParameters,
  suggested_post_parameters: 'json',
} as const

export const effectParameters = { message_effect_id: 'string' } as const

/** The parameters beside the content itself. */
export const sendParameters = {
  chat_id: 'chat',
  ...businessParameters,
  ...deliveryParameters,
  ...replyParameters,
  ...effectParameters,
  reply_markup: 'json',
} as const

export const captionParameters = {
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
  ...directTermsOf(args),
  silent: args.boolean('disable_notification'),
  ...(args.boolean('protect_content') && { isProtected: true }),
})

/** Seconds from now, between which a suggested post may be sent: the reference's 31 days. */
const SOONEST = 300
const LATEST = 2_678_400
const STAR_PRICES = [5, 100_000] as const
const NANO_PRICES = [10_000_000, 10_000_000_000_000] as const

/** The conversation with a channel that is meant. */
export function directTopicOf(args: Arguments): Pick<DirectTerms<number>, 'directTopic'> {
  const isNamed = args.has('direct_messages_topic_id')
  return isNamed ? { directTopic: args.userId('direct_messages_topic_id') } : {}
}

/** The conversation with a channel that a message goes to, and the terms on which it suggests a post. */
function directTermsOf(args: Arguments): DirectTerms<number> {
  const topic = directTopicOf(args)
  if (!args.has('suggested_post_parameters')) return topic
  const terms = args.members('suggested_post_parameters', 'suggested post parameters')
  return { ...topic, suggested: postTermsOf(terms) }
}

function postTermsOf(args: Arguments): PostTerms {
  const sendAt = numberOf(args.json('send_date'), 'send_date')
  const ahead = sendAt - Date.now() / 1_000
  if (sendAt !== 0 && (ahead < SOONEST || ahead > LATEST)) {
    throw failed('bad_request', 'SCHEDULE_DATE_INVALID')
  }
  const price = args.has('price') && priceFrom(args.json('price'))
  return { ...(price && { price }), ...(sendAt > 0 && { sendAt }) }
}

function priceFrom(value: unknown): NonNullable<PostTerms['price']> {
  const { currency, amount } = (value ?? {}) as Record<string, unknown>
  const isStars = currency === 'XTR'
  if (!isStars && currency !== 'TON') {
    throw failed('bad_request', 'unsupported currency of the suggested post specified')
  }
  const [least, most] = isStars ? STAR_PRICES : NANO_PRICES
  const sum = numberIn(amount)
  if (!Number.isSafeInteger(sum) || sum < least || sum > most) {
    const unit = isStars ? 'Telegram Stars' : 'toncoins'
    throw failed('bad_request', `invalid amount of ${unit} specified`)
  }
  return { currency: isStars ? 'XTR' : 'TON', amount: sum }
}

const MOST_EFFECT = 2n ** 63n - 1n

/** The effect that a message comes with; an empty or zero id is none. */
export function effectOf(args: Arguments): { readonly effect?: string } {
  const effect = args.text('message_effect_id')?.trim() ?? ''
  if (/^0*$/.test(effect)) return {}
  if (!/^\d{1,20}$/.test(effect) || BigInt(effect) > MOST_EFFECT) {
    throw failed('bad_request', 'EFFECT_ID_INVALID')
  }
  return { effect }
}

/** Resolves with the message as the reference shows it. */
export async function send(call: Call, content: Content | (() => Promise<Content>)): Promise<Json> {
  const { args, platform } = call
  const markup = markupOf(args, platform)
  const ephemeral = ephemeralOf(args)
  if (ephemeral) return sendEphemeral(call, ephemeral, content)
  // Refusals come before any file is inspected.
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

export const ephemeralParameters = { ephemeral_message_parameters: 'json' } as const

/** The one person who sees an ephemeral message. */
interface Ephemeral {
  readonly receiver?: number
  readonly callback?: string
  readonly replaces?: boolean
}

/** The names that these members had as parameters in version 10.2 of the reference. */
const FLAT = ['receiver_user_id', 'callback_query_id']

/** Undefined where the message is for the whole chat. */
function ephemeralOf(args: Arguments): Ephemeral | undefined {
  const name = 'ephemeral_message_parameters'
  if (!args.has(name)) {
    return FLAT.some((flat) => args.has(flat) && args.text(flat) !== '0')
      ? termsOf(args)
      : undefined
  }
  return termsOf(args.members(name, 'ephemeral message parameters'))
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
async function sendEphemeral(
  { args, platform, perform }: Call,
  ephemeral: Ephemeral,
  content: Content | (() => Promise<Content>),
): Promise<Json> {
  if (Object.keys(directTermsOf(args)).length > 0) {
    throw failed('bad_request', "ephemeral messages can't be direct messages to a channel")
  }
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

/** A quote is ignored, as in the reference. */
function answeredBy({ args, platform }: Pick<Call, 'args' | 'platform'>) {
  const reply = args.json('reply_parameters')
  if (typeof reply === 'object' && reply !== null && 'ephemeral_message_id' in reply) {
    return { replyToEphemeral: Arguments.from(reply).messageId('ephemeral_message_id') }
  }
  const { replyTo, replyFrom } = replyOf(args, platform)
  if (replyFrom !== undefined || (replyTo !== undefined && !args.has('chat_id'))) {
    throw messageNotFound('message to be replied')
  }
  return replyTo === undefined ? {} : { replyTo }
}

/** The message that a call answers, and the part of it that the answer quotes. */
interface ReplyTarget {
  readonly replyTo?: number
  readonly replyOptional?: boolean
  readonly replyFrom?: PublicChat
  readonly quote?: Quote
  readonly answeredPart?: AnsweredPart
}

/** Which message a call answers: `reply_parameters`, or the older parameters. */
export function replyOf(args: Arguments, platform: Platform): ReplyTarget {
  if (!args.has('reply_parameters')) {
    const replyTo = args.messageId('reply_to_message_id')
    if (replyTo === 0) return {}
    return { replyTo, replyOptional: args.boolean('allow_sending_without_reply') }
  }
  const value = args.object('reply_parameters', 'reply parameters')
  if (Object.keys(value).length === 0) return {}
  const { message_id, chat_id, allow_sending_without_reply } = value as Record<string, unknown>
  if (message_id === undefined) throw failed('bad_request', 'can\'t find field "message_id"')
  const replyTo = numberOf(message_id, 'message_id')
  const replyOptional = booleanOf(allow_sending_without_reply)
  const parts = { ...quoteIn(value), ...partIn(value, platform) }
  if (replyTo <= 0) return {}
  // An empty name means no chat: some libraries always send the field.
  const replied = chatIn(chat_id)
  const isElsewhere = replied !== '' && isAnotherChat(replied, args.text('chat_id') ?? '')
  if (!isElsewhere) return { replyTo, replyOptional, ...parts }
  if (!platform.capabilities.quotes) {
    throw failed('bad_request', 'replies to messages of other chats are not supported')
  }
  // The reference never leaves out a reply to a message of another chat.
  return { replyTo, replyFrom: chatFrom(replied), ...parts }
}

function quoteIn(parameters: object): Pick<ReplyTarget, 'quote'> {
  const given = Arguments.from(parameters)
  if (!given.has('quote')) return {}
  const position = numberOf(
    (parameters as Record<string, unknown>).quote_position,
    'quote_position',
  )
  const quote = quoteOf(given)
  return quote.text === '' ? {} : { quote: { ...quote, position: Math.max(0, position) } }
}

function partIn(
  parameters: object,
  { capabilities, name }: Platform,
): Pick<ReplyTarget, 'answeredPart'> {
  const given = Arguments.from(parameters)
  const field = ['checklist_task_id', 'poll_option_id'].find((one) => given.has(one))
  if (!field) return {}
  const number = given.integer(field, { min: 0, max: 2 ** 31 - 1 })
  // Tasks count from 1: an absent one is written as 0 by some libraries.
  if (field === 'checklist_task_id' && number === 0) return {}
  if (!capabilities.answersParts) {
    const reason = 'the network has no answers to tasks and options'
    throw failed('bad_request', `parameter "${field}" is not supported on ${name}: ${reason}`)
  }
  return { answeredPart: field === 'poll_option_id' ? { option: number } : { task: number } }
}

/** 0 if absent. Text is accepted if it is the usual decimal form of a number. */
function numberOf(value: unknown, name: string): number {
  if (value === undefined) return 0
  const number = typeof value === 'string' && /^(0|-?[1-9]\d*)$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || Math.abs(number) >= 2 ** 31) {
    throw failed('bad_request', `field "${name}" must be a valid Number`)
  }
  return number
}

function booleanOf(value: unknown): boolean {
  if (value === undefined) return false
  if (typeof value === 'boolean') return value
  throw failed('bad_request', 'field "allow_sending_without_reply" must be of type Boolean')
}

/** Whether two chats differ for certain: a name and a number may mean the same chat. */
function isAnotherChat(replied: string, target: string): boolean {
  const haveOneForm = replied.startsWith('@') === target.startsWith('@')
  return haveOneForm && replied.toLowerCase() !== target.toLowerCase()
}

interface Quoting {
  readonly quote?: Quote
  readonly content: Content
}

/**
 * On a network without quotes, puts the quoted words before the answer as a block. The quote itself stays in the
 * message, so that the network can mark these words.
 */
export function withQuote<Terms extends Quoting>(
  { capabilities, name }: Platform,
  terms: Terms,
): Terms {
  const { quote, content } = terms
  if (!quote || capabilities.quotes) return terms
  const quoted = (text: Text) => afterQuote(quote, text, capabilities.entities)
  if (content.kind === 'text') {
    return { ...terms, content: { ...content, ...quoted(content) } }
  }
  if (content.kind === 'media') {
    return { ...terms, content: { ...content, caption: quoted(content.caption) } }
  }
  throw noQuotes(name)
}

const noQuotes = (name: string) =>
  failed('bad_request', `parameter "quote" is not supported on ${name}: the network has no quotes`)

function afterQuote(quote: Text, { text, entities }: Text, known: readonly string[]): Text {
  const before = text === '' ? quote.text : `${quote.text}\n`
  const block = { type: 'blockquote', offset: 0, length: quote.text.length }
  return {
    text: before + text,
    entities: [
      ...(known.includes('blockquote') ? [block] : []),
      ...quote.entities,
      ...entities.map((entity) => ({ ...entity, offset: entity.offset + before.length })),
    ],
  }
}

/** Refuses a quote where the operation has no text of its own that it could stand in. */
export function assertQuotable(
  { capabilities, name }: Platform,
  { quote }: { readonly quote?: Quote },
): void {
  if (quote && !capabilities.quotes) throw noQuotes(name)
}
