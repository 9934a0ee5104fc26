/** The chats of somebody on the test network, and what was written there. */
import type { tl } from '@mtcute/core'
import type { Channel } from './channel.ts'
import type { Connection } from './connection.ts'
import { type Handlers, RpcRefusal } from './data-centre.ts'
import { isPlace, type Stored, type Target } from './delivery.ts'
import { targetOf } from './lookup.ts'
import type { TelegramNetwork } from './network.ts'
import type { Person } from './people.ts'
import { stateOf } from './state.ts'

export function dialogHandlers(network: TelegramNetwork): Handlers {
  const chatsOf = (person: Person): Target[] => {
    const people = network.isCrowd ? [] : [...network.people.values()]
    const partners = people.filter((it) => newest(person, it))
    const places = [...network.places.values()].filter(({ members }) => members.has(person.id))
    return [...partners, ...places].sort((one, other) => compare(person, other, one))
  }
  const shown = (person: Person, targets: readonly Target[]) => ({
    dialogs: targets.map((target) => dialogOf(person, target)),
    messages: targets
      .flatMap((target) => newest(person, target) ?? [])
      .map((message) => network.delivery.asSeenBy(person, message)),
    ...network.delivery.along(person),
  })

  return {
    'messages.getDialogs': (request, origin) => {
      const person = network.asker(origin)
      const { offsetPeer, excludePinned, limit } = request
      const all = chatsOf(person).filter(
        (target) => !excludePinned || !person.pinned.includes(idOf(target)),
      )
      const from =
        offsetPeer._ === 'inputPeerEmpty'
          ? 0
          : all.indexOf(targetOf(network, origin, offsetPeer)) + 1
      const page = all.slice(from, from + limit)
      if (from + limit >= all.length && from === 0) {
        return { _: 'messages.dialogs', ...shown(person, page) }
      }
      return { _: 'messages.dialogsSlice', count: all.length, ...shown(person, page) }
    },
    'messages.getPinnedDialogs': ({ folderId }, origin) => {
      const person = network.asker(origin)
      const pinned = chatsOf(person).filter((target) => person.pinned.includes(idOf(target)))
      return {
        _: 'messages.peerDialogs',
        ...shown(person, folderId === 0 ? pinned : []),
        state: stateOf(person),
      }
    },
    'messages.getHistory': (request, origin) => {
      const person = network.asker(origin)
      person.historiesAsked += 1
      const all = messagesOf(person, targetOf(network, origin, request.peer))
      const messages = pageOf(all, request).map((one) => network.delivery.asSeenBy(person, one))
      const along = network.delivery.along(person)
      if (messages.length === all.length) {
        return { _: 'messages.messages', messages, ...along, topics: [] }
      }
      return { _: 'messages.messagesSlice', count: all.length, messages, ...along, topics: [] }
    },
    'messages.readHistory': ({ peer, maxId }, origin) => {
      const person = network.asker(origin)
      const before = person.pts
      read(network, person, targetOf(network, origin, peer), { maxId, except: origin.connection })
      return { _: 'messages.affectedMessages', pts: person.pts, ptsCount: person.pts - before }
    },
    'channels.readHistory': ({ channel, maxId }, origin) => {
      const person = network.asker(origin)
      const place = channel._ === 'inputChannel' ? network.places.get(channel.channelId) : undefined
      if (place?.kind !== 'channel') throw new RpcRefusal(400, 'CHANNEL_INVALID')
      read(network, person, place, { maxId })
      return true
    },
  }
}

/** Somebody has read a chat up to a message, or all of it; those who wrote there are told. */
export function read(
  network: TelegramNetwork,
  reader: Person,
  target: Target,
  { maxId = 0, except }: { readonly maxId?: number; readonly except?: Connection } = {},
) {
  const { delivery } = network
  const messages = messagesOf(reader, target)
  const upTo = Math.min(maxId || Number.POSITIVE_INFINITY, messages.at(-1)?.id ?? 0)
  if (upTo <= readUpTo(reader, target)) return
  reader.readUpTo.set(idOf(target), upTo)
  if (isPlace(target) && target.kind === 'channel') {
    const update = readInChannel(reader, target, upTo)
    for (const id of target.members) {
      if (id !== reader.id) delivery.tell(network.people.get(id)!, update)
    }
    return
  }
  const stillUnreadCount = unreadIn(reader, target)
  const facts = { peer: peerOf(target), maxId: upTo, stillUnreadCount, pts: 0, ptsCount: 1 }
  delivery.count(reader, { _: 'updateReadHistoryInbox', ...facts }, except)
  for (const writer of isPlace(target) ? [] : [target]) {
    const copies = messages
      .filter(({ id, out }) => id <= upTo && !out)
      .flatMap(({ id }) => delivery.copiesOf(reader, id))
      .flatMap(([person, copy]) => (person === writer ? [copy] : []))
    if (copies.length === 0) continue
    const peer = peerOf(reader)
    const theirs = { peer, maxId: Math.max(...copies), pts: 0, ptsCount: 1 }
    delivery.count(writer, { _: 'updateReadHistoryOutbox', ...theirs })
  }
}

