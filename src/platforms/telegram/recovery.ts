/** Where the library would go on behind a gap, what was missed is asked for, or read from the chats, first. */
import type { tl } from '@mtcute/node'
import type { Client } from './client.ts'
import { wordOf } from './failures.ts'
import type { RecoveryOptions } from './history.ts'
import { readAccount } from './missed-account.ts'
import { isBroadcast, onlyLive, readChannel } from './missed-channel.ts'

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
    const { calls, log, ending: signal } = this.#options
    this.#isAstray = true
    log.warn({}, 'the network counts events anew: messages are read from the chats')
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
    const { calls, account, log, ending: signal } = this.#options
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
      log.warn({ channelId }, 'the network counts events of a channel anew: its messages are read')
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
