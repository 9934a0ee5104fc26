/** Messages that exist already: edited, deleted, forwarded, copied, and reacted to. */
import { Long, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import {
  type Content,
  contentName,
  type Message,
  startingAt,
} from '../../../../machines/model/content.ts'
import {
  failed,
  messageNotAllowed,
  messageNotFound,
  RequestFailed,
} from '../../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../../machines/model/operation.ts'
import { isShut, refusalOf } from '../failures.ts'
import { findMessage, findMessageWithPeers } from '../find-message.ts'
import { isChannel, messageId } from '../natives.ts'
import { messageOf } from '../reading/message.ts'
import { conversationFor } from '../suggested-posts.ts'
import { inputMediaOf, locationOf, previewOf } from '../writing/media.ts'
import { inputPollOf } from '../writing/poll.ts'
import {
  type Context,
  done,
  messagesIn,
  noteLocations,
  randomId,
  sendOptions,
  untold,
  writtenText,
} from './context.ts'
import { repeated, unidentified } from './repeated.ts'
import { assertNoButtons, assertSendable, deliveryOf, send, topicId } from './send.ts'

export const messages: Handlers<Context> = {
  async edit(context, { content, ...target }) {
    assertSendable(content)
    if (content.kind === 'text') {
      const entities = await writtenText(context, content)
      return edited(context, target, { message: content.text, entities, ...previewOf(content) })
    }
    if (content.kind !== 'media' && content.kind !== 'checklist') {
      const name = contentName(content)
      throw failed('bad_request', `putting ${name} into a message is not supported on Telegram`)
    }
    const { media } = await inputMediaOf(context, content)
    return edited(context, target, {
      media,
      ...(content.kind === 'media' && (await captionIn(context, content))),
    })
  },

  edit_caption: async (context, operation) =>
    edited(context, operation, await captionIn(context, operation)),

  async edit_location(context, { location, ...target }) {
    const { content } = await found(context, target, 'message to edit')
    if (content.kind !== 'location' || content.liveSeconds === undefined) {
      throw messageNotAllowed("message can't be edited")
    }
    if (!location) {
      const { latitude: lat, longitude: long } = content
      const geoPoint = { _: 'inputGeoPoint', lat, long } as const
      return edited(context, target, { media: { _: 'inputMediaGeoLive', geoPoint, stopped: true } })
    }
    const liveSeconds = location.liveSeconds ?? content.liveSeconds
    const media = locationOf({ kind: 'location', ...location, liveSeconds })
    return edited(context, target, { media })
  },

  async stop_poll(context, target) {
    const purpose = 'message with poll to stop'
    const { content } = await found(context, target, purpose)
    if (content.kind !== 'poll') throw messageNotFound(purpose)
    const media = inputPollOf({ ...content.poll, isClosed: true })
    const result = await edited(context, target, { media })
    if (result.kind !== 'message' || result.message.content.kind !== 'poll') {
      throw untold('edited the message and does not show its poll')
    }
    return { kind: 'poll', poll: result.message.content.poll }
  },

  async delete(context, { chat, message }) {
    const { calls, signal } = context
    const id = messageId(message, 'message to delete')
    const channel = isChannel(chat) ? await calls.channel(chat, signal) : undefined
    if (!channel) await assertThere(context, chat, id)
    const { pts, ptsCount } = channel
      ? await calls.call({ _: 'channels.deleteMessages', channel, id: [id] }, { signal })
      : await calls.call({ _: 'messages.deleteMessages', id: [id], revoke: true }, { signal })
    calls.count(pts, ptsCount, channel?.channelId)
    if (ptsCount === 0) throw messageNotFound('message to delete')
    return done
  },

  forward: passOn,

  copy: passOn,

  async react({ calls, signal }, { chat, message, reactions, isBig }) {
    const msgId = messageId(message, 'message to react')
    const peer = await calls.peer(chat, signal)
    const reaction = reactions.map(
      (one): tl.TypeReaction =>
        'emoji' in one
          ? { _: 'reactionEmoji', emoticon: one.emoji }
          : { _: 'reactionCustomEmoji', documentId: Long.fromString(one.customEmojiId) },
    )
    const request = { _: 'messages.sendReaction', peer, msgId, reaction } as const
    const result = await calls
      .call({ ...request, reaction, ...(isBig && { big: true }) }, { signal })
      .catch(missing('message to react'))
    calls.take(result)
    return done
  },

  async remove_reaction({ calls, signal }, { chat, message, person }) {
    const msgId = messageId(message, 'message to react')
    const peer = await calls.peer(chat, signal)
    const participant = await calls.person(person, signal)
    const request = { _: 'messages.deleteParticipantReaction', peer, msgId, participant } as const
    const result = await calls.call(request, { signal }).catch(missing('message to react'))
    calls.take(result)
    return done
  },

  async remove_all_reactions({ calls, signal }, { chat, person }) {
    const peer = await calls.peer(chat, signal)
    const participant = await calls.person(person, signal)
    const request = { _: 'messages.deleteParticipantReactions', peer, participant } as const
    await calls.call(request, { signal })
    return done
  },
}

/** Private chats and small groups share one numbering, and the network deletes by the number alone. */
async function assertThere(
  { calls, locations, signal }: Context,
  chat: string,
  id: number,
): Promise<void> {
  const purpose = 'message to delete'
  const [known] = await locations.find([id])
  if (!known) await findMessage(calls, chat, id, signal).catch(missing(purpose))
  else if (`${known.chat}` !== chat) throw messageNotFound(purpose)
}

type Target = Pick<OperationOf<'edit'>, 'chat' | 'message'>
type Change = Partial<Omit<tl.messages.RawEditMessageRequest, '_' | 'peer' | 'id'>>

async function edited(
  context: Context,
  { chat, message }: Target,
  change: Change,
): Promise<OperationResult> {
  const { calls, self, signal } = context
  const id = messageId(message, 'message to edit')
  const peer = await calls.peer(chat, signal)
  const result = await calls
    .call({ _: 'messages.editMessage', peer, id, ...change }, { signal, chain: `send:${chat}` })
    .catch(missing('message to edit'))
  const [changed] = messagesIn(calls.take(result), self)
  if (changed) return { kind: 'message', message: changed }
  const reading = current(context, chat, id).catch((cause) => {
    throw untold('edited the message and does not show it', cause)
  })
  return { kind: 'message', message: await reading }
}

async function captionIn(
  context: Context,
  { caption, captionAbove }: Pick<OperationOf<'edit_caption'>, 'caption' | 'captionAbove'>,
): Promise<Change> {
  const entities = await writtenText(context, caption)
  return { message: caption.text, entities, ...(captionAbove && { invertMedia: true }) }
}

const found = (context: Context, { chat, message }: Target, purpose: string) =>
  current(context, chat, messageId(message, purpose)).catch(missing(purpose))

/** The message as the network has it now. */
async function current(context: Context, chat: string, id: number): Promise<Message> {
  const { calls, self, signal } = context
  const { message, peers } = await findMessageWithPeers(calls, chat, id, signal)
  return messageOf(message, { self, peers })
}

/** The network has one error for every message that does not exist, the reference one for each method. */
export const missing =
  (purpose: string) =>
  (cause: unknown): never => {
    const isMissing =
      ['MESSAGE_ID_INVALID', 'MSG_ID_INVALID'].includes(refusalOf(cause) ?? '') ||
      (cause instanceof RequestFailed && cause.failure.reason === 'message_not_found')
    throw isMissing ? messageNotFound(purpose) : cause
  }

type PassOn = OperationOf<'forward' | 'copy'>

async function passOn(context: Context, operation: PassOn): Promise<OperationResult> {
  const { kind, chat, from, caption, replyTo, topic, buttons, startSeconds } = operation
  assertNoButtons(buttons)
  const purpose = kind === 'forward' ? 'message to forward' : 'message to copy'
  const id = messageId(operation.message, purpose)
  const source = { chat: from, message: operation.message }
  const original = await found(context, source, purpose).catch((cause: unknown) => {
    // Its words would be taken for those of the chat that it is to be sent to.
    throw isShut(cause) ? messageNotFound(purpose) : cause
  })
  if (original.content.kind === 'service') throw messageNotFound(purpose)
  // The network copies messages only unchanged, and not as a reply.
  if (kind === 'copy' && (caption !== undefined || replyTo !== undefined)) {
    const content = startingAt(withCaption(original.content, caption), startSeconds)
    return { kind: 'message', message: await send(context, { ...copyOf(operation), content }) }
  }
  const { calls, self, signal } = context
  const [fromPeer, toPeer] = [await calls.peer(from, signal), await calls.peer(chat, signal)]
  const { monoforumPeerId } = await conversationFor(context, operation)
  const sought = { peer: toPeer, content: original.content }
  const message = await repeated(context, sought, async (): Promise<Message> => {
    const result = await calls
      .call(
        {
          _: 'messages.forwardMessages',
          fromPeer,
          toPeer,
          id: [id],
          randomId: [randomId(context.requestId)],
          ...(kind === 'copy' && { dropAuthor: true }),
          ...(topic !== undefined && { topMsgId: topicId(topic) }),
          ...(startSeconds !== undefined && { videoTimestamp: startSeconds }),
          ...(monoforumPeerId && {
            replyTo: { _: 'inputReplyToMonoForum', monoforumPeerId },
          }),
          ...deliveryOf(operation),
        },
        sendOptions(context, chat),
      )
      .catch(missing(purpose))
    const [sent] = messagesIn(calls.take(result), self)
    if (sent) return sent
    throw unidentified()
  })
  noteLocations(context, [message])
  return { kind: 'message', message }
}

function copyOf(operation: PassOn) {
  const { chat, replyTo, replyFrom, quote, replyOptional, topic, silent, isProtected } = operation
  const { effect, directTopic, suggested } = operation
  return {
    kind: 'send',
    chat,
    ...(replyTo !== undefined && { replyTo }),
    ...(replyFrom !== undefined && { replyFrom }),
    ...(quote && { quote }),
    ...(effect !== undefined && { effect }),
    ...(directTopic !== undefined && { directTopic }),
    ...(suggested && { suggested }),
    ...(replyOptional !== undefined && { replyOptional }),
    ...(topic !== undefined && { topic }),
    ...(silent !== undefined && { silent }),
    ...(isProtected !== undefined && { isProtected }),
  } as const
}

const withCaption = (content: Content, caption: PassOn['caption']): Content =>
  content.kind === 'media' && caption ? { ...content, caption } : content
