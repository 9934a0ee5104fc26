/** One linked account that is online: it reads its queue when it is woken, performs operations, and suffers its faults. */
import { setTimeout as pause } from 'node:timers/promises'
import type {
  FileStream,
  LinkedAccount,
  Session,
  SessionReport,
} from '../../../actors/ports/platform.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { isUnavailable } from '../../database/failures.ts'
import { type EventPage, type EventReader, pageOf } from '../../sandbox/delivery/event-page.ts'
import { disturbed, type Faults, loseAnswer } from '../../sandbox/delivery/faults.ts'
import type { Hub, LinkedSession, SessionEnd } from '../../sandbox/delivery/hub.ts'
import { endSessions, type SessionRecord } from '../../sandbox/delivery/sessions.ts'
import { openFile } from '../../sandbox/files/files.ts'
import type { NetworkContext, Services } from '../../sandbox/network/context.ts'
import type { QueuedMessage } from '../../sandbox/network/rows.ts'
import { execute } from '../../sandbox/operations.ts'
import { NOT_STORED } from '../kit/event-line.ts'
import { sessionOver } from '../kit/failures.ts'
import { type Ending, reportEnding, unlessAborted } from '../kit/session-life.ts'
import { identityOf } from './link.ts'

const ENDINGS: Readonly<Record<SessionEnd, Ending>> = {
  connection_lost: { kind: 'lost', reason: 'network' },
  replaced: { kind: 'replaced' },
  revoked: { kind: 'revoked', reason: 'session_revoked' },
  banned: { kind: 'invalid', reason: 'account_banned' },
}

const READ_AGAIN_MS = 500
/** More are a flood, which is read from the queue. */
const MOST_HANDED = 50

const lostAnswer = () =>
  failed('timeout', 'the sandbox did not answer in time; the message may have been sent', {
    reason: 'sent_unconfirmed',
    certain: false,
  })

export class SandboxSession implements Session, LinkedSession {
  reader: EventReader = NO_READER
  readonly #services: Services
  readonly #hub: Hub
  #context: NetworkContext
  #token: string | undefined
  readonly #report: SessionReport
  #state: 'opening' | 'open' | 'over' = 'opening'
  #faults: Faults = {}
  #position = 0
  #isReading = false
  /** There may be events that were neither read nor handed in. */
  #isWoken = false
  /** Messages of the queue that need not be read. */
  #handed: QueuedMessage[] = []
  /** Resolves when a silence ends. Absent while no request waits for that. */
  #silence: PromiseWithResolvers<void> | undefined

  constructor(services: Services, hub: Hub, report: SessionReport) {
    this.#services = services
    this.#hub = hub
    this.#context = { ...services, network: NO_NETWORK }
    this.#report = report
  }

  async open(account: LinkedAccount): Promise<void> {
    try {
      this.#token = tokenOf(account.secrets)
      const { news } = this.#hub
      const found = await this.#find()
      if (this.#state !== 'opening') return
      const ending = endingOf(this.#token, found)
      if (ending) return this.#end(ending)
      this.#start(account, found!)
      if (this.#hub.news !== news) this.look()
    } catch (error) {
      this.#services.logger.warn({ err: error }, 'a sandbox session could not be opened')
      this.#end({ kind: 'lost', reason: isAway(error) ? 'storage' : 'network' })
    }
  }

  async #find(): Promise<SessionRecord | undefined> {
    return this.#token === undefined ? undefined : this.#hub.find(this.#token)
  }

  #start({ checkpoint, recoversChannels }: LinkedAccount, record: SessionRecord) {
    const { id: person, session, network, events, faults, acknowledged } = record
    this.#context = { ...this.#services, network }
    if (this.#isDown(faults)) return this.end('connection_lost')
    this.reader = { person, session, openedAt: events, recoversChannels }
    this.#position = typeof checkpoint === 'number' ? checkpoint : acknowledged
    this.#state = 'open'
    this.#hub.add(this)
    this.#report.opened(identityOf(record))
    // It also wakes.
    this.faultsChanged(faults)
  }

  #isDown({ downUntil = 0 }: Faults): boolean {
    return downUntil > this.#services.now()
  }

  look() {
    this.#look().catch((err) =>
      this.#services.logger.warn({ err }, 'a sandbox session could not look what it is'),
    )
  }

