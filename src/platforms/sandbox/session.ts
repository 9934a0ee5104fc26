/** One linked person, live: opens, reads on when woken, performs, and suffers the faults put on them. */
import { setTimeout as pause } from 'node:timers/promises'
import type {
  FileStream,
  LinkedAccount,
  Session,
  SessionReport,
} from '../../../actors/ports/platform.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import type { Log } from '../../database/log.ts'
import { isUnavailable } from '../../database/unavailable.ts'
import type { Reader } from '../../sandbox/delivery/happenings.ts'
import type { Connected, Hub } from '../../sandbox/delivery/hub.ts'
import { openFile } from '../../sandbox/files/files.ts'
import { endSessions } from '../../sandbox/people/devices.ts'
import { type Faults, loseAnswer } from '../../sandbox/people/faults.ts'
import { NOT_STORED } from '../kit/event-line.ts'
import { sessionOver } from '../kit/failures.ts'
import { reportEnding } from '../kit/session-life.ts'
import { unlessAborted } from '../kit/unless-aborted.ts'
import { disturbed } from './disturbance.ts'
import { lookUpSession, type Opening } from './opening.ts'
import { carryOut, type World } from './operations.ts'

export interface Surroundings extends Omit<World, 'network'> {
  readonly hub: Hub<LiveSession>
  readonly log: Log
  readonly now: () => number
}

const READ_AGAIN_MS = 500

const lostAnswer = () =>
  failed('timeout', 'the sandbox did not answer in time; the message may have been sent', {
    certain: false,
  })

export class LiveSession implements Session, Connected {
  reader: Reader = nobody
  readonly #world: Surroundings
  #inside: World
  readonly #report: SessionReport
  #state: 'opening' | 'open' | 'over' = 'opening'
  #faults: Faults = {}
  #position = 0
  #isReading = false
  #isStirred = false
  /** There only while someone waits for a silence to end. */
  #flow: PromiseWithResolvers<void> | undefined

  constructor(world: Surroundings, report: SessionReport) {
    this.#world = world
    this.#inside = { ...world, network: NOBODYS_NETWORK }
    this.#report = report
  }

