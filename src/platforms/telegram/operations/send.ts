/** Sends messages, and shows that the account is typing. */
import { Long, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { type Content, contentName, type Message } from '../../../../machines/model/content.ts'
import {
  failed,
  messageNotFound,
  messageTooLong,
  notFound,
} from '../../../../machines/model/failure.ts'
import type { OperationOf } from '../../../../machines/model/operation.ts'
import { capabilities } from '../facts.ts'
import { refusalOf } from '../failures.ts'
import { findMessage } from '../find-message.ts'
import { messageId, parseMessageId } from '../natives.ts'
import { messageOf } from '../reading/message.ts'
import { conversationFor, inputPostOf } from '../suggested-posts.ts'
import { inputMediaOf, previewOf } from '../writing/media.ts'
import {
  type Context,
  done,
  messagesIn,
  noteLocations,
  randomId,
  readOptions,
  sendOptions,
  writtenText,
} from './context.ts'
import { repeated, trimmed, unidentified } from './repeated.ts'

type Send = OperationOf<'send'>
type Sending = Pick<
  Send,
  | 'chat'
  | 'replyTo'
  | 'replyFrom'
  | 'quote'
  | 'answeredPart'
  | 'replyOptional'
  | 'topic'
  | 'silent'
  | 'isProtected'
  | 'effect'
  | 'directTopic'
  | 'suggested'
>

const actions: Readonly<Record<string, tl.TypeSendMessageAction>> = {
  typing: { _: 'sendMessageTypingAction' },
  upload_photo: { _: 'sendMessageUploadPhotoAction', progress: 0 },
  record_video: { _: 'sendMessageRecordVideoAction' },
  upload_video: { _: 'sendMessageUploadVideoAction', progress: 0 },
  record_voice: { _: 'sendMessageRecordAudioAction' },
  upload_voice: { _: 'sendMessageUploadAudioAction', progress: 0 },
  upload_document: { _: 'sendMessageUploadDocumentAction', progress: 0 },
  choose_sticker: { _: 'sendMessageChooseStickerAction' },
  find_location: { _: 'sendMessageGeoLocationAction' },
  record_video_note: { _: 'sendMessageRecordRoundAction' },
  upload_video_note: { _: 'sendMessageUploadRoundAction', progress: 0 },
  cancel: { _: 'sendMessageCancelAction' },
}

export const sends: Handlers<Context> = {
  send: async (context, operation) => ({
    kind: 'message',
    message: await send(context, operation),
  }),

  async act(context, { chat, action, topic }) {
    const shown = actions[action]
    if (!shown) throw failed('bad_request', 'wrong parameter action in request')
    const peer = await context.calls.peer(chat, context.signal)
    const request = { _: 'messages.setTyping', peer, action: shown } as const
    const place = topic !== undefined && { topMsgId: topicId(topic) }
    await context.calls.call({ ...request, ...place }, readOptions(context))
    return done
  },
}

/** A repeated request resolves with the message that was sent before. */
export async function send(context: Context, operation: Send): Promise<Message> {
  const { content, chat, buttons } = operation
  assertNoButtons(buttons)
  assertSendable(content)
  const peer = await context.calls.peer(chat, context.signal)
  const message = await repeated(context, { peer, content }, () =>
    withOptionalReply(context, operation, (reply) =>
      content.kind === 'text'
        ? sendText(context, { ...operation, content }, peer, reply)
        : sendMedia(context, operation, peer, reply),
    ),
  )
  noteLocations(context, [message])
  return message
}

export function assertNoButtons(buttons: Send['buttons']): void {
  if (buttons?.length) throw failed('bad_request', 'inline keyboards are not supported on Telegram')
}

export function assertSendable(content: Content): void {
  const name = contentName(content)
  if (!capabilities.content.some((known) => known === name)) {
    throw failed('bad_request', `sending ${name} is not supported on Telegram`)
  }
  const { captionLength = 1024, textLength } = capabilities.limits
  if (content.kind === 'media' && [...content.caption.text].length > captionLength) {
    throw messageTooLong('message caption is too long')
  }
  if (content.kind === 'text') {
    if (content.text.trim() === '') throw failed('bad_request', 'message text is empty')
    if ([...content.text].length > textLength) {
      throw messageTooLong()
    }
  }
}

/** Sends without the reply where its target is gone and the sender allows that. */
export async function withOptionalReply<Result>(
  context: Context,
  operation: Sending,
  work: (reply: Reply) => Promise<Result>,
): Promise<Result> {
  const { chat, replyTo, replyFrom = chat, replyOptional, topic } = operation
  const conversation = await conversationFor(context, operation)
  const inTopic = () => work(placeOf(topic, conversation)).catch(noTopic)
  if (replyTo === undefined) return inTopic()
  const replyToMsgId = messageId(replyTo, 'message to be replied')
  const top = topic !== undefined && { topMsgId: topicId(topic) }
  const from = { chat: replyFrom, message: replyToMsgId }
  const more = await answered(context, operation, from)
  try {
    const place = { ...top, ...conversation, ...more }
    return await work({ replyTo: { _: 'inputReplyToMessage', replyToMsgId, ...place } })
  } catch (cause) {
    if (!isMissingReply(cause)) return noTopic(cause)
    if (replyOptional) return inTopic()
    throw messageNotFound('message to be replied')
  }
}

/** The chat of the message answered, and the part of it that is quoted or answered. */
async function answered(
  context: Context,
  { replyFrom, quote, answeredPart: part }: Sending,
  from: { readonly chat: string; readonly message: number },
): Promise<Partial<tl.RawInputReplyToMessage>> {
  const { calls, signal } = context
  const quoteEntities = quote && (await writtenText(context, quote))
  return {
    ...(replyFrom !== undefined && { replyToPeerId: await calls.peer(replyFrom, signal) }),
    ...(quote && { quoteText: quote.text, quoteOffset: quote.position }),
    ...(quoteEntities?.length && { quoteEntities }),
    ...(part && 'task' in part && { todoItemId: part.task }),
    ...(part && 'option' in part && { pollOption: await optionOf(context, from, part.option) }),
  }
}

/** The network names options by bytes that the author of the poll has chosen. */
async function optionOf(
  { calls, signal }: Context,
  { chat, message: id }: { readonly chat: string; readonly message: number },
  place: number,
): Promise<Uint8Array> {
  const message = await findMessage(calls, chat, id, signal)
  const media = message._ === 'message' ? message.media : undefined
  const answer = media?._ === 'messageMediaPoll' ? media.poll.answers[place] : undefined
  if (answer?._ === 'pollAnswer') return answer.option
  throw failed('bad_request', 'POLL_OPTION_INVALID')
}

export function topicId(topic: string): number {
  const id = parseMessageId(topic)
  if (id === undefined) throw notFound('message thread')
  return id
}

type Reply = { replyTo?: tl.RawInputReplyToMessage | tl.RawInputReplyToMonoForum }

/** A topic is named by the message that created it, a conversation with a channel by its person. */
function placeOf(
  topic: string | undefined,
  { monoforumPeerId }: { monoforumPeerId?: tl.TypeInputPeer },
): Reply {
  if (monoforumPeerId) return { replyTo: { _: 'inputReplyToMonoForum', monoforumPeerId } }
  if (topic === undefined) return {}
  const id = topicId(topic)
  return { replyTo: { _: 'inputReplyToMessage', replyToMsgId: id, topMsgId: id } }
}

function noTopic(cause: unknown): never {
  throw isMissingReply(cause) ? notFound('message thread') : cause
}

export const deliveryOf = ({ silent, isProtected, effect, suggested }: Sending) => ({
  ...(silent && { silent }),
  ...(isProtected && { noforwards: true }),
  ...(effect !== undefined && { effect: Long.fromString(effect) }),
  ...(suggested && { suggestedPost: inputPostOf(suggested) }),
})

const isMissingReply = (cause: unknown) =>
  ['MSG_ID_INVALID', 'REPLY_MESSAGE_ID_INVALID', 'MESSAGE_ID_INVALID'].includes(
    refusalOf(cause) ?? '',
  )

async function sendText(
  context: Context,
  operation: Send & { content: Content & { kind: 'text' } },
  peer: tl.TypeInputPeer,
  reply: Reply,
): Promise<Message> {
  const { content, chat } = operation
  const entities = await writtenText(context, content)
  const { media, ...shown } = previewOf(content)
  const request: tl.messages.RawSendMessageRequest = {
    _: 'messages.sendMessage',
    peer,
    message: content.text,
    randomId: randomId(context.requestId),
    ...(entities.length > 0 && { entities }),
    ...shown,
    ...deliveryOf(operation),
    ...reply,
  }
  const result = await context.calls.call(
    media ? { ...request, _: 'messages.sendMedia', media } : request,
    sendOptions(context, chat),
  )
  const [message] = messagesIn(context.calls.take(result), context.self)
  if (message) return message
  if (result._ !== 'updateShortSentMessage') throw unidentified()
  return completed(context, request, result)
}

async function sendMedia(
  context: Context,
  operation: Send,
  peer: tl.TypeInputPeer,
  reply: Reply,
): Promise<Message> {
  const { content, chat } = operation
  const { media, caption } = await inputMediaOf(context, content)
  const entities = caption && (await writtenText(context, caption))
  const above = content.kind === 'media' && content.captionAbove && { invertMedia: true }
  const result = await context.calls.call(
    {
      _: 'messages.sendMedia',
      peer,
      media,
      message: caption?.text ?? '',
      randomId: randomId(context.requestId),
      ...(entities?.length && { entities }),
      ...above,
      ...deliveryOf(operation),
      ...reply,
    },
    sendOptions(context, chat),
  )
  const [message] = messagesIn(context.calls.take(result), context.self)
  if (message) return message
  throw unidentified()
}

/** The network answers a text only with the facts that its sender cannot know: the rest comes from the request. */
async function completed(
  { calls, self }: Context,
  request: tl.messages.RawSendMessageRequest,
  short: tl.RawUpdateShortSentMessage,
): Promise<Message> {
  const { replyTo } = request
  const fromId = { _: 'peerUser', userId: Number(self) } as const
  const peerId = peerOf(request.peer, fromId)
  const peers = await calls.knownNow([fromId, peerId])
  const message: tl.RawMessage = {
    _: 'message',
    out: true,
    id: short.id,
    fromId,
    peerId,
    date: short.date,
    // The network counts without it.
    message: trimmed(request.message),
    ...(short.entities && { entities: short.entities }),
    ...(short.media && { media: short.media }),
    ...(request.effect && { effect: request.effect }),
    ...(replyTo?._ === 'inputReplyToMessage' && {
      replyTo: { _: 'messageReplyHeader', replyToMsgId: replyTo.replyToMsgId },
    }),
  }
  return messageOf(message, { self, peers })
}

function peerOf(peer: tl.TypeInputPeer, self: tl.RawPeerUser): tl.TypePeer {
  switch (peer._) {
    case 'inputPeerUser':
    case 'inputPeerUserFromMessage':
      return { _: 'peerUser', userId: peer.userId }
    case 'inputPeerChat':
      return { _: 'peerChat', chatId: peer.chatId }
    case 'inputPeerChannel':
    case 'inputPeerChannelFromMessage':
      return { _: 'peerChannel', channelId: peer.channelId }
    default:
      return self
  }
}