  async #look() {
    const found = await this.#find()
    const ending = endingOf(this.#token, found)
    if (ending) this.#end(ending)
    else if (this.#isDown(found!.faults)) this.end('connection_lost')
    else if (this.#state === 'open') this.faultsChanged(found!.faults)
  }

  end(why: SessionEnd) {
    this.#end(ENDINGS[why])
  }

  /** Ends without a report. */
  abandon() {
    this.#end()
  }

  /** Reports why, if it is given, and nothing after that. */
  #end(ending?: Ending) {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#hub.remove(this)
    this.#silence?.resolve()
    if (ending) reportEnding(this.#report, ending)
  }

  faultsChanged(faults: Faults) {
    const { floodUntil = 0, changes = 0 } = this.#faults
    if ((faults.changes ?? 0) < changes) return
    this.#faults = faults
    const flood = Math.ceil(((faults.floodUntil ?? 0) - this.#services.now()) / 1000)
    if (flood > 0 && faults.floodUntil !== floodUntil) this.#report.limited('flood_wait', flood)
    if (faults.isSilent) return
    this.#silence?.resolve()
    this.#silence = undefined
    this.wake()
  }

  wake(messages: readonly QueuedMessage[] = []) {
    const { isSilent = false } = this.#faults
    this.#handed.push(...messages)
    // While the session stands still, the queue keeps them.
    if (isSilent || messages.length === 0 || this.#handed.length > MOST_HANDED) this.#forgetHanded()
    if (!this.#isReading && !isSilent && this.#state === 'open') void this.#readOn()
  }

  async #readOn() {
    this.#isReading = true
    try {
      while (this.#hasMore && this.#state === 'open' && !this.#faults.isSilent) {
        await this.#readPage().catch((cause) => this.#readAgain(cause))
      }
    } catch (error) {
      // The next session starts from the stored checkpoint, so nothing is skipped.
      this.#services.logger.warn({ err: error }, 'the events of a sandbox session were not stored')
      this.#end(NOT_STORED)
    } finally {
      this.#isReading = false
    }
  }

  /** While the database is away, the events stay queued. */
  async #readAgain(cause: unknown) {
    if (!isAway(cause)) throw cause
    await pause(READ_AGAIN_MS)
    this.#forgetHanded()
  }

  /** The queue is read instead. */
  #forgetHanded() {
    this.#handed = []
    this.#isWoken = true
  }

  get #hasMore() {
    return this.#isWoken || this.#handed.length > 0
  }

  /** The next messages, if they were handed in without a gap. */
  #takeHanded(): EventPage | undefined {
    const fresh = this.#handed.filter(({ seq }) => seq > this.#position)
    this.#handed = []
    if (fresh.length === 0) return undefined
    if (fresh.every(({ seq }, index) => seq === this.#position + 1 + index)) {
      return pageOf(this.reader, fresh)
    }
    this.#isWoken = true
    return undefined
  }

  async #readPage() {
    const handed = this.#takeHanded()
    if (!handed && !this.#isWoken) return
    if (!handed) this.#isWoken = false
    const page = handed ?? (await this.#hub.read(this.reader, this.#position))
    const { happenings, last, isFull } = page
    // The end of a silence wakes it, and it reads this again.
    if (this.#state !== 'open' || this.#faults.isSilent) return
    if (happenings.length > 0) await this.#report.events(disturbed(happenings, this.#faults), last)
    if (last > this.#position) this.#hub.acknowledge(this.reader.session, last)
    this.#position = last
    if (isFull) this.#isWoken = true
  }

  async perform(
    operation: Operation,
    requestId: string,
    signal: AbortSignal,
  ): Promise<OperationResult> {
    await this.#answering(signal)
    const wait = ((this.#faults.floodUntil ?? 0) - this.#services.now()) / 1000
    if (wait > 0) throw failed('rate_limited', '', { retryAfterSeconds: Math.ceil(wait) })
    const result = await execute(
      { context: this.#context, by: this.reader, request: requestId },
      operation,
    )
    const isSend = result.kind === 'message' || result.kind === 'messages'
    if (!isSend || !this.#faults.lostAnswers) return result
    if (!(await loseAnswer(this.#services.db, this.reader.person))) return result
    throw lostAnswer()
  }

  /** Asks nothing of the database: it is the service's own, and its failure says nothing about this network. */
  async probe(signal: AbortSignal): Promise<number> {
    const began = performance.now()
    await this.#answering(signal)
    // The writer of an event may not have been able to wake this session.
    this.wake()
    return performance.now() - began
  }

  async download(file: string, offset: number, signal: AbortSignal): Promise<FileStream> {
    await this.#answering(signal)
    return openFile(this.#context, file, { offset }, signal)
  }

  async close({ signOut, confirmed }: Parameters<Session['close']>[0]) {
    const { person, session } = this.reader
    const wasOpen = this.#state === 'open'
    this.abandon()
    if (!signOut || !wasOpen) return
    await endSessions(this.#services.db, person, 'signed_out', session)
    confirmed?.()
  }

  /** Waits until the network would answer. Rejects where the caller gives up before. */
  async #answering(signal: AbortSignal): Promise<void> {
    while (this.#state === 'open' && this.#faults.isSilent) {
      this.#silence ??= Promise.withResolvers<void>()
      await answered(this.#silence.promise, signal)
    }
    const { delayMilliseconds } = this.#faults
    if (delayMilliseconds) await answered(pause(delayMilliseconds, null, { signal }), signal)
    if (this.#state !== 'open') throw sessionOver()
    if (signal.aborted) throw lostAnswer()
  }
}

/** The network of a session that is not open yet. */
const NO_NETWORK = 0
const isAway = (cause: unknown) =>
  cause instanceof RequestFailed ? cause.failure.code === 'unavailable' : isUnavailable(cause)

const NO_READER: EventReader = { person: 0, session: 0, openedAt: 0, recoversChannels: () => false }

/** Ends the stored session of a link that nobody uses any more. */
export async function signOut(
  { db, now }: Pick<Services, 'db' | 'now'>,
  hub: Pick<Hub, 'find'>,
  secrets: LinkedAccount['secrets'],
): Promise<void> {
  const token = tokenOf(secrets)
  const found = token === undefined ? undefined : await hub.find(token)
  if (!found) return
  const { downUntil = 0, isSilent = false } = found.faults
  if (isSilent || downUntil > now()) throw failed('unavailable', 'the sandbox does not answer')
  await endSessions(db, found.id, 'signed_out', found.session)
}

function tokenOf(secrets: LinkedAccount['secrets']): string | undefined {
  if (typeof secrets !== 'object' || secrets === null || !('token' in secrets)) return undefined
  return typeof secrets.token === 'string' ? secrets.token : undefined
}

/** Undefined for a session that may be opened. */
function endingOf(token: string | undefined, found: SessionRecord | undefined): Ending | undefined {
  if (token === undefined) return { kind: 'invalid', reason: 'secrets_unreadable' }
  if (!found) return ENDINGS.revoked
  if (found.banned) return ENDINGS.banned
  if (found.deactivated) return { kind: 'invalid', reason: 'account_deleted' }
  if (found.ended === 'replaced') return ENDINGS.replaced
  return found.ended === null ? undefined : ENDINGS.revoked
}

const answered = (wait: Promise<unknown>, signal: AbortSignal) =>
  unlessAborted(wait, signal).catch(() => {
    throw lostAnswer()
  })
