/** The network's short answer to a text says only what its sender cannot know; the rest is put back. */
import type { tl } from '@mtcute/node'
import type { Message } from '../../../../machines/model/content.ts'
import { messageOf } from '../reading/message.ts'
import type { Context } from './context.ts'

export async function spelledOut(
  { calls, self }: Context,
  request: tl.messages.RawSendMessageRequest,
  short: tl.RawUpdateShortSentMessage,
): Promise<Message> {
  const { replyTo } = request
  const fromId = { _: 'peerUser', userId: Number(self) } as const
  const peerId = peerOf(request.peer, fromId)
  const peers = await calls.known([fromId, peerId])
  const message: tl.RawMessage = {
    _: 'message',
    out: true,
    id: short.id,
    fromId,
    peerId,
    date: short.date,
    message: request.message,
    ...(short.entities && { entities: short.entities }),
    ...(short.media && { media: short.media }),
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
