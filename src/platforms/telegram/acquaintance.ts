/** What an account is asked once, when it is first live: whom it may write to, and how far each channel is. */
import { Long } from '@mtcute/node'
import type { CallOptions, Calls } from './calls.ts'
import { dialogPages } from './dialogs.ts'

/** How far a channel is: its count of events, and its newest message. */
export interface ChannelPlace {
  readonly pts: number
  readonly message: number
}

/** Resolves with the account's channels; the people and chats are remembered on the way. */
export async function getAcquainted(
  calls: Calls,
  options: CallOptions,
): Promise<ReadonlyMap<number, ChannelPlace>> {
  const channels = new Map<number, ChannelPlace>()
  await calls.call({ _: 'contacts.getContacts', hash: Long.ZERO }, options)
  for await (const { dialogs } of dialogPages(calls, options)) {
    for (const dialog of dialogs) {
      if (dialog._ !== 'dialog' || dialog.peer._ !== 'peerChannel') continue
      const { peer, pts, topMessage: message } = dialog
      if (pts !== undefined) channels.set(peer.channelId, { pts, message })
    }
  }
  return channels
}
