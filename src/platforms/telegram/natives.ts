/** The network's ids in the reference's form: people positive, small groups negative, channels from −100… on. */
import { getMarkedPeerId, type tl } from '@mtcute/node'
import { failed } from '../../../machines/model/failure.ts'

/** Channels are named below this. */
const CHANNELS = -1_000_000_000_000

export const nativeOf = (peer: tl.TypePeer | tl.TypeInputPeer): string => `${getMarkedPeerId(peer)}`

/** Private chats and small groups share one numbering of messages; each channel has its own. */
export const isChannel = (native: string): boolean => Number(native) < CHANNELS

/** `purpose` names the missing message in the reference's error. */
export function messageId(native: string, purpose: string): number {
  const id = Number(native)
  if (Number.isInteger(id) && id > 0 && id < 2 ** 31) return id
  throw failed('bad_request', `${purpose} not found`)
}
