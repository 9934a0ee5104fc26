/** Recovers missed messages: fetches the gap, or reads the chats if the network no longer lists it, before the library continues. */
import type { tl } from '@mtcute/node'
import { InVain } from '../kit/steadily.ts'
import type { Calls } from './calls.ts'
import type { TelegramClient } from './client.ts'
import { type DialogPage, dialogPages, topMessageOf } from './dialogs.ts'
import { isUnreadable, wordOf } from './failures.ts'
import {
  History,
  isMissed,
  joinedOf,
  onlyLive,
  type RecoveryOptions,
  type Since,
  sinceJoined,
} from './history.ts'
import { throttled } from './intake.ts'
import { nativeOf } from './natives.ts'
import { ChannelCounts, COMMON, type UpdateState } from './storage/update-state.ts'

type Counts = Pick<tl.updates.RawState, 'pts' | 'qts' | 'date' | 'seq'>

/** The stored time may be some seconds ahead of the stored counters. */
const SLACK_SECONDS = 300
/** The number of pages of chats that are searched for missed messages. */
const PAGES = 50

/** Reads missed messages from the chats; returns them in the form of the network's own list up to these counters. */
async function readAccount(
  options: RecoveryOptions,
  { pts, qts, date, seq }: Counts,
): Promise<tl.updates.RawDifferenceSlice> {
  const { calls, state, bounds, logger, skipped, ending: signal } = options
  const since = sinceOf(state, COMMON)
  const chats = new Map<string, Since>()
  const moved: tl.RawUpdateChannelTooLong[] = []
  let isWhole = false
  for await (const page of readablePages(calls, signal)) {
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
      const joined = top && joinedSince(options, page, peer.channelId, since)
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

/** Ends early where a page cannot be read. */
async function* readablePages(calls: Calls, signal: AbortSignal): AsyncGenerator<DialogPage> {
  try {
    yield* dialogPages(calls, { signal, readsOnly: true }, PAGES)
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause
  }
}

const sinceOf = (state: UpdateState, box: number): Since => ({
  message: state.newest(box),
  date: state.date - SLACK_SECONDS,
})

/** Makes the library fetch the updates of a channel that has moved on. One joined meanwhile continues at `pts`. */
function movedOf(
  state: UpdateState,
  channelId: number,
  { pts = 0 }: tl.RawDialog,
  isJoined: boolean,
): tl.RawUpdateChannelTooLong[] {
  const known = state.channelCount(channelId)
  if (known === undefined ? !isJoined : pts <= known) return []
  return [{ _: 'updateChannelTooLong', channelId, pts: known ?? pts }]
}

/** A channel that the account joined meanwhile: messages since then were missed. */
function joinedSince(
  { state, account }: RecoveryOptions,
  { chats }: DialogPage,
  channelId: number,
  since: Since,
): Since | undefined {
  if (state.channelCount(channelId) !== undefined) return undefined
  const chat = chats.find((one) => one.id === channelId)
  if (chat?._ !== 'channel' || (chat.broadcast && !account.recoversChannels())) return undefined
  return { message: undefined, date: since.date, joined: chat.date }
}

type Place = Pick<tl.updates.RawChannelDifference, 'pts' | 'chats' | 'users' | 'timeout'>

const NEVER = Number.POSITIVE_INFINITY

/**
 * Reads missed messages of a channel; returns them in the form of the network's own list up to this counter. Where only live posts
 * are told, it reads those since `liveSince`.
 */
async function readChannel(
  options: RecoveryOptions,
  channelId: number,
  { pts, chats, users, timeout }: Place,
  liveSince = NEVER,
): Promise<tl.updates.RawChannelDifference> {
  const { calls, state, bounds, account, ending } = options
  const history = new History(calls, bounds, ending)
  const isWhole = account.recoversChannels() || !(await isBroadcast(calls, channelId, chats))
  if (isWhole || liveSince < NEVER) {
    const since = { ...sinceOf(state, channelId), ...joinedOf(channelId, chats) }
    await history.read(nativeOf({ _: 'peerChannel', channelId }), since)
    history.tell(options)
    options.skipped('changes')
  }
  const listed = history.listed()
  const read: tl.updates.RawChannelDifference = {
    _: 'updates.channelDifference',
    final: true,
    pts,
    newMessages: listed.newMessages,
    otherUpdates: [],
    chats: [...chats, ...listed.chats],
    users: [...users, ...listed.users],
    ...(timeout !== undefined && { timeout }),
  }
  return isWhole ? read : onlyLive(read, liveSince)
}

const messagesIn = (answer: tl.updates.TypeChannelDifference) =>
  answer._ === 'updates.channelDifference' ? answer.newMessages.length : 0

/** Whether only administrators may write to the channel. */
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

/** The network's time of an answer that lists everything. */
function dateOf(answer: tl.updates.TypeDifference): number | undefined {
  if (answer._ === 'updates.differenceEmpty') return answer.date
  return answer._ === 'updates.difference' ? answer.state.date : undefined
}

/** Whether the library asks for the rest of a list of which this brought nothing. */
function isVain({ pts, qts }: tl.updates.RawGetDifferenceRequest, list: tl.updates.TypeDifference) {
  if (list._ === 'updates.differenceEmpty') return false
  if (list._ === 'updates.differenceTooLong') return true
  const { pts: upTo, qts: upToQts } = 'state' in list ? list.state : list.intermediateState
  const { newMessages, newEncryptedMessages, otherUpdates } = list
  const hasNews = newMessages.length + newEncryptedMessages.length + otherUpdates.length > 0
  return !(upTo > pts || upToQts > qts) || (!hasNews && list._ === 'updates.differenceSlice')
}

const isVainOf = ({ pts }: ChannelRequest, list: tl.updates.TypeChannelDifference) =>
  list._ === 'updates.channelDifference' &&
  !list.final &&
  (list.pts <= pts || list.newMessages.length + list.otherUpdates.length === 0)

type Asking<Answer> = () => Promise<Answer>
type ChannelRequest = tl.updates.RawGetChannelDifferenceRequest

/** The network does not know the counter from which updates were requested. */
const UNKNOWN_COUNT = 'PERSISTENT_TIMESTAMP_INVALID'
const COUNTED_ANEW = 'the network counts events anew'
const CLOSED = ['CHANNEL_PRIVATE', 'CHANNEL_INVALID']
/** For so long the same is not said again. */
const SAME_WARNING_MS = 10 * 60_000

export class Recovery {
  readonly #options: RecoveryOptions
  /** The network does not know the stored counters. */
  #areCountersLost = false
  /** Unix time in seconds. */
  #liveSince = NEVER
  /** How far the network's clock is ahead of this one, in seconds. */
  #ahead = 0
  #since = 0
  #failures = 0
  readonly #vain = new Map<number, InVain>()
  readonly #warn: (what: string) => void

  constructor(options: RecoveryOptions) {
    this.#options = options
    const { calls, client, logger } = options
    this.#warn = throttled(SAME_WARNING_MS, (what: string) => logger.warn({}, what))
    const call = client.call.bind(client)
    const filling: TelegramClient['call'] = async (request, params) => {
      // The library asks for no other list while it waits for one.
      const ask = () => calls.inTime((abortSignal) => call(request, { ...params, abortSignal }))
      type Answer = Awaited<ReturnType<typeof ask>>
      if (request._ === 'updates.getDifference') {
        const list = ask as Asking<tl.updates.TypeDifference>
        const asking = () => this.#inTurn(COMMON, list, (answer) => isVain(request, answer))
        const answer = await this.#difference(request, asking).catch((cause) => {
          this.#failures += 1
          throw cause
        })
        this.#failures = 0
        return answer as Answer
      }
      if (request._ === 'updates.getChannelDifference') {
        const { channel } = request
        const box = channel._ === 'inputChannel' ? channel.channelId : COMMON
        const list = ask as Asking<tl.updates.TypeChannelDifference>
        const asking = () => this.#inTurn(box, list, (answer) => isVainOf(request, answer))
        return this.#channelDifference(request, asking) as Answer
      }
      const answer = await call(request, params)
      if (request._ === 'updates.getState') this.#readClock((answer as tl.updates.RawState).date)
      return answer
    }
    client.call = filling
    const { updates } = client
    if (!updates) return
    // The library would adopt the network's current counters, and never fetch the updates before them.
    updates._fetchUpdatesState = async () => {
      this.#areCountersLost = true
      updates.catchUp()
    }
    updates.cpts = new ChannelCounts((channel) => this.#askAgain(channel))
    updates.cptsMod = new ChannelCounts()
  }

  /** Restores the counters of channels before the first update, so that every gap is noticed. */
  begin(): void {
    const { client, state } = this.#options
    this.#since = state.date
    for (const [channel, pts] of state.channelCounts()) client.updates?.cpts.set(channel, pts)
  }

  /** From when on this session is told what happens: by the network's clock, Unix time in seconds. */
  get since(): number {
    return this.#since
  }

  /** How many times in a row what was missed could not be learned. */
  get failures(): number {
    return this.#failures
  }

  /** From now on the network pushes updates. */
  live(): void {
    this.#liveSince = Math.floor(Date.now() / 1000)
  }

  /** Fetches updates that could not be fetched or read before. */
  resume(): void {
    const { state, client } = this.#options
    if (this.#areCountersLost) client.updates?.catchUp()
    for (const channel of state.owed) this.#askAgain(channel)
  }

  /** A list of which nothing comes is asked for ever later, and then not for a while. */
  async #inTurn<Answer extends { readonly _: string }>(
    box: number,
    ask: Asking<Answer>,
    isVain: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const vain = this.#vain.get(box) ?? new InVain()
    this.#vain.set(box, vain)
    if (!(await vain.turn(this.#options.ending))) {
      const why = `the network lists again and again what was missed, and nothing comes of it`
      this.#warn(box === COMMON ? why : `${why}: channel ${box}`)
      throw new Error(why)
    }
    const answer = await ask()
    if (isVain(answer)) vain.note(answer._ !== 'updates.difference')
    else this.#vain.delete(box)
    return answer
  }

  async #difference(
    request: tl.updates.RawGetDifferenceRequest,
    ask: Asking<tl.updates.TypeDifference>,
  ): Promise<tl.updates.TypeDifference> {
    if (this.#areCountersLost) return this.#restart(COUNTED_ANEW)
    try {
      const answer = await ask()
      const date = dateOf(answer)
      if (date !== undefined) this.#readClock(date)
      if (answer._ !== 'updates.differenceTooLong') return answer
      const { seq = 0 } = this.#options.client.updates ?? {}
      return await readAccount(this.#options, { ...request, pts: answer.pts, seq })
    } catch (cause) {
      if (wordOf(cause) === UNKNOWN_COUNT) return this.#restart(COUNTED_ANEW)
      if (!isUnreadable(cause)) throw cause
      const { intermediateState: state, ...read } = await this.#restart('a list is unreadable')
      // Asked again at once, it may be the same.
      return { ...read, _: 'updates.difference', state }
    }
  }

  async #restart(why: string): Promise<tl.updates.RawDifferenceSlice> {
    const { calls, ending: signal } = this.#options
    this.#areCountersLost = true
    this.#warn(`${why}: messages are read from the chats`)
    const state = await calls.call({ _: 'updates.getState' }, { signal, readsOnly: true })
    const read = await readAccount(this.#options, state)
    this.#areCountersLost = false
    return read
  }

  async #channelDifference(
    request: ChannelRequest,
    ask: Asking<tl.updates.TypeChannelDifference>,
  ): Promise<tl.updates.TypeChannelDifference> {
    const { channel } = request
    if (channel._ !== 'inputChannel') return ask()
    const [{ channelId }, { state }] = [channel, this.#options]
    try {
      return await this.#readListed(channel, ask)
    } catch (cause) {
      if (CLOSED.includes(wordOf(cause) ?? '')) state.settle(channelId)
      else state.owe(channelId)
      throw cause
    }
  }

  async #readListed(
    channel: tl.RawInputChannel,
    ask: Asking<tl.updates.TypeChannelDifference>,
  ): Promise<tl.updates.TypeChannelDifference> {
    const { calls, account, skipped, ending: signal } = this.#options
    const { channelId } = channel
    try {
      const listed = await ask()
      const answer = sinceJoined(channelId, listed)
      if (answer._ === 'updates.channelDifferenceTooLong') {
        const { dialog } = answer
        if (dialog._ !== 'dialog' || dialog.pts === undefined) return answer
        return await readChannel(this.#options, channelId, { ...answer, pts: dialog.pts })
      }
      if (answer._ === 'updates.channelDifferenceEmpty') return answer
      if (account.recoversChannels() || !(await isBroadcast(calls, channelId, answer.chats))) {
        // Some of the messages may be from before the account left.
        if (messagesIn(answer) < messagesIn(listed)) skipped('messages')
        return answer
      }
      return onlyLive(answer, this.#liveSince + this.#ahead)
    } catch (cause) {
      const isAnew = wordOf(cause) === UNKNOWN_COUNT
      if (!isAnew && !isUnreadable(cause)) throw cause
      const why = isAnew ? COUNTED_ANEW : 'a list is unreadable'
      this.#warn(`${why}: the messages of channel ${channelId} are read`)
      const request = { _: 'channels.getFullChannel', channel } as const
      const { fullChat, chats, users } = await calls.call(request, { signal, readsOnly: true })
      if (fullChat._ !== 'channelFull') throw cause
      const place = { pts: fullChat.pts, chats, users }
      // A post that was told live may be behind the unreadable one.
      const liveSince = isAnew ? NEVER : this.#liveSince + this.#ahead
      return readChannel(this.#options, channelId, place, liveSince)
    }
  }

  #readClock(date: number): void {
    this.#ahead = date - Math.floor(Date.now() / 1000)
  }

  #askAgain(channel: number): void {
    const { client, state } = this.#options
    client.updates?._fetchChannelDifferenceViaUpdate(channel, state.channelCount(channel))
  }
}
