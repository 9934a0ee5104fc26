/** Direct messages of the test network's channels, and the posts that are suggested in them. */
import type { tl } from '@mtcute/core'
import type { Channel } from './channel.ts'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import { isPlace, type Stored, type Target } from './delivery.ts'
import { pageOf } from './dialogs.ts'
import { targetOf } from './lookup.ts'
import type { TelegramNetwork } from './network.ts'
import type { Person } from './people.ts'

export function directMessageHandlers(network: TelegramNetwork): Handlers {
  /** What becomes of a suggestion, and what the network says of it. */
  const decide = (
    post: tl.RawSuggestedPost,
    payer: Person,
    { reject, rejectComment, scheduleDate = post.scheduleDate }: Answer,
  ): { state: Partial<tl.RawSuggestedPost>; action: tl.RawMessageActionSuggestedPostApproval } => {
    const action = { _: 'messageActionSuggestedPostApproval' } as const
    if (reject) {
      const said = { ...action, rejected: true, ...(rejectComment && { rejectComment }) }
      return { state: { rejected: true }, action: said }
    }
    const { price } = post
    const stars = price?._ === 'starsAmount' ? price.amount.toNumber() : 0
    if (price && payer.stars < stars) {
      return { state: {}, action: { ...action, balanceTooLow: true, price } }
    }
    payer.stars -= stars
    const terms = { ...(price && { price }), ...(scheduleDate && { scheduleDate }) }
    return { state: { accepted: true, ...terms }, action: { ...action, ...terms } }
  }

  /** A conversation of direct messages; only the owner of the channel has several of them. */
  const topicOf = (request: Topic, origin: Origin): { place: Channel; of: Person } => {
    const asker = network.asker(origin)
    const place = request.parentPeer && targetOf(network, origin, request.parentPeer)
    if (!place || !isDirect(place)) throw new RpcRefusal(400, 'PARENT_PEER_INVALID')
    const of = targetOf(network, origin, request.peer)
    if (isPlace(of)) throw new RpcRefusal(400, 'PEER_ID_INVALID')
    if (asker.id !== place.owner) throw new RpcRefusal(400, 'CHAT_ADMIN_REQUIRED')
    return { place, of }
  }

  return {
    'messages.getSavedHistory': (request, origin) => {
      const { place, of } = topicOf(request, origin)
      const messages = pageOf(messagesIn(place, of), request)
      const along = network.delivery.along(network.asker(origin))
      return { _: 'messages.messages', messages, ...along, topics: [] }
    },
    'messages.readSavedHistory': (request, origin) => {
      const { place, of } = topicOf(request, origin)
      const newest = messagesIn(place, of).at(-1)?.id ?? 0
      const readMaxId = Math.min(request.maxId, newest)
      network.asker(origin).readTopicUpTo.set(`${place.id}:${of.id}`, readMaxId)
      const update = {
        _: 'updateReadChannelOutbox',
        channelId: place.id,
        maxId: readMaxId,
      } as const
      network.delivery.tell(of, update)
      return true
    },
    'messages.toggleSuggestedPostApproval': (request, origin) => {
      const asker = network.asker(origin)
      const place = targetOf(network, origin, request.peer)
      if (!isDirect(place)) throw new RpcRefusal(400, 'SUGGESTED_POST_PEER_INVALID')
      const message = place.messages.get(request.msgId)
      const post = message?._ === 'message' ? message.suggestedPost : undefined
      const { savedPeerId } = message ?? {}
      const payer = network.people.get(savedPeerId?._ === 'peerUser' ? savedPeerId.userId : 0)
      const isOpen = post && !post.accepted && !post.rejected
      if (!isOpen || !payer) throw new RpcRefusal(400, 'MESSAGE_ID_INVALID')
      if (asker.id !== place.owner && asker !== payer) {
        throw new RpcRefusal(400, 'CHAT_ADMIN_REQUIRED')
      }
      const since = place.events.length
      const { state, action } = decide(post, payer, request)
      const suggestedPost = { ...post, ...state }
      network.delivery.edit(place, request.msgId, { suggestedPost }, origin.connection)
      network.delivery.announce(asker, place, action, {
        except: origin.connection,
        replyTo: { _: 'messageReplyHeader', replyToMsgId: request.msgId },
        ...(savedPeerId && { savedPeerId }),
      })
      return network.delivery.answer(
        asker,
        place.events.slice(since).map(({ update }) => update),
      )
    },
  }
}

type Topic = Pick<tl.messages.RawGetSavedHistoryRequest, 'parentPeer' | 'peer'>

const messagesIn = ({ messages }: Channel, { id }: Person): Stored[] =>
  [...messages.values()].filter(
    ({ savedPeerId }) => savedPeerId?._ === 'peerUser' && savedPeerId.userId === id,
  )

type Answer = Pick<
  tl.messages.RawToggleSuggestedPostApprovalRequest,
  'reject' | 'rejectComment' | 'scheduleDate'
>

const isDirect = (target: Target): target is Channel =>
  isPlace(target) && target.kind === 'channel' && target.parent !== undefined

/** The conversation of a new message; its owner names the person, and writes in the name of the channel. */
export function conversationOf(
  network: TelegramNetwork,
  origin: Origin,
  target: Target,
  sent: {
    readonly replyTo?: tl.TypeInputReplyTo | undefined
    readonly suggestedPost?: tl.TypeSuggestedPost | undefined
  },
): {
  readonly savedPeerId?: tl.TypePeer
  readonly suggestedPost?: tl.TypeSuggestedPost
  readonly as?: tl.TypePeer
} {
  const { replyTo, suggestedPost } = sent
  const named = replyTo && 'monoforumPeerId' in replyTo ? replyTo.monoforumPeerId : undefined
  if (!isDirect(target)) {
    if (suggestedPost) throw new RpcRefusal(400, 'SUGGESTED_POST_PEER_INVALID')
    if (named) throw new RpcRefusal(400, 'REPLY_TO_MONOFORUM_PEER_INVALID')
    return {}
  }
  const asker = network.asker(origin)
  const isOwner = asker.id === target.owner
  if (isOwner !== (named !== undefined)) {
    throw new RpcRefusal(400, 'REPLY_TO_MONOFORUM_PEER_INVALID')
  }
  const { id: userId } = named ? targetOf(network, origin, named) : asker
  const post = suggestedPost && { suggestedPost }
  const as = isOwner && { as: { _: 'peerChannel', channelId: target.parent!.id } as const }
  return { savedPeerId: { _: 'peerUser', userId }, ...post, ...as }
}
