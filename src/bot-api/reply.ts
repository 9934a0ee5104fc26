/** The message that a call answers, and the part of it that the answer quotes. */
import type { Platform } from '../../actors/ports/platform.ts'
import type { Content, Quote, Text } from '../../machines/model/content.ts'
import { failed } from '../../machines/model/failure.ts'
import type { PublicChat } from '../../machines/model/operation.ts'
import { Arguments, chatFrom } from './arguments.ts'
import { quoteOf } from './text.ts'

interface ReplyTarget {
  readonly replyTo?: number
  readonly replyOptional?: boolean
  readonly replyFrom?: PublicChat
  readonly quote?: Quote
}

/** Which message a call answers: `reply_parameters`, or the older parameters. */
export function replyOf(args: Arguments, platform: Platform): ReplyTarget {
  if (!args.hasJson('reply_parameters')) {
    const replyTo = args.messageId('reply_to_message_id')
    if (replyTo === 0) return {}
    return { replyTo, replyOptional: args.boolean('allow_sending_without_reply') }
  }
  const value = args.json('reply_parameters')
  if (value === undefined) throw failed('bad_request', "can't parse reply parameters JSON object")
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw failed('bad_request', 'object expected as reply parameters')
  }
  const { message_id, chat_id, allow_sending_without_reply } = value as Record<string, unknown>
  const replyTo = numberOf(message_id, 'message_id')
  if (replyTo <= 0) throw failed('bad_request', 'message to be replied not found')
  const replyOptional = booleanOf(allow_sending_without_reply)
  const quote = quoteIn(value)
  // An empty name is no chat: some libraries always write the field.
  const isNamed = chat_id != null && chat_id !== ''
  const isElsewhere = isNamed && isAnotherChat(`${chat_id}`, args.text('chat_id') ?? '')
  if (!isElsewhere) return { replyTo, replyOptional, ...(quote && { quote }) }
  if (!platform.capabilities.quotes) {
    throw failed('bad_request', 'replies to messages of other chats are not supported')
  }
  // The reference never leaves out a reply to a message of another chat.
  return { replyTo, replyFrom: chatFrom(`${chat_id}`), ...(quote && { quote }) }
}

function quoteIn(parameters: object): Quote | undefined {
  const given = Arguments.from(parameters)
  if (!given.has('quote')) return undefined
  const position = numberOf(
    (parameters as Record<string, unknown>).quote_position,
    'quote_position',
  )
  const quote = quoteOf(given)
  return quote.text === '' ? undefined : { ...quote, position: Math.max(0, position) }
}

/** Absent is 0; text may stand for a number in the one way that a number is written. */
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

/** A name and a number may mean the same chat; only two of a kind can be told apart here. */
function isAnotherChat(replied: string, target: string): boolean {
  const haveOneForm = replied.startsWith('@') === target.startsWith('@')
  return haveOneForm && replied.toLowerCase() !== target.toLowerCase()
}

interface Quoting {
  readonly quote?: Quote
  readonly content: Content
}

/** Where the network has no quotes, the quoted words stand before the answer, as a block of their own. */
export function withQuote<Terms extends Quoting>(
  { capabilities, name }: Platform,
  terms: Terms,
): Terms {
  const { quote, content } = terms
  if (!quote || capabilities.quotes) return terms
  const { quote: _, ...rest } = terms
  const quoted = (text: Text) => afterQuote(quote, text, capabilities.entities)
  if (content.kind === 'text') {
    return { ...rest, content: { ...content, ...quoted(content) } } as unknown as Terms
  }
  if (content.kind === 'media') {
    return {
      ...rest,
      content: { ...content, caption: quoted(content.caption) },
    } as unknown as Terms
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
