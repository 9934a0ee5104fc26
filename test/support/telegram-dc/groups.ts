/** What owners and administrators do with supergroups of the test network. */
import { Long, type tl } from '@mtcute/core'
import { asSeenBy, type Channel, channelHash } from './channel.ts'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import { now } from './delivery.ts'
import { targetOf } from './lookup.ts'
import type { TelegramNetwork } from './network.ts'
import type { Person } from './people.ts'
import { topOf } from './topics.ts'

export function groupHandlers(network: TelegramNetwork): Handlers {
  const nothing = (person: Person) => network.delivery.answer(person, [])
  const named = (channel: tl.TypeInputChannel): Channel => {
    const found = channel._ === 'inputChannel' ? network.places.get(channel.channelId) : undefined
    if (found?.kind !== 'channel') throw new RpcRefusal(400, 'CHANNEL_INVALID')
    return found
  }
  const owned = (channel: tl.TypeInputChannel, origin: Origin): Channel => {
    const found = named(channel)
    if (found.owner === network.asker(origin).id) return found
    throw new RpcRefusal(400, 'CHAT_ADMIN_REQUIRED')
  }
  const placed = (peer: tl.TypeInputPeer, origin: Origin): Channel => {
    const found = targetOf(network, origin, peer)
    if ('kind' in found && found.kind === 'channel') return found
    throw new RpcRefusal(400, 'PEER_ID_INVALID')
  }
  const userIn = (input: tl.TypeInputUser | tl.TypeInputPeer): number =>
    'userId' in input ? input.userId : 0

  return {
    'channels.getChannels': ({ id }, origin) => {
      const { id: asker } = network.asker(origin)
      const isNumbered = (one: tl.TypeInputChannel) =>
        one._ !== 'inputChannel' || one.accessHash.eq(channelHash(one.channelId))
      if (!id.every(isNumbered)) throw new RpcRefusal(400, 'CHANNEL_INVALID')
      const found = id.map(named).filter(({ members }) => members.has(asker))
      return { _: 'messages.chats', chats: found.map((place) => asSeenBy(place, asker)) }
    },
    'channels.getFullChannel': ({ channel }, origin) => {
      const place = named(channel)
      const fullChat: tl.RawChannelFull = {
        _: 'channelFull',
        id: place.id,
        about: place.about,
        participantsCount: place.members.size,
        readInboxMaxId: 0,
        readOutboxMaxId: 0,
        unreadCount: 0,
        chatPhoto: { _: 'photoEmpty', id: Long.ZERO },
        notifySettings: { _: 'peerNotifySettings' },
        botInfo: [],
        pts: place.pts,
        ...(place.pinned.length > 0 && { pinnedMsgId: place.pinned.at(-1)! }),
        ...(place.owner === network.asker(origin).id && { canSetStickers: true }),
        ...(place.stickerSet && { stickerset: place.stickerSet }),
      }
      const asker = network.asker(origin)
      const { users } = network.delivery.along(asker)
      return { _: 'messages.chatFull', fullChat, chats: [asSeenBy(place, asker.id)], users }
    },
    'channels.editTitle': ({ channel, title }, origin) => {
      owned(channel, origin).title = title
      return nothing(network.asker(origin))
    },
    'messages.editChatAbout': ({ peer, about }, origin) => {
      placed(peer, origin).about = about
      return true
    },
    'messages.editChatDefaultBannedRights': ({ peer, bannedRights }, origin) => {
      placed(peer, origin).defaultRights = bannedRights as tl.RawChatBannedRights
      return nothing(network.asker(origin))
    },
    'messages.updatePinnedMessage': ({ peer, id, unpin }, origin) => {
      const place = placed(peer, origin)
      if (!place.messages.has(id)) throw new RpcRefusal(400, 'MESSAGE_ID_INVALID')
      place.pinned = [...place.pinned.filter((one) => one !== id), ...(unpin ? [] : [id])]
      return nothing(network.asker(origin))
    },
    'messages.unpinAllMessages': ({ peer, topMsgId }, origin) => {
      const place = placed(peer, origin)
      const topicOf = (id: number) => topOf(place.messages.get(id)?.replyTo) ?? 1
      place.pinned = place.pinned.filter((id) => topMsgId && topicOf(id) !== topMsgId)
      return { _: 'messages.affectedHistory', pts: place.pts, ptsCount: 0, offset: 0 }
    },
    'messages.editChatParticipantRank': ({ peer, participant, rank }, origin) => {
      const place = placed(peer, origin)
      if (place.owner !== network.asker(origin).id) throw new RpcRefusal(400, 'CHAT_ADMIN_REQUIRED')
      if (/\p{Emoji_Presentation}/u.test(rank)) throw new RpcRefusal(400, 'RANK_EMOJI_NOT_ALLOWED')
      place.ranks.set(targetOf(network, origin, participant).id, rank)
      return nothing(network.asker(origin))
    },
    'premium.getUserBoosts': ({ peer, userId }, origin) => {
      const wanted = userIn(userId)
      const boosts = placed(peer, origin).boosts.filter((boost) => boost.userId === wanted)
      const { users } = network.delivery.along(network.asker(origin))
      return { _: 'premium.boostsList', count: boosts.length, boosts, users }
    },
    'channels.leaveChannel': ({ channel }, origin) => {
      const person = network.asker(origin)
      named(channel).members.delete(person.id)
      return nothing(person)
    },
    'channels.getParticipants': ({ channel }, origin) => {
      const place = named(channel)
      const ids = [place.owner, ...place.admins.keys()]
      const participants = ids.map((id) => participantOf(place, id))
      const { users, chats } = network.delivery.along(network.asker(origin))
      const count = ids.length
      return { _: 'channels.channelParticipants', count, participants, chats, users }
    },
    'channels.getParticipant': ({ channel, participant: input }, origin) => {
      const asker = network.asker(origin).id
      const { id: userId } = targetOf(network, origin, input)
      const participant = participantOf(named(channel), userId, asker)
      const { users, chats } = network.delivery.along(network.asker(origin))
      return { _: 'channels.channelParticipant', participant, chats, users }
    },
    'channels.editBanned': ({ channel, participant, bannedRights }, origin) => {
      const place = owned(channel, origin)
      const { id } = targetOf(network, origin, participant)
      const rights = bannedRights as tl.RawChatBannedRights
      const isFree = !Object.values(rights).includes(true)
      if (isFree) place.banned.delete(id)
      else place.banned.set(id, rights)
      if (rights.viewMessages) place.members.delete(id)
      return nothing(network.asker(origin))
    },
    'channels.editAdmin': ({ channel, userId, adminRights, rank }, origin) => {
      const place = owned(channel, origin)
      if (rank !== undefined) place.ranks.set(userIn(userId), rank)
      const rights = adminRights as tl.RawChatAdminRights
      if (Object.values(rights).includes(true)) place.admins.set(userIn(userId), rights)
      else place.admins.delete(userIn(userId))
      return nothing(network.asker(origin))
    },
  }
}

