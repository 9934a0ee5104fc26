/** Sends one message, or several media as an album, of which all are sent or none. */
import { randomInt } from 'node:crypto'
import type { Content, MediaKind } from '../../../machines/model/content.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { messageOf, parseChatId, parseMessageId, parseTopicId } from '../delivery/mapping.ts'
import { holderOf, withFileHolds } from '../files/files.ts'
import type { Call, OutgoingMessage } from '../network/context.ts'
import { prepareContent } from './content.ts'
import { sentBefore } from './outbox.ts'
import { checkedKeyboard } from './reply-keyboards.ts'

type MediaContent = Content & { readonly kind: 'media' }
/** A message that still lacks its content. */
type Envelope = Omit<OutgoingMessage, 'content' | 'forward'>

/** A text needs no preparation: one statement sends it. */
export async function send(call: Call, operation: OperationOf<'send'>): Promise<OperationResult> {
  const { context, request } = call
  const { content: given } = operation
  const envelope = envelopeOf(call, operation)
  const { sender } = envelope
  const before = given.kind === 'text' ? undefined : await sentBefore(context.db, envelope)
  if (before) return { kind: 'message', message: messageOf(before) }
  const deliver = async () => {
    const content = await prepareContent(context, sender, request, given)
    return context.outbox.send({ ...envelope, content })
  }
  const message =
    given.kind === 'media'
      ? await withFileHolds(context, [holderOf(sender, request)], deliver)
      : await deliver()
  return { kind: 'message', message }
}

export function envelopeOf(
  { by: { person, session }, request }: Call,
  operation: OperationOf<'send' | 'send_album' | 'forward' | 'copy'>,
): Envelope {
  const { chat, replyTo, replyOptional, isProtected, topic } = operation
  const buttons = 'buttons' in operation ? operation.buttons : undefined
  const native = parseChatId(chat)
  const keyboard =
    'keyboard' in operation && operation.keyboard && checkedKeyboard(operation.keyboard, native)
  return {
    sender: person,
    ...(session !== undefined && { session }),
    native,
    request,
    ...(replyTo !== undefined && { reply: parseMessageId(replyTo, 'be replied') }),
    ...(replyOptional && { replyOptional }),
    ...(isProtected && { isProtected }),
    ...(topic !== undefined && { topic: parseTopicId(topic) }),
    ...(buttons && { buttons }),
    ...(keyboard && { keyboard }),
  }
}

const MOST_IN_ALBUM = 10
/** The kinds that may stand in one album. */
const GROUPS: readonly (readonly MediaKind[])[] = [['photo', 'video'], ['audio'], ['document']]

const bad = (description: string) => failed('bad_request', description)

export async function sendAlbum(
  call: Call,
  operation: OperationOf<'send_album'>,
): Promise<OperationResult> {
  const { context } = call
  const { contents } = operation
  const envelope = envelopeOf(call, operation)
  assertAlbum(contents.map(({ media }) => media.kind))
  const envelopes = contents.map((_, index) => ({
    ...envelope,
    request: index === 0 ? envelope.request : `${envelope.request}#${index}`,
  }))
  const before = await Promise.all(envelopes.map((each) => sentBefore(context.db, each)))
  const known = before.filter((view) => view !== undefined)
  if (known.length === contents.length) return { kind: 'messages', messages: known.map(messageOf) }

  const holders = envelopes.map(({ sender, request }) => holderOf(sender, request))
  const messages = await withFileHolds(context, holders, async () => {
    const album = contents.length > 1 ? { album: newAlbum() } : {}
    const ready: OutgoingMessage[] = []
    for (const [index, content] of contents.entries()) {
      const { sender, request } = envelopes[index]!
      const item = await prepareContent(context, sender, request, content).catch(inItem(index))
      ready.push({ ...envelopes[index]!, ...album, content: item })
    }
    assertAlbum(ready.map(({ content }) => (content as MediaContent).media.kind))
    return context.outbox.sendTogether(ready)
  })
  return { kind: 'messages', messages }
}

function assertAlbum(kinds: readonly MediaKind[]): void {
  if (kinds.length === 0) throw bad('there are no messages to send')
  if (kinds.length > MOST_IN_ALBUM) throw bad('too many messages to send as an album')
  const fits = GROUPS.some((group) => kinds.every((kind) => group.includes(kind)))
  if (!fits) throw bad("can't use the media of the specified type in the album")
}

const inItem = (index: number) => (cause: unknown) => {
  const isRefused = cause instanceof RequestFailed && cause.failure.code === 'bad_request'
  if (!isRefused) throw cause
  const { description } = cause.failure
  const text = `failed to send message #${index + 1} with the error message "${description}"`
  throw failed('bad_request', text, {}, { cause })
}

/** A number of fifteen digits, as text. */
const newAlbum = () => `${randomInt(1e14, 2 ** 48 - 1)}`