  async open(account: LinkedAccount): Promise<void> {
    try {
      const opening = await lookUpSession(this.#world.db, account.secrets)
      if (this.#state === 'opening') this.#start(account, opening)
    } catch (error) {
      this.#world.log.warn({ err: error }, 'a sandbox session could not be opened')
      this.end((report) => report.lost(isAway(error) ? 'storage' : 'network'))
    }
  }

  #start({ checkpoint, recoverChannels }: LinkedAccount, opening: Opening) {
    if (opening.kind !== 'open') return this.end((report) => reportEnding(report, opening))
    const { person, session, events, faults } = opening
    this.#inside = { ...this.#world, network: opening.network }
    if (faults.downUntil !== undefined && faults.downUntil > this.#world.now()) {
      return this.end((report) => report.lost('network'))
    }
    this.reader = { person, session, openedAt: events, recoverChannels }
    this.#position = typeof checkpoint === 'number' ? checkpoint : opening.acknowledged
    this.#state = 'open'
    this.#world.hub.add(this)
    this.#report.opened(opening.identity)
    this.faultsChanged(faults)
    this.stir()
  }

  /** The last thing a session does: it reports why, and nothing after that. */
  end(tell?: (report: SessionReport) => void) {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#world.hub.remove(this)
    this.#flow?.resolve()
    tell?.(this.#report)
  }

  faultsChanged(faults: Faults) {
    const { floodUntil = 0 } = this.#faults
    this.#faults = faults
    const flood = Math.ceil(((faults.floodUntil ?? 0) - this.#world.now()) / 1000)
    if (flood > 0 && faults.floodUntil !== floodUntil) this.#report.limited('flood_wait', flood)
    if (faults.isSilent) return
    this.#flow?.resolve()
    this.#flow = undefined
    this.stir()
  }

  stir() {
    this.#isStirred = true
    if (!this.#isReading && !this.#faults.isSilent && this.#state === 'open') void this.#readOn()
  }

  async #readOn() {
    this.#isReading = true
    try {
      while (this.#isStirred && this.#state === 'open' && !this.#faults.isSilent) {
        this.#isStirred = false
        await this.#readPage().catch((cause) => this.#readAgain(cause))
      }
    } catch (error) {
      // The next session starts from the stored checkpoint, so nothing is skipped.
      this.#world.log.warn({ err: error }, 'the events of a sandbox session were not stored')
      this.end((report) => reportEnding(report, NOT_STORED))
    } finally {
      this.#isReading = false
    }
  }

  /** What is queued stays queued while the database is away. */
  async #readAgain(cause: unknown) {
    if (!isAway(cause)) throw cause
    await pause(READ_AGAIN_MS)
    this.#isStirred = true
  }

  async #readPage() {
    const { happenings, last, isFull } = await this.#world.hub.read(this.reader, this.#position)
    if (this.#state !== 'open') return
    if (this.#faults.isSilent) {
      this.#isStirred = true
      return
    }
    if (happenings.length > 0) await this.#report.events(disturbed(happenings, this.#faults), last)
    if (last > this.#position) this.#world.hub.acknowledgements.confirm(this.reader.session, last)
    this.#position = last
    if (isFull) this.#isStirred = true
  }

  async perform(
    operation: Operation,
    requestId: string,
    signal: AbortSignal,
  ): Promise<OperationResult> {
    await this.#answering(signal)
    const wait = ((this.#faults.floodUntil ?? 0) - this.#world.now()) / 1000
    if (wait > 0) throw failed('rate_limited', '', { retryAfterSeconds: Math.ceil(wait) })
    try {
      const result = await carryOut(this.#inside, this.reader, operation, requestId)
      const isSend = result.kind === 'message' || result.kind === 'messages'
      if (!isSend || !this.#faults.lostAnswers) return result
      if (!(await loseAnswer(this.#world.db, this.reader.person))) return result
    } catch (cause) {
      if (cause instanceof RequestFailed || !isUnavailable(cause)) throw cause
    }
    throw lostAnswer()
  }

  /** The database is the service's own: that it is away says nothing of this network. */
  async probe(signal: AbortSignal): Promise<number> {
    const began = performance.now()
    await this.#answering(signal)
    // Whoever wrote may not have been able to wake anybody.
    this.stir()
    return performance.now() - began
  }

  async download(file: string, offset: number, signal: AbortSignal): Promise<FileStream> {
    await this.#answering(signal)
    return openFile(this.#inside, file, { offset }, signal)
  }

  async close({ signOut }: { readonly signOut: boolean }) {
    const { person, session } = this.reader
    const wasOpen = this.#state === 'open'
    this.end()
    if (signOut && wasOpen) await endSessions(this.#world.db, person, 'signed_out', session)
  }

  /** Passes when the network would answer, if it does before the caller gives up. */
  async #answering(signal: AbortSignal): Promise<void> {
    while (this.#state === 'open' && this.#faults.isSilent) {
      this.#flow ??= Promise.withResolvers<void>()
      await answered(this.#flow.promise, signal)
    }
    const { delayMilliseconds } = this.#faults
    if (delayMilliseconds) await answered(pause(delayMilliseconds, null, { signal }), signal)
    if (this.#state !== 'open') {
      throw sessionOver()
    }
    if (signal.aborted) throw lostAnswer()
  }
}

/** Until the session is open. */
const NOBODYS_NETWORK = 0
const isAway = (cause: unknown) =>
  cause instanceof RequestFailed ? cause.failure.code === 'unavailable' : isUnavailable(cause)

const nobody: Reader = { person: 0, session: 0, openedAt: 0, recoverChannels: false }

const answered = (wait: Promise<unknown>, signal: AbortSignal) =>
  unlessAborted(wait, signal).catch(() => {
    throw lostAnswer()
  })
