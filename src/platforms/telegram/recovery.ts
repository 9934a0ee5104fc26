/** Recovers missed messages: asks for the gap, or reads the chats where the network no longer lists it, before the library goes on. */
import type { tl } from '@mtcute/node'
import type { Calls } from './calls.ts'
import type { Client } from './client.ts'
import { type DialogPage, dialogPages, topMessageOf } from './dialogs.ts'
import { wordOf } from './failures.ts'
import { History, isMissed, type RecoveryOptions, type Since } from './history.ts'
import { nativeOf } from './natives.ts'
import { COMMON, type UpdateState } from './storage/update-state.ts'

type Counts = Pick<tl.updates.RawState, 'pts' | 'qts' | 'date' | 'seq'>

/** What is counted may be some seconds behind the time that is noted with it. */
const SLACK_SECONDS = 300
/** More chats than that are not looked through. */
const PAGES = 50

/** As if the network had listed everything up to these counts. */
async function readAccount(
  options: RecoveryOptions,
  { pts, qts, date, seq }: Counts,
): Promise<tl.updates.RawDifferenceSlice> {
  const { calls, state, bounds, logger, skipped, ending: signal } = options
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
    logger.warn({ pages: PAGES }, 'older chats of a gap that was too long were skipped')
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

const sinceOf = (state: UpdateState, box: number): Since => ({
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

type Place = Pick<tl.updates.RawChannelDifference, 'pts' | 'chats' | 'users' | 'timeout'>

const UNCOUNTED = -1

/** As if the network had listed everything up to this count. */
async function readChannel(
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
function onlyLive(
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
async function isBroadcast(
  calls: Calls,
  channelId: number,
  chats: readonly tl.TypeChat[],
): Promise<boolean> {
  const named = chats.find((one) => one._ === 'channel' && one.id === channelId)
  const known = named ? undefined : await calls.known([{ _: 'peerChannel', channelId }])
  const chat = named ?? known?.chats.get(channelId)
  return chat?._ === 'channel' && chat.broadcast === true
}

type Asking<Answer> = () => Promise<Answer>
type ChannelRequest = tl.updates.RawGetChannelDifferenceRequest

/** The network does not know the count that it is asked from. */
const UNKNOWN_COUNT = 'PERSISTENT_TIMESTAMP_INVALID'
const CLOSED = ['CHANNEL_PRIVATE', 'CHANNEL_INVALID']

export class Recovery {
  readonly #options: RecoveryOptions
  /** How far the account's events were seen is worth nothing any more. */
  #isAstray = false
  /** Unix time in seconds. */
  #liveSince = Number.POSITIVE_INFINITY

  constructor(options: RecoveryOptions) {
    this.#options = options
    const { client } = options
    const call = client.call.bind(client)
    const filling: Client['call'] = async (request, params) => {
      const ask = () => call(request, params)
      type Answer = Awaited<ReturnType<typeof ask>>
      if (request._ === 'updates.getDifference') {
        return this.#difference(request, ask as Asking<tl.updates.TypeDifference>) as Answer
      }
      if (request._ === 'updates.getChannelDifference') {
        const asking = ask as Asking<tl.updates.TypeChannelDifference>
        return this.#channelDifference(request, asking) as Answer
      }
      return ask()
    }
    client.call = filling
    const { updates } = client
    if (!updates) return
    // It would take the network's own count instead, and never ask what happened up to there.
    updates._fetchUpdatesState = async () => {
      this.#isAstray = true
      updates.catchUp()
    }
    updates.cpts = new ChannelCounts((channel) => this.#askAgain(channel))
    updates.cptsMod = new ChannelCounts()
  }

  /** Before the network tells anything: every gap is seen where the count of a channel is known. */
  begin(): void {
    const { client, state } = this.#options
    for (const [channel, pts] of state.channelCounts()) client.updates?.cpts.set(channel, pts)
  }

  /** The network tells what happens from now on. */
  live(): void {
    this.#liveSince = Math.floor(Date.now() / 1000)
  }

  /** Asks what is still owed because it could not be asked or read before. */
  resume(): void {
    const { state, client } = this.#options
    if (this.#isAstray) client.updates?.catchUp()
    for (const channel of state.owed) this.#askAgain(channel)
  }

  async #difference(
    request: tl.updates.RawGetDifferenceRequest,
    ask: Asking<tl.updates.TypeDifference>,
  ): Promise<tl.updates.TypeDifference> {
    if (this.#isAstray) return this.#anew()
    try {
      const answer = await ask()
      if (answer._ !== 'updates.differenceTooLong') return answer
      const { seq = 0 } = this.#options.client.updates ?? {}
      return await readAccount(this.#options, { ...request, pts: answer.pts, seq })
    } catch (cause) {
      if (wordOf(cause) !== UNKNOWN_COUNT) throw cause
      return this.#anew()
    }
  }

  async #anew(): Promise<tl.updates.RawDifferenceSlice> {
    const { calls, logger, ending: signal } = this.#options
    this.#isAstray = true
    logger.warn({}, 'the network counts events anew: messages are read from the chats')
    const state = await calls.call({ _: 'updates.getState' }, { signal, looks: true })
    const read = await readAccount(this.#options, state)
    this.#isAstray = false
    return read
  }

  async #channelDifference(
    request: ChannelRequest,
    ask: Asking<tl.updates.TypeChannelDifference>,
  ): Promise<tl.updates.TypeChannelDifference> {
    const { channel } = request
    if (channel._ !== 'inputChannel') return ask()
    const { channelId } = channel
    const { state } = this.#options
    try {
      return await this.#listed(channel, ask)
    } catch (cause) {
      if (CLOSED.includes(wordOf(cause) ?? '')) state.settle(channelId)
      else state.owe(channelId)
      throw cause
    }
  }

  async #listed(
    channel: tl.RawInputChannel,
    ask: Asking<tl.updates.TypeChannelDifference>,
  ): Promise<tl.updates.TypeChannelDifference> {
    const { calls, account, logger, ending: signal } = this.#options
    const { channelId } = channel
    try {
      const answer = await ask()
      if (answer._ === 'updates.channelDifferenceTooLong') {
        const { dialog } = answer
        if (dialog._ !== 'dialog' || dialog.pts === undefined) return answer
        return await readChannel(this.#options, channelId, { ...answer, pts: dialog.pts })
      }
      if (answer._ === 'updates.channelDifferenceEmpty' || account.recoverChannels) return answer
      if (!(await isBroadcast(calls, channelId, answer.chats))) return answer
      return onlyLive(answer, this.#liveSince)
    } catch (cause) {
      if (wordOf(cause) !== UNKNOWN_COUNT) throw cause
      logger.warn(
        { channelId },
        'the network counts events of a channel anew: its messages are read',
      )
      const request = { _: 'channels.getFullChannel', channel } as const
      const { fullChat, chats, users } = await calls.call(request, { signal, looks: true })
      if (fullChat._ !== 'channelFull') throw cause
      return readChannel(this.#options, channelId, { pts: fullChat.pts, chats, users })
    }
  }

  #askAgain(channel: number): void {
    const { client, state } = this.#options
    client.updates?._fetchChannelDifferenceViaUpdate(channel, state.channelCount(channel))
  }
}

/** The library's own counts: how far the events of each channel were received. */
class ChannelCounts extends Map<number, number> {
  readonly #gaveUp: (channel: number) => void

  /** `gaveUp` gets each channel that the library would start again from its present state. */
  constructor(gaveUp: (channel: number) => void = () => undefined) {
    super()
    this.#gaveUp = gaveUp
  }

  /** When a gap is too large for the library, it forgets the channel by setting its count to zero. */
  override set(channel: number, pts: number): this {
    if (pts > 0) return super.set(channel, pts)
    this.#gaveUp(channel)
    return this
  }
}
