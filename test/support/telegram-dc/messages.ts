/** Sending, changing and reading messages on the test network. */
import { Long, type tl } from '@mtcute/core'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import { type Draft, isPlace, now, type Target } from './delivery.ts'
import { conversationOf } from './direct-messages.ts'
import { targetOf } from './lookup.ts'
import { mediaOf, pageAt, refreshed } from './media.ts'
import type { TelegramNetwork } from './network.ts'
import type { Person } from './people.ts'
import { replyHeader } from './topics.ts'

interface Sending {
  readonly peer: tl.TypeInputPeer
  readonly randomId: Long
  readonly message?: string | undefined
  readonly entities?: tl.TypeMessageEntity[] | undefined
  readonly replyTo?: tl.TypeInputReplyTo | undefined
  readonly effect?: Long | undefined
  readonly suggestedPost?: tl.TypeSuggestedPost | undefined
}

export function messageHandlers(network: TelegramNetwork): Handlers {
  const { delivery } = network

  /** The request's own changes come with its answer, and only to others as news. */
  const answer = (person: Person, since: number, channel?: Target): tl.RawUpdates => {
    const box = channel && isPlace(channel) && channel.kind === 'channel' ? channel : person
    const updates = box.events.slice(since).map(({ update }) => delivery.toldTo(person, update))
    return { _: 'updates', updates, ...delivery.along(person), date: now(), seq: 0 }
  }
  const boxOf = (person: Person, target: Target) =>
    isPlace(target) && target.kind === 'channel' ? target : person

  const send = (request: Sending, origin: Origin, more: Partial<Draft>) => {
    const person = network.asker(origin)
    if (person.floodSeconds > 0) throw new RpcRefusal(420, `FLOOD_WAIT_${person.floodSeconds}`)
    const target = targetOf(network, origin, request.peer)
    if ('movedTo' in target) throw new RpcRefusal(400, 'PEER_ID_INVALID')
    if (isPlace(target) && !mayWrite(person, target)) {
      const isShut = target.kind === 'channel' && !target.members.has(person.id)
      throw isShut
        ? new RpcRefusal(400, 'CHANNEL_PRIVATE')
        : new RpcRefusal(403, 'CHAT_WRITE_FORBIDDEN')
    }
    const slow = isPlace(target) && target.kind === 'channel' ? target.slowSeconds : 0
    if (slow > 0) throw new RpcRefusal(420, `SLOWMODE_WAIT_${slow}`)
    const random = request.randomId.toString()
    if (person.sent.has(random)) throw new RpcRefusal(500, 'RANDOM_ID_DUPLICATE')
    const since = boxOf(person, target).events.length
    const text = trimmed(request.message ?? '', request.entities)
    if (!text.message && !more.media) throw new RpcRefusal(400, 'MESSAGE_EMPTY')
    const draft: Draft = {
      ...text,
      ...(request.effect && { effect: request.effect }),
      ...replyOf(network, origin, target, request),
      ...conversationOf(network, origin, target, request),
      ...more,
    }
    const id = delivery.send(person, target, draft, origin.connection)
    person.sent.set(random, id)
    if (person.lostAnswers > 0) {
      person.lostAnswers -= 1
      return undefined
    }
    const told = answer(person, since, target)
    const named = { _: 'updateMessageID', id, randomId: request.randomId } as const
    return { ...told, updates: [named, ...told.updates] }
  }

  const messageOf = (person: Person, target: Target, id: number) => {
    const message = boxOf(person, target).messages.get(id)
    if (!message) throw new RpcRefusal(400, 'MESSAGE_ID_INVALID')
    return message
  }

  /** One message; those of an album stay together. */
  const forward = (
    request: tl.messages.RawForwardMessagesRequest,
    origin: Origin,
    { id, randomId, albums }: { id: number; randomId: Long; albums: Map<string, Long> },
  ) => {
    const person = network.asker(origin)
    const from = targetOf(network, origin, request.fromPeer)
    const message = messageOf(person, from, id)
    if (message._ !== 'message') throw new RpcRefusal(400, 'MESSAGE_ID_INVALID')
    const { entities, media } = message
    const { topMsgId, videoTimestamp } = request
    const isFilm = media?._ === 'messageMediaDocument' && videoTimestamp !== undefined
    const replyTo = topMsgId !== undefined && {
      replyTo: { _: 'inputReplyToMessage' as const, replyToMsgId: topMsgId, topMsgId },
    }
    const text = { message: message.message, entities }
    const { effect, suggestedPost } = request
    const direct = request.replyTo && { replyTo: request.replyTo }
    const told = { ...text, ...replyTo, ...direct }
    const sending = { peer: request.toPeer, randomId, effect, suggestedPost, ...told }
    const album = message.groupedId?.toString()
    if (album && !albums.has(album)) albums.set(album, new Long(person.nextMessage, 8))
    return send(sending, origin, {
      ...(media && { media: isFilm ? { ...media, videoTimestamp } : media }),
      ...(!request.dropAuthor && { fwdFrom: originOf(message) }),
      ...(album && request.id.length > 1 && { groupedId: albums.get(album)! }),
    })
  }

  return {
    'messages.sendMessage': (request, origin) => {
      if ([...request.message].length > 4096) throw new RpcRefusal(400, 'MESSAGE_TOO_LONG')
      const [url] = /https?:\S+/.exec(request.message) ?? []
      const told = send(request, origin, {
        ...(url && !request.noWebpage && { media: pageAt(url) }),
        ...(request.invertMedia && { invertMedia: true }),
      })
      const person = network.asker(origin)
      const isShort = person.isAnsweredShortly && request.peer._ === 'inputPeerUser'
      return isShort && told ? shortened(told) : told
    },
    'messages.sendMedia': (request, origin) =>
      send(request, origin, {
        media: mediaOf(network.files, request.media),
        ...(request.invertMedia && { invertMedia: true }),
      }),
    'messages.uploadMedia': ({ media }) => mediaOf(network.files, media),
    'messages.sendMultiMedia': (request, origin) => {
      const person = network.asker(origin)
      const groupedId = new Long(person.nextMessage, 7)
      const answers = request.multiMedia.map((item) =>
        send(
          { ...item, peer: request.peer, replyTo: request.replyTo, effect: request.effect },
          origin,
          {
            media: mediaOf(network.files, item.media),
            groupedId,
            ...(request.invertMedia && { invertMedia: true }),
          },
        ),
      )
      const updates = answers.flatMap((answer) => answer?.updates ?? [])
      return { ...answer(person, person.events.length), updates }
    },
    'messages.forwardMessages': (request, origin) => {
      const person = network.asker(origin)
      const albums = new Map<string, Long>()
      const answers = request.id.map((id, place) =>
        forward(request, origin, { id, randomId: request.randomId[place] ?? Long.ZERO, albums }),
      )
      if (answers.includes(undefined)) return undefined
      const updates = answers.flatMap((answer) => answer?.updates ?? [])
      return { ...answer(person, person.events.length), updates }
    },
    'messages.editMessage': (request, origin) => {
      const person = network.asker(origin)
      const target = targetOf(network, origin, request.peer)
      const { id, message } = request
      const before = messageOf(person, target, id)
      if (before._ !== 'message' || !mayEdit(person, target, before)) {
        throw new RpcRefusal(403, 'MESSAGE_AUTHOR_REQUIRED')
      }
      const box = boxOf(person, target)
      const since = box.events.length
      const media = request.media && { media: mediaOf(network.files, request.media) }
      const text = message !== undefined && {
        entities: undefined,
        ...trimmed(message, request.entities),
      }
      const pageless = request.noWebpage && { media: { _: 'messageMediaEmpty' as const } }
      const above = { invertMedia: request.invertMedia === true }
      const change = { ...text, ...media, ...pageless, ...above }
      if (!media && !changes(before, change)) throw new RpcRefusal(400, 'MESSAGE_NOT_MODIFIED')
      delivery.edit(box, id, change as Partial<tl.RawMessage>, origin.connection)
      return answer(person, since, target)
    },
    'messages.deleteMessages': ({ id }, origin) => {
      const person = network.asker(origin)
      const before = person.pts
      delivery.delete(person, id, origin.connection)
      return { _: 'messages.affectedMessages', pts: person.pts, ptsCount: person.pts - before }
    },
    'channels.deleteMessages': ({ channel, id }, origin) => {
      const found = channel._ === 'inputChannel' ? network.places.get(channel.channelId) : undefined
      if (found?.kind !== 'channel') throw new RpcRefusal(400, 'CHANNEL_INVALID')
      delivery.delete(found, id, origin.connection)
      return { _: 'messages.affectedMessages', pts: found.pts, ptsCount: id.length }
    },
    'messages.getMessages': ({ id }, origin) => {
      const person = network.asker(origin)
      return found(person, person.messages, id.map(idOf))
    },
    'channels.getMessages': ({ channel, id }, origin) => {
      const person = network.asker(origin)
      const place = channel._ === 'inputChannel' ? network.places.get(channel.channelId) : undefined
      if (place?.kind !== 'channel') throw new RpcRefusal(400, 'CHANNEL_INVALID')
      return found(person, place.messages, id.map(idOf))
    },
    'messages.setTyping': ({ peer, action }, origin) => {
      const person = network.asker(origin)
      const target = targetOf(network, origin, peer)
      if (!isPlace(target)) {
        delivery.tell(target, { _: 'updateUserTyping', userId: person.id, action })
        network.changes.dispatchEvent(new CustomEvent('typing', { detail: [person.id, target.id] }))
      }
      return true
    },
  }

  function found(person: Person, from: Person['messages'], ids: number[]): tl.messages.RawMessages {
    const messages = ids.map((id): tl.TypeMessage => {
      const message = from.get(id)
      if (!message) return { _: 'messageEmpty', id }
      return refreshed(network.files, delivery.asSeenBy(person, message))
    })
    return { _: 'messages.messages', messages, ...delivery.along(person), topics: [] }
  }
}

