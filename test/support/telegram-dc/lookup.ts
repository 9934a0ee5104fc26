/** Who is who on the test network. */
import type { tl } from '@mtcute/core'
import { asSeenBy, channelHash } from './channel.ts'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import { isPlace, type Target } from './delivery.ts'
import type { TelegramNetwork } from './network.ts'
import { accessHash, userOf } from './people.ts'

export function lookupHandlers(network: TelegramNetwork): Handlers {
  return {
    'users.getUsers': ({ id }, origin) => {
      const asker = network.asker(origin)
      const { shySeconds } = asker
      if (shySeconds > 0) throw new RpcRefusal(420, `FLOOD_WAIT_${shySeconds}`)
      return id.map((input) => {
        if (input._ === 'inputUserSelf') return userOf(asker, asker)
        const person = input._ === 'inputUser' ? network.people.get(input.userId) : undefined
        return person ? userOf(person, asker) : { _: 'userEmpty', id: 0 }
      })
    },
    'users.getFullUser': ({ id }, origin) => {
      const asker = network.asker(origin)
      const person = id._ === 'inputUser' ? network.people.get(id.userId) : asker
      if (!person) throw new RpcRefusal(400, 'USER_ID_INVALID')
      const fullUser: tl.RawUserFull = {
        _: 'userFull',
        id: person.id,
        about: person.about,
        settings: { _: 'peerSettings' },
        notifySettings: { _: 'peerNotifySettings' },
        commonChatsCount: 0,
        ...(person.personal && {
          personalChannelId: person.personal.id,
          personalChannelMessage: 1,
        }),
      }
      const chats = person.personal ? [asSeenBy(person.personal, asker.id)] : []
      return { _: 'users.userFull', fullUser, chats, users: [userOf(person, asker)] }
    },
    'contacts.resolveUsername': ({ username }, origin) => {
      const asker = network.asker(origin)
      const person = [...network.people.values()].find((it) => it.username === username)
      const users = person ? [userOf(person, asker)] : []
      const place = [...network.places.values()].find(
        (it) => it.kind === 'channel' && it.username === username,
      )
      const peer: tl.TypePeer | undefined = person
        ? { _: 'peerUser', userId: person.id }
        : place && { _: 'peerChannel', channelId: place.id }
      if (!peer) throw new RpcRefusal(400, 'USERNAME_NOT_OCCUPIED')
      return {
        _: 'contacts.resolvedPeer',
        peer,
        chats: place ? [asSeenBy(place, asker.id)] : [],
        users,
      }
    },
    'contacts.resolvePhone': ({ phone }, origin) => {
      const asker = network.asker(origin)
      const person = [...network.people.values()].find((it) => it.phone === phone)
      if (!person) throw new RpcRefusal(400, 'PHONE_NOT_OCCUPIED')
      const peer = { _: 'peerUser', userId: person.id } as const
      return { _: 'contacts.resolvedPeer', peer, chats: [], users: [userOf(person, asker)] }
    },
    'contacts.getContacts': (_, origin) => ({
      _: 'contacts.contacts',
      contacts: [],
      savedCount: 0,
      users: network.delivery.along(network.asker(origin)).users,
    }),
  }
}

/** Whom an input of a request means; refuses what the asker cannot know. */
export function targetOf(network: TelegramNetwork, origin: Origin, peer: tl.TypeInputPeer): Target {
  const asker = network.asker(origin)
  switch (peer._) {
    case 'inputPeerSelf':
      return asker
    case 'inputPeerUser': {
      const person = network.people.get(peer.userId)
      if (!person || !peer.accessHash.eq(accessHash(person.id))) break
      return person
    }
    case 'inputPeerUserFromMessage': {
      const place = targetOf(network, origin, peer.peer)
      const message = isPlace(place) && place.kind === 'channel' && place.messages.get(peer.msgId)
      const person = network.people.get(peer.userId)
      if (!person || !message || !isBy(message, person.id)) break
      return person
    }
    case 'inputPeerChat': {
      const place = network.places.get(peer.chatId)
      if (place) return place
      break
    }
    case 'inputPeerChannel': {
      const place = network.places.get(peer.channelId)
      if (!peer.accessHash.eq(channelHash(peer.channelId))) break
      if (place) return place
    }
  }
  throw new RpcRefusal(400, 'PEER_ID_INVALID')
}

const isBy = ({ fromId }: tl.RawMessage | tl.RawMessageService, userId: number) =>
  fromId?._ === 'peerUser' && fromId.userId === userId
