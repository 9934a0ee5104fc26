/** What the network no longer lists after too long a gap is read from the chats, before anything is counted. */
import type { tl } from '@mtcute/node'
import type { Calls } from './calls.ts'
import type { Client } from './client.ts'
import { dialogPages, topMessageOf } from './dialogs.ts'
import { History, isMissed, type RecoveryBounds, type Since } from './history.ts'
import type { Log } from './log.ts'
import { nativeOf } from './natives.ts'
import { COMMON, type UpdateState } from './storage/update-state.ts'

export interface RecoveryOptions {
  readonly client: Client
  readonly calls: Calls
  readonly state: UpdateState
  readonly recoverChannels: boolean
  readonly bounds: RecoveryBounds
  readonly log: Log
  /** Aborts when the session is over. */
  readonly ending: AbortSignal
}

/** What is counted may be some seconds behind the time that is noted with it. */
const SLACK_SECONDS = 300

/** The library would go on behind the gap: it is answered as if the network had listed everything. */
export function fillGaps(options: RecoveryOptions): void {
  const { client } = options
  const call = client.call.bind(client)
  const filling: Client['call'] = async (request, params) => {
    const answer = await call(request, params)
    return ((await filled(options, request, answer)) ?? answer) as typeof answer
  }
  client.call = filling
}

async function filled(options: RecoveryOptions, request: tl.RpcMethod, answer: unknown) {
  if (request._ === 'updates.getDifference') {
    const difference = answer as tl.updates.TypeDifference
    if (difference._ === 'updates.differenceTooLong') return ofAccount(options, request, difference)
  }
  if (request._ === 'updates.getChannelDifference' && request.channel._ === 'inputChannel') {
    const difference = answer as tl.updates.TypeChannelDifference
    if (difference._ !== 'updates.channelDifferenceTooLong') return undefined
    return ofChannel(options, request.channel, difference)
  }
  return undefined
}

async function ofAccount(
  options: RecoveryOptions,
  { qts, date }: tl.updates.RawGetDifferenceRequest,
  { pts }: tl.updates.RawDifferenceTooLong,
): Promise<tl.updates.RawDifferenceSlice> {
  const { calls, client, state, bounds, ending: signal } = options
  const since = sinceOf(state, COMMON)
  const chats = new Set<string>()
  const moved: tl.RawUpdateChannelTooLong[] = []
  for await (const page of dialogPages(calls, { signal, looks: true })) {
    const dialogs = page.dialogs.filter((one) => one._ === 'dialog')
    let isRecent = false
    for (const dialog of dialogs) {
      const { peer } = dialog
      const top = topMessageOf(page, dialog)
      if (top && top.date >= since.date) isRecent = true
      if (peer._ === 'peerChannel') moved.push(...movedOf(state, peer.channelId, dialog))
      else if (top && isMissed(top, since)) chats.add(nativeOf(peer))
    }
    if (!isRecent) break
  }
  const history = new History(calls, bounds, signal)
  for (const native of chats) await history.read(native, since)
  tell(options, history)
  const { seq = 0 } = client.updates ?? {}
  return {
    _: 'updates.differenceSlice',
    ...history.listed(),
    newEncryptedMessages: [],
    otherUpdates: moved,
    intermediateState: { _: 'updates.state', pts, qts, date, seq, unreadCount: 0 },
  }
}

async function ofChannel(
  options: RecoveryOptions,
  { channelId }: tl.RawInputChannel,
  difference: tl.updates.RawChannelDifferenceTooLong,
): Promise<tl.updates.RawChannelDifference | undefined> {
  const { calls, state, bounds, recoverChannels, ending } = options
  const { dialog, chats, users, timeout } = difference
  if (dialog._ !== 'dialog' || dialog.pts === undefined) return undefined
  const history = new History(calls, bounds, ending)
  const isBroadcast = chats.some(
    (one) => one._ === 'channel' && one.id === channelId && one.broadcast,
  )
  if (recoverChannels || !isBroadcast) {
    await history.read(nativeOf(dialog.peer), sinceOf(state, channelId))
    tell(options, history)
  }
  const listed = history.listed()
  return {
    _: 'updates.channelDifference',
    final: true,
    pts: dialog.pts,
    newMessages: listed.newMessages,
    otherUpdates: [],
    chats: [...chats, ...listed.chats],
    users: [...users, ...listed.users],
    ...(timeout !== undefined && { timeout }),
  }
}

function tell({ log }: RecoveryOptions, history: History) {
  const messages = history.listed().newMessages.length
  log.info({ messages }, 'the gap was too long for the network: messages were read from the chats')
  if (history.skipped.size === 0) return
  const chats = [...history.skipped]
  log.warn({ chats }, 'older messages of a gap that was too long were skipped')
}

const sinceOf = (state: UpdateState, box: number): Since => ({
  message: state.newest(box),
  date: state.date - SLACK_SECONDS,
})

function movedOf(state: UpdateState, channelId: number, { pts = 0 }: tl.RawDialog) {
  const known = state.channelCount(channelId)
  if (known === undefined || pts <= known) return []
  return [{ _: 'updateChannelTooLong', channelId, pts: known } as const]
}