function shortened({ updates }: tl.RawUpdates): tl.RawUpdateShortSentMessage {
  const told = updates.find((update) => update._ === 'updateNewMessage')
  if (told?.message._ !== 'message') throw new Error('nothing was sent')
  const { message, pts, ptsCount } = told
  return {
    _: 'updateShortSentMessage',
    out: true,
    id: message.id,
    date: message.date,
    pts,
    ptsCount,
    ...(message.entities && { entities: message.entities }),
  }
}

/** The network takes away white space around a text, but not all that is white space in JavaScript. */
function trimmed(text: string, entities?: readonly tl.TypeMessageEntity[]) {
  const start = text.replace(/^[ \t\r\n\v\f]+/, '')
  const message = start.replace(/[ \t\r\n\v\f]+$/, '')
  const before = text.length - start.length
  const kept = formatted(entities)?.entities.flatMap((entity) => {
    const from = Math.max(0, entity.offset - before)
    const to = Math.min(message.length, entity.offset + entity.length - before)
    return to > from ? { ...entity, offset: from, length: to - from } : []
  })
  return { message, ...(kept && { entities: kept }) }
}

/** People that a text mentions are named in requests by more than their numbers. */
function formatted(entities: readonly tl.TypeMessageEntity[] | undefined) {
  return (
    entities && {
      entities: entities.map((entity): tl.TypeMessageEntity => {
        if (entity._ !== 'inputMessageEntityMentionName') return entity
        const { offset, length, userId } = entity
        const id = 'userId' in userId ? userId.userId : 0
        return { _: 'messageEntityMentionName', offset, length, userId: id }
      }),
    }
  )
}

