/** Groups of the test network: basic ones, and channels with a box of events of their own. */
import { Long, type tl } from '@mtcute/core'
import type { BoxEvent, Opinion } from './people.ts'
import type { Topic } from './topics.ts'

/** Somebody who asked to be let in. */
export interface JoinRequest {
  readonly link: string
  /** Unix time in seconds. */
  readonly at: number
}

export interface Group {
  readonly kind: 'group'
  readonly id: number
  title: string
  photo?: tl.RawPhoto
  readonly members: Set<number>
  readonly admins: Set<number>
  /** The supergroup that it has become. */
  movedTo?: Channel
}

export interface Channel {
  readonly kind: 'channel'
  readonly id: number
  title: string
  /** Only its owner writes there; else it is a supergroup. */
  readonly isBroadcast: boolean
  /** Its messages stand in topics, named by the messages that began them. */
  isForum: boolean
  /** The channel whose direct messages it is. */
  readonly parent?: Channel
  /** Where people write to this channel. */
  direct?: Channel
  readonly topics: Map<number, Topic>
  readonly general: { title: string; isClosed: boolean; isHidden: boolean }
  readonly boosts: tl.RawBoost[]
  readonly owner: number
  /** When those who look at it came in; Unix time in seconds. */
  joinedAt: number
  readonly username: string
  readonly members: Set<number>
  about: string
  photo?: tl.RawPhoto
  stickerSet?: tl.TypeStickerSet | undefined
  readonly invites: Map<string, tl.RawChatInviteExported>
  readonly joinRequests: Map<number, JoinRequest>
  /** The newest last. */
  pinned: readonly number[]
  defaultRights: tl.RawChatBannedRights
  readonly admins: Map<number, tl.RawChatAdminRights>
  /** What administrators are called. */
  readonly ranks: Map<number, string>
  /** Whoever wants to come in asks for it. */
  asksFirst: boolean
  readonly banned: Map<number, tl.RawChatBannedRights>
  /** Who thinks what of its messages. */
  readonly reactions: Map<number, Map<number, Opinion>>
  pts: number
  /** Asked from an older count, the network does not know it. */
  countsFrom: number
  /** So often it does not tell what was missed. */
  failures: number
  /** So long everybody has to wait before they write again. */
  slowSeconds: number
  /** Unix time in seconds. */
  changedAt: number
  nextMessage: number
  readonly events: BoxEvent[]
  readonly messages: Map<number, tl.RawMessage | tl.RawMessageService>
}

export type Place = Group | Channel

export const channelHash = (id: number) => new Long(id, 79)

/** In the reference's form. */
export const nativeOfPlace = ({ kind, id }: Place): string =>
  `${kind === 'group' ? -id : -1_000_000_000_000 - id}`

export function chatOf(place: Place): tl.RawChat | tl.RawChannel {
  const photo: tl.TypeChatPhoto = place.photo
    ? { _: 'chatPhoto', photoId: place.photo.id, dcId: place.photo.dcId }
    : { _: 'chatPhotoEmpty' }
  if (place.kind === 'group') {
    return {
      _: 'chat',
      id: place.id,
      title: place.title,
      photo,
      participantsCount: place.members.size,
      date: 1,
      version: 1,
      ...(place.movedTo && {
        deactivated: true,
        migratedTo: {
          _: 'inputChannel',
          channelId: place.movedTo.id,
          accessHash: channelHash(place.movedTo.id),
        },
      }),
    }
  }
  return {
    _: 'channel',
    id: place.id,
    accessHash: channelHash(place.id),
    title: place.title,
    username: place.username,
    ...(place.isBroadcast ? { broadcast: true } : { megagroup: true }),
    ...(place.isForum && { forum: true }),
    ...(place.parent && { monoforum: true, linkedMonoforumId: place.parent.id }),
    ...(place.direct && { broadcastMessagesAllowed: true, linkedMonoforumId: place.direct.id }),
    ...(place.asksFirst && { joinRequest: true }),
    defaultBannedRights: place.defaultRights,
    photo,
    date: place.joinedAt,
  }
}

/** With what somebody is there themselves; in the direct messages of a channel nobody has rights of their own. */
export function asSeenBy(place: Place, userId: number): tl.TypeChat {
  if (place.kind === 'group') return chatOf(place)
  const { id, title, owner, admins, banned, members } = place
  const rights = banned.get(userId)
  if (rights?.viewMessages) {
    const kind = place.isBroadcast ? { broadcast: true } : { megagroup: true }
    return { _: 'channelForbidden', id, accessHash: channelHash(id), title, ...kind }
  }
  const adminRights = admins.get(userId)
  return {
    ...(chatOf(place) as tl.RawChannel),
    ...(owner === userId && !place.parent && { creator: true }),
    ...(adminRights && !place.parent && { adminRights }),
    ...(rights && { bannedRights: rights }),
    ...(!members.has(userId) && { left: true }),
  }
}
