/** People and chats as the network shows them, in neutral terms. */
import type { PeersIndex, tl } from '@mtcute/node'
import type { Chat, Surface } from '../../../../machines/model/content.ts'
import type { Media } from '../../../../machines/model/media.ts'
import type { Person } from '../../../../machines/model/person.ts'
import { writeFileName } from '../files.ts'
import { nativeOf } from '../natives.ts'

/** The reading account, with the people and chats that the network sent along. */
export interface View {
  readonly self: string
  readonly peers: PeersIndex
}

/** The reference's stand-ins for writers that are not people. */
const GROUP_BOT = { native: '1087968824', firstName: 'Group', username: 'GroupAnonymousBot' }
const CHANNEL_BOT = { native: '136817688', firstName: 'Channel', username: 'Channel_Bot' }
/** The person behind an action whose author the network does not show to the account. */
export const SOMEBODY: Person = { ...GROUP_BOT, isBot: true }
/** The network's own announcements are written by this account. */
const NAMELESS = 'Telegram'

function personOf(user: tl.TypeUser): Person {
  const native = `${user.id}`
  if (user._ === 'userEmpty') return { native, firstName: '' }
  const username = usernameOf(user)
  return {
    native,
    firstName: user.deleted ? '' : (user.firstName ?? user.lastName ?? NAMELESS),
    ...(user.firstName && user.lastName && { lastName: user.lastName }),
    ...(username && { username }),
    ...(user.langCode && { languageCode: user.langCode }),
    ...(user.bot && { isBot: true }),
    ...(user.premium && { isPremium: true }),
  }
}

export function personById(id: number, { peers }: View): Person {
  const user = peers.users.get(id)
  return user ? personOf(user) : { native: `${id}`, firstName: '' }
}

/** The author of a message in `chat`; undefined for posts of channels. */
export function writerOf(
  peer: tl.TypePeer,
  chat: { readonly native: string; readonly surface: Surface },
  view: View,
): Person | undefined {
  if (peer._ === 'peerUser') return personById(peer.userId, view)
  if (chat.surface === 'channel') return undefined
  return { ...(nativeOf(peer) === chat.native ? GROUP_BOT : CHANNEL_BOT), isBot: true }
}

export function chatOf(peer: tl.TypePeer, view: View): Chat {
  const native = nativeOf(peer)
  if (peer._ === 'peerUser') {
    const { firstName, lastName, username } = personById(peer.userId, view)
    return {
      native,
      surface: 'private',
      firstName,
      ...(lastName !== undefined && { lastName }),
      ...(username !== undefined && { username }),
    }
  }
  const id = peer._ === 'peerChat' ? peer.chatId : peer.channelId
  const chat = view.peers.chats.get(id)
  if (chat) return chatOfGroup(chat)
  return { native, surface: peer._ === 'peerChat' ? 'group' : 'supergroup', title: '' }
}

export function chatOfGroup(chat: tl.TypeChat): Chat {
  const title = 'title' in chat ? chat.title : ''
  switch (chat._) {
    case 'channel':
    case 'channelForbidden': {
      const surface = chat.broadcast ? 'channel' : 'supergroup'
      const username = chat._ === 'channel' ? usernameOf(chat) : undefined
      const native = nativeOf({ _: 'peerChannel', channelId: chat.id })
      const isForum = chat._ === 'channel' && chat.forum && { isForum: true }
      const isDirect = chat.monoforum && { isDirect: true }
      return { native, surface, title, ...(username && { username }), ...isForum, ...isDirect }
    }
    default:
      return { native: `-${chat.id}`, surface: 'group', title }
  }
}

const usernameOf = ({ username, usernames }: tl.RawUser | tl.RawChannel) =>
  username ?? usernames?.find(({ active }) => active)?.username

/** The picture of a chat or a person. */
export function pictureOf(
  native: string,
  photo: tl.TypeChatPhoto | tl.TypeUserProfilePhoto | undefined,
): Media | undefined {
  if (photo?._ !== 'chatPhoto' && photo?._ !== 'userProfilePhoto') return undefined
  const id = photo.photoId.toString()
  const picture = (size: 'big' | 'small', side: number): Media => ({
    kind: 'photo',
    file: { native: writeFileName({ of: 'peer', chat: native, id, size }) },
    unique: `${id}.${size}`,
    width: side,
    height: side,
  })
  return { ...picture('big', 640), sizes: [picture('small', 160)] }
}