/** What the others of a channel hear; in direct messages the owner hears whose conversation it is. */
function readInChannel(reader: Person, { id, parent, owner }: Channel, upTo: number) {
  const channelId = id
  if (!parent || reader.id === owner) {
    return { _: 'updateReadChannelOutbox', channelId, maxId: upTo } as const
  }
  const savedPeerId = peerOf(reader)
  return { _: 'updateReadMonoForumOutbox', channelId, savedPeerId, readMaxId: upTo } as const
}

/** The newest messages first. */
export function pageOf(
  messages: readonly Stored[],
  { limit, minId, maxId, offsetId, addOffset }: Page,
): Stored[] {
  const newestFirst = messages.toReversed()
  const offset = offsetId === 0 ? 0 : newestFirst.findIndex(({ id }) => id < offsetId)
  // Counted from there, and from the end where nothing is older.
  const at = (offset < 0 ? newestFirst.length : offset) + addOffset
  return newestFirst
    .slice(Math.max(0, at), Math.max(0, at + limit))
    .filter(({ id }) => id > minId && (maxId === 0 || id < maxId))
}

interface Page {
  readonly limit: number
  readonly minId: number
  readonly maxId: number
  readonly offsetId: number
  readonly addOffset: number
}

const idOf = (target: Target) => (isPlace(target) ? -target.id : target.id)
const readUpTo = (person: Person, target: Target) => person.readUpTo.get(idOf(target)) ?? 0

const topicReadUpTo = (person: Person, target: Target, { savedPeerId }: Stored) =>
  savedPeerId?._ === 'peerUser'
    ? (person.readTopicUpTo.get(`${target.id}:${savedPeerId.userId}`) ?? 0)
    : 0

const unreadIn = (person: Person, target: Target): number =>
  messagesOf(person, target).filter(
    (message) =>
      message.id > readUpTo(person, target) &&
      message.id > topicReadUpTo(person, target, message) &&
      !message.out &&
      !(message.fromId?._ === 'peerUser' && message.fromId.userId === person.id),
  ).length

function compare(person: Person, one: Target, other: Target): number {
  const [a, b] = [newest(person, one), newest(person, other)]
  return (a?.date ?? 0) - (b?.date ?? 0) || (a?.id ?? 0) - (b?.id ?? 0) || one.id - other.id
}

export function dialogOf(person: Person, target: Target): tl.RawDialog {
  return {
    _: 'dialog',
    peer: peerOf(target),
    topMessage: newest(person, target)?.id ?? 0,
    readInboxMaxId: readUpTo(person, target),
    readOutboxMaxId: 0,
    unreadCount: unreadIn(person, target),
    unreadMentionsCount: 0,
    unreadReactionsCount: 0,
    unreadPollVotesCount: 0,
    notifySettings: { _: 'peerNotifySettings' },
    ...(person.pinned.includes(idOf(target)) && { pinned: true }),
    ...(isChannel(target) && { pts: target.pts }),
  }
}

function peerOf(target: Target): tl.TypePeer {
  if (!isPlace(target)) return { _: 'peerUser', userId: target.id }
  return target.kind === 'channel'
    ? { _: 'peerChannel', channelId: target.id }
    : { _: 'peerChat', chatId: target.id }
}

const isChannel = (target: Target) => isPlace(target) && target.kind === 'channel'

const newest = (person: Person, target: Target) => messagesOf(person, target).at(-1)

function messagesOf(person: Person, target: Target): Stored[] {
  if (isPlace(target) && target.kind === 'channel') return [...target.messages.values()]
  return [...person.messages.values()].filter(({ peerId }) =>
    isPlace(target)
      ? peerId._ === 'peerChat' && peerId.chatId === target.id
      : peerId._ === 'peerUser' && peerId.userId === target.id,
  )
}