/** Whether an edit leaves anything different; what is empty is as good as absent. */
const changes = (before: tl.RawMessage, change: Partial<Record<keyof tl.RawMessage, unknown>>) =>
  Object.entries(change).some(
    ([name, value]) => written(value) !== written(before[name as keyof tl.RawMessage]),
  )
const written = (value: unknown) =>
  JSON.stringify(Array.isArray(value) && value.length === 0 ? undefined : value || undefined)

function mayEdit({ id }: Person, target: Target, { out, fromId }: tl.RawMessage): boolean {
  if (isPlace(target) && target.kind === 'channel' && target.owner === id) return true
  return out === true || (fromId?._ === 'peerUser' && fromId.userId === id)
}

/** Who wrote what is forwarded: of a forwarded message, its first author. */
function originOf(message: tl.RawMessage): tl.TypeMessageFwdHeader {
  const { id, fwdFrom, fromId, post, peerId, date } = message
  if (fwdFrom) return fwdFrom
  const header = { _: 'messageFwdHeader' as const, date }
  if (post) return { ...header, fromId: peerId, channelPost: id }
  return { ...header, ...(fromId && { fromId }) }
}

const idOf = (input: tl.TypeInputMessage) => (input._ === 'inputMessageID' ? input.id : 0)

function mayWrite({ id }: Person, place: Exclude<Target, Person>): boolean {
  if (place.kind === 'channel' && place.isBroadcast) return place.owner === id
  return place.members.has(id)
}

/** What a message answers; refuses a quote that is not in it. */
function replyOf(
  network: TelegramNetwork,
  origin: Origin,
  target: Target,
  { replyTo }: Sending,
): Partial<Draft> {
  if (replyTo?._ !== 'inputReplyToMessage') return {}
  const person = network.asker(origin)
  const { replyToPeerId: from, replyToMsgId, quoteText } = replyTo
  const place = from ? targetOf(network, origin, from) : target
  const box = isPlace(place) && place.kind === 'channel' ? place : person
  const message = box.messages.get(replyToMsgId)
  const text = message?._ === 'message' ? message.message : ''
  if (quoteText !== undefined && !text.includes(quoteText)) {
    throw new RpcRefusal(400, 'QUOTE_TEXT_INVALID')
  }
  const header = replyHeader(person, target, replyTo)
  if (!from || place === target) return { replyTo: header }
  if (!message) throw new RpcRefusal(400, 'REPLY_MESSAGE_ID_INVALID')
  const { fromId, date } = message
  const peer = isPlace(place) && { _: 'peerChannel' as const, channelId: place.id }
  const replyFrom = { _: 'messageFwdHeader' as const, date, ...(fromId && { fromId }) }
  const { replyToMsgId: id, ...rest } = header
  const shown = peer && { replyToPeerId: peer, replyToMsgId: id! }
  return { replyTo: { ...rest, ...shown, replyFrom } }
}
