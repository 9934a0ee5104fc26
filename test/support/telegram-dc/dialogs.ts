/** The chats of somebody on the test network, and what was written there. */
import type { tl } from '@mtcute/core'
import type { Handlers } from './data-centre.ts'
import { isPlace, type Stored, type Target } from './delivery.ts'
import { targetOf } from './lookup.ts'
import type { TelegramNetwork } from './network.ts'
import type { Person } from './people.ts'

export function dialogHandlers(network: TelegramNetwork): Handlers {
  return {
    'messages.getDialogs': (_, origin) => {
      const person = network.asker(origin)
      const along = network.delivery.along(person)
      const partners = [...network.people.values()].filter((it) => newest(person, it))
      const places = along.chats.map(({ id }) => network.places.get(id)!)
      const targets: Target[] = [...partners, ...places]
      return {
        _: 'messages.dialogs',
        dialogs: targets.map((target) => dialogOf(person, target)),
        messages: targets.flatMap((target) => newest(person, target) ?? []),
        ...along,
      }
    },
    'messages.getHistory': ({ peer, limit, minId, offsetId }, origin) => {
      const person = network.asker(origin)
      person.historiesAsked += 1
      const messages = messagesOf(person, targetOf(network, origin, peer))
        .filter(({ id }) => id > minId && (offsetId === 0 || id < offsetId))
        .reverse()
        .slice(0, limit)
      return { _: 'messages.messages', messages, ...network.delivery.along(person), topics: [] }
    },
  }
}

export function dialogOf(person: Person, target: Target): tl.RawDialog {
  return {
    _: 'dialog',
    peer: peerOf(target),
    topMessage: newest(person, target)?.id ?? 0,
    readInboxMaxId: 0,
    readOutboxMaxId: 0,
    unreadCount: 0,
    unreadMentionsCount: 0,
    unreadReactionsCount: 0,
    unreadPollVotesCount: 0,
    notifySettings: { _: 'peerNotifySettings' },
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
