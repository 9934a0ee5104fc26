/** The account's membership in channels: remembered, and read from the network after a change. */
import { PeersIndex, type tl } from '@mtcute/node'
import type { Happening } from '../../../machines/model/happening.ts'
import type { Member } from '../../../machines/model/membership.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { Calls } from './calls.ts'
import { memberOf } from './reading/memberships.ts'
import { chatOfGroup, personById, SOMEBODY, type View } from './reading/peers.ts'

interface Asking {
  readonly calls: Calls
  readonly self: string
  readonly signal: AbortSignal
}

/** Asks the network who changed the account's membership in a channel. */
export async function ownMembership(
  asking: Asking,
  channel: tl.RawChannel | tl.RawChannelForbidden,
  before: Member['status'],
): Promise<Happening> {
  const { self } = asking
  const chat = chatOfGroup(channel)
  const { after, by, person, at } = await now(asking, channel)
  // After a restart an old membership may look like a new one.
  const key = before === 'left' && after.status !== 'kicked' ? `${at}` : crypto.randomUUID()
  return {
    kind: 'member',
    sourceKey: `mb:${chat.native}:${self}:${key}`,
    direction: by.native === self ? 'own' : 'incoming',
    at,
    chat,
    by,
    isSelf: true,
    before: { person, status: before },
    after,
  }
}

interface Now {
  readonly after: Member
  readonly by: Person
  readonly person: Person
  readonly at: number
}

async function now(
  { calls, self, signal }: Asking,
  channel: tl.RawChannel | tl.RawChannelForbidden,
): Promise<Now> {
  const status = statusIn(channel)
  const peer = { _: 'peerUser', userId: Number(self) } as const
  if (channel._ === 'channelForbidden' || status === 'left') {
    const person = personById(peer.userId, { self, peers: await calls.known([peer]) })
    const at = Math.floor(Date.now() / 1000)
    // The network does not say who has removed the account.
    return { after: { person, status }, by: status === 'left' ? person : SOMEBODY, person, at }
  }
  const found = await calls.call(
    {
      _: 'channels.getParticipant',
      channel: await calls.channel(chatOfGroup(channel).native, signal),
      participant: { _: 'inputPeerSelf' },
    },
    { signal, readsOnly: true },
  )
  const view: View = { self, peers: PeersIndex.from(found) }
  const { participant } = found
  const after = memberOf(participant, view)
  const at = 'date' in participant ? participant.date : channel.date
  const by = personById(doerOf(participant) ?? peer.userId, view)
  return { after, by, person: after.person, at }
}

function doerOf(participant: tl.TypeChannelParticipant): number | undefined {
  switch (participant._) {
    case 'channelParticipantAdmin':
      return participant.promotedBy
    case 'channelParticipantBanned':
      return participant.kickedBy
    case 'channelParticipantSelf':
      return participant.inviterId
    default:
      return undefined
  }
}

type Status = Member['status']

const OUTSIDE: readonly Status[] = ['left', 'kicked']

export class OwnMemberships {
  readonly #known = new Map<number, Status>()
  readonly #since: () => number

  /** `since`: this session is told of every channel that the account joins later. Unix time in seconds. */
  constructor(since: () => number) {
    this.#since = since
  }

  /** Changes that are reported by other updates already. */
  note(channelId: number, status: Status): void {
    this.#known.set(channelId, status)
  }

  /** The earlier membership; undefined if no change is known. */
  exchange(channel: tl.RawChannel | tl.RawChannelForbidden): Status | undefined {
    const status = statusIn(channel)
    const before = this.#known.get(channel.id) ?? this.#guess(channel, status)
    this.#known.set(channel.id, status)
    return before === status ? undefined : before
  }

  #guess(channel: tl.RawChannel | tl.RawChannelForbidden, status: Status): Status {
    if (OUTSIDE.includes(status)) return 'member'
    return channel._ === 'channel' && channel.date >= this.#since() ? 'left' : status
  }
}

function statusIn(channel: tl.RawChannel | tl.RawChannelForbidden): Status {
  if (channel._ === 'channelForbidden') return 'kicked'
  if (channel.left) return 'left'
  if (channel.creator) return 'creator'
  if (channel.adminRights) return 'administrator'
  return channel.bannedRights ? 'restricted' : 'member'
}
