/** The network's ids in the reference's form: people positive, small groups negative, channels from −100… on. */
import { getMarkedPeerId, type tl } from '@mtcute/node'
import { failed } from '../../../machines/model/failure.ts'

/** Channels are named below this. */
const CHANNELS = -1_000_000_000_000

export const nativeOf = (peer: tl.TypePeer | tl.TypeInputPeer): string => `${getMarkedPeerId(peer)}`

/** Of private chats and small groups messages are numbered together, of channels each for itself. */
export const isChannel = (native: string): boolean => Number(native) < CHANNELS

/** `purpose` is what the reference calls a message that is not there. */
export function messageId(native: string, purpose: string): number {
  const id = Number(native)
  if (Number.isInteger(id) && id > 0 && id < 2 ** 31) return id
  throw failed('bad_request', `${purpose} not found`)
}
