/** Where the boxes stand, and what somebody missed of them. */
import type { tl } from '@mtcute/core'
import { type Handlers, RpcRefusal } from './data-centre.ts'
import { now } from './delivery.ts'
import { dialogOf } from './dialogs.ts'
import type { TelegramNetwork } from './network.ts'
import type { BoxEvent, Person } from './people.ts'

export function stateHandlers(network: TelegramNetwork): Handlers {
  return {
    'updates.getState': (_, origin) => stateOf(network.asker(origin)),
    'updates.getDifference': ({ pts, date }, origin) => {
      const person = network.asker(origin)
      assertKnown(person, pts)
      const missed = person.events.filter((event) => event.pts > pts)
      const channels = channelsOf(network, person, date)
      if (missed.length === 0 && channels.length === 0) {
        return { _: 'updates.differenceEmpty', date: now(), seq: 0 }
      }
      if (missed.length > person.mostMissed) {
        return { _: 'updates.differenceTooLong', pts: person.pts }
      }
      return {
        _: 'updates.difference',
        ...parted(missed),
        newEncryptedMessages: [],
        otherUpdates: [...parted(missed).otherUpdates, ...channels],
        ...network.delivery.along(person),
        state: stateOf(person),
      }
    },
    'updates.getChannelDifference': ({ channel, pts }, origin) => {
      const person = network.asker(origin)
      const found = channel._ === 'inputChannel' ? network.places.get(channel.channelId) : undefined
      if (found?.kind !== 'channel' || !found.members.has(person.id)) {
        throw new RpcRefusal(400, 'CHANNEL_PRIVATE')
      }
      if (found.failures > 0) {
        found.failures -= 1
        throw new RpcRefusal(400, 'HISTORY_GET_FAILED')
      }
      assertKnown(found, pts)
      const missed = found.events.filter((event) => event.pts > pts)
      if (missed.length === 0) {
        return { _: 'updates.channelDifferenceEmpty', final: true, pts: found.pts }
      }
      if (missed.length > person.mostMissed) {
        return {
          _: 'updates.channelDifferenceTooLong',
          final: true,
          dialog: dialogOf(person, found),
          messages: [...found.messages.values()]
            .slice(-1)
            .map((message) => network.delivery.asSeenBy(person, message)),
          ...network.delivery.along(person),
        }
      }
      return {
        _: 'updates.channelDifference',
        final: true,
        pts: found.pts,
        ...parted(
          missed.map(({ pts, update }) => ({
            pts,
            update: network.delivery.toldTo(person, update),
          })),
        ),
        ...network.delivery.along(person),
      }
    },
  }
}

function assertKnown(box: { readonly countsFrom: number; readonly pts: number }, pts: number) {
  const isKnown = pts >= box.countsFrom && pts <= box.pts
  if (!isKnown) throw new RpcRefusal(400, 'PERSISTENT_TIMESTAMP_INVALID')
}

/** A client learns which channels have moved, and asks them one by one for what it missed. */
function channelsOf(
  network: TelegramNetwork,
  person: Person,
  since: number,
): tl.RawUpdateChannelTooLong[] {
  return [...network.places.values()].flatMap((place) =>
    place.kind === 'channel' && place.members.has(person.id) && place.changedAt >= since
      ? [{ _: 'updateChannelTooLong', channelId: place.id, pts: place.pts }]
      : [],
  )
}

function parted(events: readonly BoxEvent[]) {
  const newMessages: tl.TypeMessage[] = []
  const otherUpdates: tl.TypeUpdate[] = []
  for (const { update } of events) {
    const isNew = update._ === 'updateNewMessage' || update._ === 'updateNewChannelMessage'
    if (isNew) newMessages.push(update.message)
    else otherUpdates.push(update)
  }
  return { newMessages, otherUpdates }
}

export const stateOf = (person: Person): tl.updates.RawState => ({
  _: 'updates.state',
  pts: person.pts,
  qts: 0,
  date: now(),
  seq: 0,
  unreadCount: 0,
})