function participantOf(place: Channel, userId: number, asker?: number): tl.TypeChannelParticipant {
  const adminRights = place.admins.get(userId)
  const bannedRights = place.banned.get(userId)
  if (place.owner === userId) {
    const rights: tl.RawChatAdminRights = { _: 'chatAdminRights' }
    return { _: 'channelParticipantCreator', userId, adminRights: rights }
  }
  if (adminRights) {
    const [promotedBy, date, rank] = [place.owner, now(), place.ranks.get(userId)]
    const facts = { userId, promotedBy, date, adminRights, canEdit: true }
    return { _: 'channelParticipantAdmin', ...facts, ...(rank && { rank }) }
  }
  if (bannedRights) {
    const peer = { _: 'peerUser', userId } as const
    const kickedBy = place.owner
    const left = !place.members.has(userId) && { left: true }
    return { _: 'channelParticipantBanned', peer, kickedBy, date: now(), bannedRights, ...left }
  }
  if (userId === asker && place.members.has(userId)) {
    const date = place.joinedAt
    return { _: 'channelParticipantSelf', userId, inviterId: place.owner, date }
  }
  if (place.members.has(userId)) {
    const rank = place.ranks.get(userId)
    return { _: 'channelParticipant', userId, date: now(), ...(rank && { rank }) }
  }
  throw new RpcRefusal(400, 'USER_NOT_PARTICIPANT')
}
