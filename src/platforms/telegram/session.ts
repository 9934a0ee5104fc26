/** The session of one account: commits incoming updates with their counters, and carries out operations. */
import { Long } from '@mtcute/node'
import {
  type FileStream,
  handle,
  type LinkedAccount,
  type Session,
  type SessionReport,
} from '../../../actors/ports/platform.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { sessionOver } from '../kit/failures.ts'
import { type Ending, SessionLife } from '../kit/session-life.ts'
import { lostBy } from '../kit/steadily.ts'
import { assemble, type Parts, type SessionOptions } from './assemble.ts'
import type { CallOptions, Calls } from './calls.ts'
import { signOut } from './client.ts'
import { dialogPages } from './dialogs.ts'
import { endingOf, isUnreadable } from './failures.ts'
import { download } from './files.ts'
import { identityOf } from './natives.ts'
import { handlers } from './operations/handlers.ts'
import { forgetAccount } from './storage/locations.ts'
import type { TelegramSecrets } from './storage/session-storage.ts'

/** The position in a channel: its counter of updates, and its newest message. */
interface ChannelPosition {
  readonly pts: number
  readonly message: number
}

/** Resolves with the account's channels, and stores the people and chats that it meets. */
async function readDialogs(
  calls: Calls,
  options: CallOptions,
): Promise<ReadonlyMap<number, ChannelPosition>> {
  const channels = new Map<number, ChannelPosition>()
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

/** The end of a session that could not begin. */
function lossOf(cause: unknown): Ending {
  const failure = cause instanceof RequestFailed ? cause.failure : undefined
  const seconds = failure?.code === 'rate_limited' ? failure.retryAfterSeconds : undefined
  if (seconds !== undefined) return lostBy({ kind: 'limited', seconds })
  if (isUnreadable(cause)) return { kind: 'lost', reason: 'bad_answer' }
  return endingOf(cause) ?? { kind: 'lost', reason: 'network' }
}

const SIGN_OUT_MS = 5_000
/** So often in a row the account may fail to learn what it missed; then nothing may come in, whatever else is answered. */
const MOST_FAILURES = 2

export class TelegramSession implements Session {
  readonly #options: SessionOptions
  readonly #account: LinkedAccount
  readonly #report: SessionReport
  readonly #parts: Parts
  readonly #life: SessionLife
  #isOpened = false
  #isConnected = false
  #connectedAt = 0
  #giveUp: NodeJS.Timeout | undefined

  constructor(
    account: LinkedAccount,
    secrets: TelegramSecrets,
    report: SessionReport,
    options: SessionOptions,
  ) {
    this.#options = options
    this.#account = account
    this.#report = report
    this.#life = new SessionLife({
      report,
      logger: options.logger,
      facts: { account: account.identity.native },
      release: () => this.#release(),
    })
    const defect = (cause: unknown) => this.#defect(cause)
    this.#parts = assemble(account, secrets, report, options, this.#life, defect)
    this.#parts.client.onConnectionState.add((state) => {
      if (state === 'connecting') this.#disconnected()
      if (state === 'connected') this.#connected()
    })
  }

  open(): void {
    this.#begin().catch((cause) => this.#life.end(lossOf(cause), cause))
  }

  async perform(
    operation: Operation,
    requestId: string,
    signal: AbortSignal,
  ): Promise<OperationResult> {
    if (!this.#isOpened || this.#life.isOver) throw sessionOver()
    const { media } = this.#options
    const self = this.#account.identity.native
    const { calls, locations } = this.#parts
    const context = { calls, self, locations, media, requestId, signal }
    const done = handle(handlers, 'Telegram accounts', context, operation)
    const chat = 'chat' in operation ? operation.chat : undefined
    return chat === undefined ? done : done.catch((cause) => calls.refuse(chat, cause))
  }

  /** The network's counter of updates shows whether some did not arrive. */
  async probe(signal: AbortSignal): Promise<number> {
    const began = performance.now()
    const { calls, client, recovery } = this.#parts
    const { pts } = await calls.call({ _: 'updates.getState' }, { signal, readsOnly: true })
    const latency = performance.now() - began
    if (recovery.failures > 0 || pts > (client.updates?.pts ?? pts)) client.updates?.catchUp()
    recovery.resume()
    if (recovery.failures >= MOST_FAILURES) {
      throw failed('timeout', 'Telegram does not tell what was missed', { reason: 'no_answer' })
    }
    return latency
  }

  download(file: string, offset: number, signal: AbortSignal): Promise<FileStream> {
    if (this.#life.isOver) return Promise.reject(sessionOver())
    return download(this.#parts.calls, file, offset, this.#life.within(signal))
  }

  async close({ signOut, confirmed }: Parameters<Session['close']>[0]): Promise<void> {
    if (signOut && !this.#life.isOver) {
      // Events that are refused meanwhile would end the connection that is needed.
      this.#parts.intake.abandon()
      if (await this.#signOut()) confirmed?.()
    }
    if (!this.#life.isOver) await this.#parts.intake.close()
    await this.#life.close()
  }

  async #begin(): Promise<void> {
    this.#disconnected()
    const { signal } = this.#life
    await this.#parts.client.connect()
    const options = { signal, readsOnly: true }
    const askedAt = performance.now()
    const [user] = await this.#parts.calls.call(
      { _: 'users.getUsers', id: [{ _: 'inputUserSelf' }] },
      options,
    )
    const latencyMs = performance.now() - Math.max(askedAt, this.#connectedAt)
    if (user?._ !== 'user') throw new Error('The network does not say who the account is')
    const wasKnown = await this.#findPosition()
    if (signal.aborted) return
    this.#parts.recovery.begin()
    this.#live()
    this.#isOpened = true
    // What a first start asks may take long, or fail: only a probe shows how the connection is by then.
    this.#report.opened(identityOf(user), wasKnown ? latencyMs : undefined)
    await this.#parts.client.notifyLoggedIn(user)
    this.#parts.recovery.resume()
  }

  /** An account without a checkpoint begins with the updates from now on. Resolves with whether there was nothing to ask. */
  async #findPosition(): Promise<boolean> {
    const { updates } = this.#parts.client
    if (!updates || updates.pts !== undefined) return true
    const options = { signal: this.#life.signal, readsOnly: true }
    const state = await this.#parts.calls.call({ _: 'updates.getState' }, options)
    updates.pts = state.pts
    updates.qts = state.qts
    updates.date = state.date
    updates.seq = state.seq
    const channels = await readDialogs(this.#parts.calls, options).catch((err) => {
      this.#options.logger.warn({ err }, 'the chats of the account were not listed')
      return new Map<number, ChannelPosition>()
    })
    this.#parts.state.begin(state, channels)
    // Stored before the first update, so that updates from now on can be fetched again.
    await this.#report.events([], this.#parts.state.checkpoint())
    return false
  }

  /** The library reconnects by itself; the session ends if that takes too long. */
  #disconnected() {
    if (this.#life.isOver) return
    this.#isConnected = false
    const { resumeMilliseconds, answerMilliseconds } = this.#options
    const patience = this.#isOpened ? resumeMilliseconds : answerMilliseconds
    const lost = () => this.#life.end({ kind: 'lost', reason: 'network' })
    if (patience === 0) return lost()
    this.#giveUp ??= setTimeout(lost, patience)
  }

  #connected() {
    this.#connectedAt = performance.now()
    if (!this.#isOpened || this.#isConnected || this.#life.isOver) return
    this.#resume().catch((cause) => this.#defect(cause))
  }

  /** Only an answer proves that the connection works. The library does not fetch missed updates by itself. */
  async #resume(): Promise<void> {
    const options = { signal: this.#life.signal, readsOnly: true }
    await this.#parts.calls.call({ _: 'updates.getState' }, options)
    this.#live()
    this.#parts.client.updates?.catchUp()
    this.#parts.recovery.resume()
  }

  #live() {
    this.#isConnected = true
    this.#parts.recovery.live()
    clearTimeout(this.#giveUp)
    this.#giveUp = undefined
  }

  #defect(cause: unknown) {
    if (this.#life.isOver) return
    const ending = endingOf(cause)
    if (ending) return this.#life.end(ending, cause)
    const { native: account } = this.#account.identity
    this.#options.logger.warn({ account, err: cause }, 'a part of the session failed')
  }

  /** Resolves with whether the network has ended the session. */
  async #signOut(): Promise<boolean> {
    const { db, logger } = this.#options
    const isDone = await signOut(this.#parts.client, AbortSignal.timeout(SIGN_OUT_MS)).then(
      () => true,
      (err) => {
        logger.warn({ err }, 'the network was not told of the sign-out')
        return false
      },
    )
    await forgetAccount(db, this.#account)
    return isDone
  }

  async #release(): Promise<void> {
    clearTimeout(this.#giveUp)
    this.#parts.intake.abandon()
    await this.#parts.client.destroy()
  }
}
