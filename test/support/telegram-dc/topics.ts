/** Topics of the test network's forums. */
import type { Long, tl } from '@mtcute/core'
import type { Channel } from './channel.ts'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import { isPlace, type Target } from './delivery.ts'
import { targetOf } from './lookup.ts'
import type { TelegramNetwork } from './network.ts'
import type { Person } from './people.ts'

export interface Topic {
  title: string
  readonly iconColor: number
  icon: Long | undefined
  isClosed: boolean
}

/** The number of every general topic. */
const GENERAL = 1
const DEFAULT_COLOR = 0x6fb9f0

export function topicHandlers(network: TelegramNetwork): Handlers {
  const managed = (peer: tl.TypeInputPeer, origin: Origin): Channel => {
    const found = targetOf(network, origin, peer)
    const isForum = isPlace(found) && found.kind === 'channel' && found.isForum
    if (!isForum) throw new RpcRefusal(400, 'CHANNEL_FORUM_MISSING')
    if (found.owner === network.asker(origin).id) return found
    throw new RpcRefusal(400, 'CHAT_ADMIN_REQUIRED')
  }
  /** Tells the others what its answer tells the asker. */
  const say = (
    place: Channel,
    origin: Origin,
    action: tl.TypeMessageAction,
    topic?: number,
  ): tl.RawUpdates => {
    const person = network.asker(origin)
    const since = place.events.length
    network.delivery.announce(person, place, action, {
      except: origin.connection,
      ...(topic !== undefined && { replyTo: headerOf(topic) }),
    })
    return network.delivery.answer(
      person,
      place.events.slice(since).map(({ update }) => update),
    )
  }

  return {
    'messages.createForumTopic': (request, origin) => {
      const place = managed(request.peer, origin)
      const { title, iconColor = DEFAULT_COLOR, iconEmojiId: icon } = request
      place.topics.set(place.nextMessage, { title, iconColor, icon, isClosed: false })
      const look = { title, iconColor, ...(icon && { iconEmojiId: icon }) }
      return say(place, origin, { _: 'messageActionTopicCreate', ...look })
    },
    'messages.editForumTopic': (request, origin) => {
      const { peer, topicId, title, iconEmojiId, closed } = request
      const place = managed(peer, origin)
      if (topicId === GENERAL) {
        const { general } = place
        general.title = title ?? general.title
        general.isHidden = request.hidden ?? general.isHidden
        general.isClosed = request.hidden ?? closed ?? general.isClosed
        const { hidden } = request
        const change = { ...(title && { title }), ...(closed !== undefined && { closed }) }
        const told = { ...change, ...(hidden !== undefined && { hidden }) }
        return say(place, origin, { _: 'messageActionTopicEdit', ...told })
      }
      const topic = place.topics.get(topicId)
      if (!topic) throw new RpcRefusal(400, 'TOPIC_ID_INVALID')
      const isSame =
        (title ?? topic.title) === topic.title &&
        (closed ?? topic.isClosed) === topic.isClosed &&
        (iconEmojiId ?? topic.icon)?.toString() === topic.icon?.toString()
      if (isSame) throw new RpcRefusal(400, 'TOPIC_NOT_MODIFIED')
      topic.title = title ?? topic.title
      topic.isClosed = closed ?? topic.isClosed
      if (iconEmojiId) topic.icon = iconEmojiId.isZero() ? undefined : iconEmojiId
      const action: tl.RawMessageActionTopicEdit = {
        _: 'messageActionTopicEdit',
        ...(title !== undefined && { title }),
        ...(iconEmojiId && { iconEmojiId }),
        ...(closed !== undefined && { closed }),
      }
      return say(place, origin, action, topicId)
    },
    'messages.deleteTopicHistory': ({ peer, topMsgId }, origin) => {
      const place = managed(peer, origin)
      if (!place.topics.delete(topMsgId)) throw new RpcRefusal(400, 'TOPIC_ID_INVALID')
      const inTopic = [...place.messages.values()].filter(
        ({ id, replyTo }) => id === topMsgId || topOf(replyTo) === topMsgId,
      )
      const ids = inTopic.map(({ id }) => id)
      network.delivery.delete(place, ids, origin.connection)
      return { _: 'messages.affectedHistory', pts: place.pts, ptsCount: ids.length, offset: 0 }
    },
  }
}

/** Where a message stands that answers another, or names a topic; refuses what is no place to write. */
export function replyHeader(
  { id }: Person,
  target: Target,
  replyTo: tl.RawInputReplyToMessage,
): tl.RawMessageReplyHeader {
  const { replyToMsgId, topMsgId, quoteText, quoteEntities, quoteOffset } = replyTo
  const quoted = quoteText !== undefined && {
    quote: true,
    quoteText,
    ...(quoteEntities && { quoteEntities }),
    ...(quoteOffset !== undefined && { quoteOffset }),
  }
  const { todoItemId, pollOption } = replyTo
  const part = {
    ...(todoItemId !== undefined && { todoItemId }),
    ...(pollOption && { pollOption }),
  }
  const plain = { _: 'messageReplyHeader', replyToMsgId, ...quoted, ...part } as const
  if (!isPlace(target) || target.kind !== 'channel' || !target.isForum) return plain
  const top = topMsgId ?? topOf(target.messages.get(replyToMsgId)?.replyTo)
  if (top === undefined) return plain
  const topic = target.topics.get(top)
  if (!topic) throw new RpcRefusal(400, 'TOPIC_DELETED')
  if (topic.isClosed && target.owner !== id) throw new RpcRefusal(400, 'TOPIC_CLOSED')
  return headerOf(top, replyToMsgId)
}

const headerOf = (top: number, replyToMsgId = top): tl.RawMessageReplyHeader => ({
  _: 'messageReplyHeader',
  forumTopic: true,
  replyToMsgId,
  ...(replyToMsgId !== top && { replyToTopId: top }),
})

export function topOf(replyTo: tl.TypeMessageReplyHeader | undefined): number | undefined {
  if (replyTo?._ !== 'messageReplyHeader' || !replyTo.forumTopic) return undefined
  return replyTo.replyToTopId ?? replyTo.replyToMsgId
}
