/** Messages that the network no longer lists after too long a gap, read from the chats one by one. */
import type { tl } from '@mtcute/node'
import { type DialogPage, dialogPages, topMessageOf } from './dialogs.ts'
import { History, isMissed, type RecoveryOptions, type Since } from './history.ts'
import { nativeOf } from './natives.ts'
import { COMMON, type UpdateState } from './storage/update-state.ts'

type Counts = Pick<tl.updates.RawState, 'pts' | 'qts' | 'date' | 'seq'>

/** What is counted may be some seconds behind the time that is noted with it. */
const SLACK_SECONDS = 300
/** More chats than that are not looked through. */
const PAGES = 50

/** As if the network had listed everything up to these counts. */
export async function readAccount(
  options: RecoveryOptions,
  { pts, qts, date, seq }: Counts,
): Promise<tl.updates.RawDifferenceSlice> {
  const { calls, state, bounds, log, skipped, ending: signal } = options
  const since = sinceOf(state, COMMON)
  const chats = new Map<string, Since>()
  const moved: tl.RawUpdateChannelTooLong[] = []
  let isWhole = false
  for await (const page of dialogPages(calls, { signal, looks: true }, PAGES)) {
    let isRecent = false
    for (const dialog of page.dialogs) {
      if (dialog._ !== 'dialog') continue
      const { peer } = dialog
      const top = topMessageOf(page, dialog)
      if (top && top.date >= since.date) isRecent = true
      if (peer._ !== 'peerChannel') {
        if (top && isMissed(top, since)) chats.set(nativeOf(peer), since)
        continue
      }
      const joined = top && newcomer(options, page, peer.channelId, since)
      if (joined && isMissed(top, joined)) chats.set(nativeOf(peer), joined)
      moved.push(...movedOf(state, peer.channelId, dialog, joined !== undefined))
    }
    isWhole = !isRecent || page._ === 'messages.dialogs'
    if (isWhole) break
  }
  if (!isWhole) {
    log.warn({ pages: PAGES }, 'older chats of a gap that was too long were skipped')
    skipped('messages')
  }
  const history = new History(calls, bounds, signal)
  for (const [native, from] of chats) await history.read(native, from)
  history.tell(options)
  skipped('changes')
  return {
    _: 'updates.differenceSlice',
    ...history.listed(),
    newEncryptedMessages: [],
    otherUpdates: moved,
    intermediateState: { _: 'updates.state', pts, qts, date, seq, unreadCount: 0 },
  }
}

export const sinceOf = (state: UpdateState, box: number): Since => ({
  message: state.newest(box),
  date: state.date - SLACK_SECONDS,
})

/** Of a newcomer everything is read up to its count. */
function movedOf(
  state: UpdateState,
  channelId: number,
  { pts = 0 }: tl.RawDialog,
  isNewcomer: boolean,
): tl.RawUpdateChannelTooLong[] {
  const known = state.channelCount(channelId)
  if (known === undefined ? !isNewcomer : pts <= known) return []
  return [{ _: 'updateChannelTooLong', channelId, pts: known ?? pts }]
}

/** A channel that the account came into meanwhile: what was written there since is news. */
function newcomer(
  { state, account }: RecoveryOptions,
  { chats }: DialogPage,
  channelId: number,
  since: Since,
): Since | undefined {
  if (state.channelCount(channelId) !== undefined) return undefined
  const chat = chats.find((one) => one.id === channelId)
  if (chat?._ !== 'channel' || (chat.broadcast && !account.recoverChannels)) return undefined
  return { message: undefined, date: since.date, joined: chat.date }
}
