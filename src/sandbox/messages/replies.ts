/** Answers that need a look at the message they answer: with a quote of it, or to a message of another chat. */
import { isDeepStrictEqual } from 'node:util'
import type { Content } from '../../../machines/model/content.ts'
import { failed, messageNotFound } from '../../../machines/model/failure.ts'
import type { OperationOf } from '../../../machines/model/operation.ts'
import type { Quote, Text, TextEntity } from '../../../machines/model/text.ts'
import { viewOf } from '../chats/find-message.ts'
import {
  chatOf,
  type MessageAttributes,
  originOf,
  parseChatId,
  parseMessageId,
  votesHidden,
} from '../delivery/mapping.ts'
import type { Call, OutgoingMessage } from '../network/context.ts'
import type { MessageView } from '../network/rows.ts'

/** A quote keeps these, and has to repeat them as they stand in the message. */
const QUOTED = [
  ...['bold', 'italic', 'underline', 'strikethrough', 'spoiler'],
  ...['custom_emoji', 'date_time'],
]

type Replying = Pick<OperationOf<'send'>, 'chat' | 'replyFrom' | 'replyOptional' | 'quote'>

/** The parts of an outgoing message that depend on the message it answers. */
export async function replyParts(
  { context, by }: Call,
  replyTo: string,
  { chat, replyFrom = chat, replyOptional, quote }: Replying,
): Promise<Pick<OutgoingMessage, 'reply' | 'attributes'>> {
  const message = parseMessageId(replyTo, 'be replied')
  if (!quote && replyFrom === chat) return { reply: message }
  const place = { chat: parseChatId(replyFrom), message }
  const target = await viewOf(context.db, by.person, place)
  if (!target) {
    if (replyOptional && replyFrom === chat) return {}
    throw messageNotFound('message to be replied')
  }
  const content = target.message.content as Content
  const quoted = quote && { quote: located(quote, content) }
  if (replyFrom === chat) return { reply: message, ...(quoted && { attributes: quoted }) }
  const attributes: MessageAttributes = { ...quoted, externalReply: externalOf(target, content) }
  return { attributes }
}

function externalOf(view: MessageView, content: Content) {
  if (view.message.is_protected || content.kind === 'service') {
    throw failed('bad_request', "message can't be replied in another chat")
  }
  const { chat, message } = view
  const isPublic = chat.kind === 'supergroup' || chat.kind === 'channel'
  return {
    origin: originOf(view),
    ...(isPublic && { chat: chatOf(chat, null), message: String(message.id) }),
    content: votesHidden(content),
  }
}

/** The quote at the nearest place of the message where it stands word by word. */
function located(quote: Quote, content: Content): Quote {
  const original = textOf(content)
  const length = quote.text.length
  const wanted = keptIn(quote, 0, length)
  let best: number | undefined
  for (let at = original.text.indexOf(quote.text); at >= 0; ) {
    const isNearer = best === undefined || distance(at, quote) < distance(best, quote)
    if (isNearer && isDeepStrictEqual(keptIn(original, at, length), wanted)) best = at
    at = original.text.indexOf(quote.text, at + 1)
  }
  if (best === undefined) throw failed('bad_request', 'QUOTE_TEXT_INVALID')
  return { text: quote.text, entities: wanted, position: best, isManual: true }
}

const distance = (place: number, { position }: Quote) => Math.abs(place - position)

const NO_TEXT: Text = { text: '', entities: [] }

function textOf(content: Content): Text {
  if (content.kind === 'text') return content
  return content.kind === 'media' ? content.caption : NO_TEXT
}

/** The entities of a part of a text, cut to that part, in one order. */
function keptIn({ entities }: Text, from: number, length: number): readonly TextEntity[] {
  return entities
    .filter(({ type }) => QUOTED.includes(type))
    .map((entity) => {
      const start = Math.max(entity.offset, from)
      const end = Math.min(entity.offset + entity.length, from + length)
      return { ...entity, offset: start - from, length: end - start }
    })
    .filter(({ length }) => length > 0)
    .sort((one, other) => one.offset - other.offset || one.type.localeCompare(other.type))
}
