/** The network's ids in the reference's form: people positive, small groups negative, channels from −100… on. */
import { getMarkedPeerId, type tl } from '@mtcute/node'
import type { AccountIdentity } from '../../../actors/ports/platform.ts'
import { messageNotFound } from '../../../machines/model/failure.ts'

/** Channels are named below this. */
const CHANNELS = -1_000_000_000_000

export const nativeOf = (peer: tl.TypePeer | tl.TypeInputPeer): string => `${getMarkedPeerId(peer)}`

/** Private chats and small groups share one numbering of messages; each channel has its own. */
export const isChannel = (native: string): boolean => Number(native) < CHANNELS

/** `purpose` names the missing message in the reference's error. */
export function messageId(native: string, purpose: string): number {
  const id = parseMessageId(native)
  if (id === undefined) throw messageNotFound(purpose)
  return id
}

export function parseMessageId(native: string): number | undefined {
  const id = Number(native)
  return Number.isInteger(id) && id > 0 && id < 2 ** 31 ? id : undefined
}

/** The account as the network describes it. */
export function identityOf(user: tl.RawUser): AccountIdentity {
  const username = user.username ?? user.usernames?.find(({ active }) => active)?.username
  return {
    native: `${user.id}`,
    firstName: user.firstName ?? '',
    ...(user.lastName && { lastName: user.lastName }),
    ...(username && { username }),
    ...(user.phone && { phone: `+${user.phone}` }),
  }
}
