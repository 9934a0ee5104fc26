/** What a channel has more than the account has heard: read from its history, or kept back where that is not wanted. */
import type { tl } from '@mtcute/node'
import type { Calls } from './calls.ts'
import { History, type RecoveryOptions } from './history.ts'
import { sinceOf } from './missed-account.ts'
import { nativeOf } from './natives.ts'

type Place = Pick<tl.updates.RawChannelDifference, 'pts' | 'chats' | 'users' | 'timeout'>

const UNCOUNTED = -1

/** As if the network had listed everything up to this count. */
export async function readChannel(
  options: RecoveryOptions,
  channelId: number,
  { pts, chats, users, timeout }: Place,
): Promise<tl.updates.RawChannelDifference> {
  const { calls, state, bounds, account, ending } = options
  const history = new History(calls, bounds, ending)
  if (account.recoverChannels || !(await isBroadcast(calls, channelId, chats))) {
    const since = { ...sinceOf(state, channelId), ...joinedOf(channelId, chats) }
    await history.read(nativeOf({ _: 'peerChannel', channelId }), since)
    history.tell(options)
    options.skipped('changes')
  }
  const listed = history.listed()
  return {
    _: 'updates.channelDifference',
    final: true,
    pts,
    newMessages: listed.newMessages,
    otherUpdates: [],
    chats: [...chats, ...listed.chats],
    users: [...users, ...listed.users],
    ...(timeout !== undefined && { timeout }),
  }
}

function joinedOf(channelId: number, chats: readonly tl.TypeChat[]) {
  const chat = chats.find((one) => one.id === channelId)
  return chat?._ === 'channel' && { joined: chat.date }
}

/** What was posted while the account was listening was not missed, even where the library asks for it once more. */
export function onlyLive(
  difference: tl.updates.RawChannelDifference,
  since: number,
): tl.updates.RawChannelDifference {
  const { newMessages, otherUpdates } = difference
  const live = newMessages.filter(
    (message) => message._ !== 'messageEmpty' && message.date >= since,
  )
  const told = live.map((message) => {
    // With a count, as the network tells what is new: without one it would be told as recovered. With a count that
    // something of the account's own may have, the library would keep it back.
    return { _: 'updateNewChannelMessage', message, pts: UNCOUNTED, ptsCount: 0 } as const
  })
  const others = otherUpdates.filter((update) => {
    if (update._ !== 'updateEditChannelMessage') return true
    return update.message._ === 'message' && (update.message.editDate ?? 0) >= since
  })
  return { ...difference, newMessages: [], otherUpdates: [...told, ...others] }
}

/** Only administrators write there. */
export async function isBroadcast(
  calls: Calls,
  channelId: number,
  chats: readonly tl.TypeChat[],
): Promise<boolean> {
  const named = chats.find((one) => one._ === 'channel' && one.id === channelId)
  const known = named ? undefined : await calls.known([{ _: 'peerChannel', channelId }])
  const chat = named ?? known?.chats.get(channelId)
  return chat?._ === 'channel' && chat.broadcast === true
}
