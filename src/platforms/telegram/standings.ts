/** What the account itself is in channels: the network says only that something has changed there, and not what. */
import type { tl } from '@mtcute/node'
import type { Member } from '../../../machines/model/membership.ts'

type Status = Member['status']

const OUTSIDE: readonly Status[] = ['left', 'kicked']

export class Standings {
  readonly #known = new Map<number, Status>()
  readonly #since: number

  /** `since`: whoever came in later has done so before the eyes of this session. Unix time in seconds. */
  constructor(since: number) {
    this.#since = since
  }

  /** Told by itself already. */
  note(channelId: number, status: Status): void {
    this.#known.set(channelId, status)
  }

  /** What the account was before; undefined where that is not known to have changed. */
  exchange(channel: tl.RawChannel | tl.RawChannelForbidden): Status | undefined {
    const status = standingIn(channel)
    const before = this.#known.get(channel.id) ?? this.#guess(channel, status)
    this.#known.set(channel.id, status)
    return before === status ? undefined : before
  }

  #guess(channel: tl.RawChannel | tl.RawChannelForbidden, status: Status): Status {
    if (OUTSIDE.includes(status)) return 'member'
    return channel._ === 'channel' && channel.date >= this.#since ? 'left' : status
  }
}

export function standingIn(channel: tl.RawChannel | tl.RawChannelForbidden): Status {
  if (channel._ === 'channelForbidden') return 'kicked'
  if (channel.left) return 'left'
  if (channel.creator) return 'creator'
  if (channel.adminRights) return 'administrator'
  return channel.bannedRights ? 'restricted' : 'member'
}
