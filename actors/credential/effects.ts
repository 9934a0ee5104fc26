/** The effects of one credential's actor: it opens the session, stores its events, and performs operations over it. */
import type { CredentialEvent, PerformOperation } from '../../machines/credential/events.ts'
import type { CredentialContext } from '../../machines/credential/setup.ts'
import { failed, OwnershipLost, SecretsUnreadable, settle } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Passed } from '../../machines/model/operation-passing.ts'
import type { Outcome } from '../../machines/model/protocol.ts'
import { pause, within } from '../host/time.ts'
import { SessionPermit } from '../node/lease.ts'
import type { FileStream, PassedFile, Session } from '../ports/platform.ts'
import type { CredentialFacts, CredentialStore } from '../ports/ports.ts'
import { type PassCall, pass } from './pass.ts'
import { perform } from './perform.ts'
import { type Batches, LONGEST_RETRY_MS, ReportQueue, rejectAll, reportTo } from './report.ts'
import {
  assertOwner,
  type Closing,
  type CredentialWorld,
  notConnected,
  type Owner,
  type ReleaseTurn,
  withSettings,
} from './world.ts'

type Send = (event: CredentialEvent) => void
type Ends = Readonly<Record<'success' | 'failure', CredentialEvent>>

/** No session waits longer for the decision how it ends: the next owner may open its own. */
const DECIDED_MS = 1_000
/** For this time after a claim, the earlier owner may still have the session or take it back, however often. */
const SETTLING_MS = 60_000

/** Each method that starts a service returns how to end it. */
export class CredentialEffects {
  readonly world: CredentialWorld
  readonly #facts: CredentialFacts
  readonly #owner: Owner
  readonly #batches: Batches = new Map()
  readonly #reports: ReportQueue
  #session: Session | undefined
  #releaseTurn: ReleaseTurn | undefined
  readonly #begunAt: number
  /** The session was taken soon after the claim, and was opened once more. */
  #hasReturned = false
  /** How the newest session is to end. */
  #closing: Closing = { signOut: false }
  /** Those that are open, or have not let go of their connection yet. */
  readonly #open = new Set<Closing>()
  /** Resolves once it is known how the last session that was closed is to end. */
  #closingDecided = Promise.resolve()
  /** The owners before have ended: it was waited for before the first session. */
  #isAlone = false
  /** Resolves once an exclusive session that is over has let go of its connection. */
  disconnected: Promise<unknown> = Promise.resolve()

  constructor(facts: CredentialFacts, world: CredentialWorld, owner: Owner) {
    this.#facts = facts
    this.world = world
    this.#owner = owner
    this.#begunAt = world.clock.now()
    this.#reports = new ReportQueue({
      facts,
      world,
      batches: this.#batches,
      session: () => this.#session,
      recovered: (atMostMs) => this.#recovered(atMostMs),
      lost: () => this.#lost(),
      closingDecided: () => this.#closingDecided,
      send: (event) => owner.send(event),
      onDefect: (cause) => this.onDefect(cause),
    })
  }

  onDefect(cause: unknown): void {
    const { credentialId } = this.#facts
    this.world.logger.error({ credentialId, err: cause }, 'an effect of a credential failed')
  }

  awaitTurn(send: Send): () => void {
    let [isGranted, isOver] = [false, false]
    this.releaseTurn()
    const ask = () => {
      if (isOver) return
      this.#releaseTurn = this.world.budget.request(this.#facts, () => {
        isGranted = true
        send({ type: 'turn.granted' })
      })
    }
    // It may wait for seconds for the owner before, and must not keep a turn from others meanwhile.
    if (this.world.platform.sessions === 'exclusive') this.#alone().then(ask, ask)
    else ask()
    return () => {
      isOver = true
      if (!isGranted) this.releaseTurn()
    }
  }

  /** What was asked for a turn is not kept any longer than that. */
  releaseTurn(hasFailed?: boolean): void {
    const release = this.#releaseTurn
    this.#releaseTurn = undefined
    release?.(hasFailed)
  }

  awaitStorage(send: Send): () => void {
    let isOver = false
    this.#recovered(LONGEST_RETRY_MS)
      .then(() => {
        if (!isOver) send({ type: 'storage.recovered' })
      })
      .catch((cause) => this.onDefect(cause))
    return () => {
      isOver = true
    }
  }

  openSession(send: Send): () => void {
    const { store, clock, platform, identities, lease } = this.world
    const { credentialId, epoch } = this.#facts
    const isExclusive = platform.sessions === 'exclusive'
    const permit = new SessionPermit(lease, isExclusive)
    const [listening, living] = [new AbortController(), new AbortController()]
    const own: Closing = { signOut: false }
    this.#closing = own
    this.#open.add(own)
    const onDefect = (cause: unknown) => this.onDefect(cause)
    const report = reportTo(
      {
        owned: { credentialId, epoch },
        store,
        batches: this.#batches,
        now: () => clock.now(),
        identified: (native) => identities.identified(credentialId, native),
        link: () => (own.signOut ? undefined : own.link),
        // A session may report before `open` has returned it.
        send: (event) => queueMicrotask(() => send(event)),
        storeEvents: (...reported) =>
          queueMicrotask(() => {
            if (!listening.signal.aborted) this.#store(...reported)
          }),
        onDefect,
        onLost: () => this.#lost(),
        closingDecided: () => this.#closingDecided,
        replaced: () => this.#replaced(),
      },
      listening.signal,
    )
    const unreadable = (cause: unknown) => {
      onDefect(cause)
      if (cause instanceof SecretsUnreadable) report.invalid('secrets_unreadable')
      else report.lost('storage')
    }
    permit.onEnd(() => report.lost('storage'))
    this.#account(isExclusive)
      .then((account) => {
        if (listening.signal.aborted) return
        // Some networks end an account that has two sessions at once.
        if (account.epoch !== epoch) return this.world.lost(this.#facts)
        own.link = account.link
        const given = withSettings(account, permit, this.#owner)
        this.#session = platform.open(given, report, living.signal)
      }, unreadable)
      .catch((cause) => {
        onDefect(cause)
        report.lost('crashed')
      })
    return () => {
      listening.abort()
      const handsOver = own.handsOver && this.#session?.handOver !== undefined
      const closed = this.#close(own, living, permit)
      rejectAll(this.#batches, this.#closingDecided)
      if (isExclusive || handsOver) this.disconnected = this.disconnected.then(() => closed)
      this.releaseTurn()
    }
  }

  /** Resolves once the session has let go of its connection. */
  #close(own: Closing, living: AbortController, permit: SessionPermit): Promise<unknown> {
    const leaving = this.#session
    this.#session = undefined
    const wasInDoubt = !this.world.lease.isValid
    // Writes that wait for the lease belong to the next owner. It may be renewed at any moment, so they end now.
    if (wasInDoubt && own.decided) permit.end()
    const close = async () => {
      if (wasInDoubt && !own.signOut) permit.end()
      if (own.handsOver && !own.signOut && !wasInDoubt) await leaving?.handOver?.()
      // Signing out needs the connection that the signal would cut.
      if (!own.signOut) living.abort()
      const confirmed = () => void this.#signedOut(own).catch((cause) => this.onDefect(cause))
      await leaving?.close({ signOut: own.signOut, confirmed })
    }
    // Deferred, because the transition says whether the account was linked again.
    this.#closingDecided = own.decided ?? Promise.resolve()
    return this.#closingDecided
      .then(() => within(this.world.timing.signOutTakes, undefined, close))
      .catch((cause) => this.onDefect(cause))
      .finally(() => {
        living.abort()
        permit.end()
        this.#open.delete(own)
      })
  }

  /** Whether a session of that link, or of one before, may have a connection. */
  uses(link: number): boolean {
    return [...this.#open].some((own) => own.link === undefined || own.link <= link)
  }

  async #signedOut({ link }: Closing): Promise<void> {
    if (link !== undefined) await this.world.store.signedOut(this.#facts.credentialId, link)
  }

  /** Reads from the session directly: bytes do not pass through the machine. */
  async download(file: string, offset: number, signal: AbortSignal): Promise<FileStream> {
    if (this.#session) return this.#session.download(file, offset, signal)
    throw notConnected()
  }

  /** The same where calls are passed on. */
  async passFile(...asked: Parameters<NonNullable<Session['passFile']>>): Promise<PassedFile> {
    if (this.#session?.passFile) return this.#session.passFile(...asked)
    throw notConnected()
  }

  /** A session of a link that was replaced ends on the network too; one opened just now may be of the new link already. */
  forgetSession(newLink: number): void {
    const { link = 0 } = this.#closing
    if (link < newLink) this.#closing.signOut = true
  }

  /**
   * The account is another owner's. `signsOut`: that owner does not use the session that is left. `handsOver`: it has not
   * taken the account yet.
   */
  leave(signsOut: boolean | Promise<boolean>, handsOver = false): void {
    const closing = this.#closing
    closing.handsOver = handsOver
    const settle = async () => {
      if (await signsOut) closing.signOut = true
    }
    closing.decided = within(DECIDED_MS, undefined, settle).catch((cause) => this.onDefect(cause))
  }

  probe(send: Send): () => void {
    const { store, clock, timing } = this.world
    const leaving = new AbortController()
    let isOver = false
    const answer = (event: CredentialEvent, healthy: boolean, latencyMs?: number) => {
      if (leaving.signal.aborted) return
      isOver = true
      send(event)
      store.noteHealth(this.#facts, {
        healthy,
        at: clock.now(),
        ...(latencyMs !== undefined && { latencyMs }),
      })
    }
    within(timing.probeTakes, leaving.signal, (signal) => this.#roundTrip(signal))
      .then(
        (latencyMs) => answer({ type: 'probe.passed' }, true, latencyMs),
        () => answer({ type: 'probe.failed' }, false),
      )
      .catch((cause) => this.onDefect(cause))
    // An abort makes an error with its stack, which costs more than the rest of a probe that is over anyway.
    return () => {
      if (!isOver) leaving.abort()
    }
  }

  signOut(send: Send): () => void {
    const [leaving, own] = [this.#session, this.#closing]
    this.#session = undefined
    const confirmed = () => {
      own.isSignedOut = true
    }
    const close = async () => leaving?.close({ signOut: true, confirmed })
    within(this.world.timing.signOutTakes, undefined, close)
      .catch((cause) => this.onDefect(cause))
      .finally(() => send({ type: 'signout.finished' }))
    return () => {}
  }

  storeDeletion(send: Send): () => void {
    const work = this.world.store.saveDeletion(this.#facts)
    const [success, failure] = [{ type: 'deletion.stored' }, { type: 'deletion.failed' }] as const
    return this.#tellEnd(work, send, { success, failure })
  }

  deactivate(send: Send): () => void {
    const isLeft = this.world.platform.signOut !== undefined && !this.#closing.isSignedOut
    const work = this.world.store.deactivate(this.#facts, isLeft)
    const failure = { type: 'deactivation.failed' } as const
    return this.#tellEnd(work, send, { success: { type: 'deactivation.finished' }, failure })
  }

  perform(context: CredentialContext, request: PerformOperation): Promise<Outcome> {
    const onDefect = (cause: unknown) => this.onDefect(cause)
    const [world, facts, session] = [this.world, this.#facts, this.#session]
    const assertOwner = () => this.#assertOwner()
    const actor = { world, facts, session, context, assertOwner, onDefect }
    return settle(() => perform(actor, request), onDefect)
  }

  /** Asks the session directly, past the machine, which decides nothing about these calls while the account is online. */
  pass(request: PassCall): Promise<Passed> {
    const [world, facts, session] = [this.world, this.#facts, this.#session]
    const { settings } = this.#owner.getSnapshot().context
    const assertOwner = () => this.#assertOwner()
    const onDefect = (cause: unknown) => this.onDefect(cause)
    return pass({ world, facts, session, settings, assertOwner, onDefect }, request)
  }

  check(): Promise<Outcome> {
    const { probeTakes } = this.world.timing
    return settle(
      () => within(probeTakes, undefined, (signal) => this.#roundTrip(signal)),
      (cause) => this.onDefect(cause),
    )
  }

  /** Without the machine, which would let all of them through while the session lives. */
  #store(batch: number, happenings: readonly Happening[]): void {
    const { settings } = this.#owner.getSnapshot().context
    this.#reports.push({ batch, happenings, settings })
  }

  #tellEnd(work: Promise<void>, send: Send, { success, failure }: Ends): () => void {
    work.then(
      () => send(success),
      (cause) => {
        if (cause instanceof OwnershipLost) return this.world.lost(this.#facts)
        this.onDefect(cause)
        send(failure)
      },
    )
    return () => {}
  }

  #lost(): Promise<void> {
    this.world.lost(this.#facts)
    return this.#closingDecided
  }

  #assertOwner(): void {
    assertOwner(this.#owner, this.world.lease)
  }

  /**
   * Decides what it means that another client took the session: it may be the next owner, or the owner before, which
   * had not noticed the claim yet. Undefined if the credential is no longer owned here.
   */
  async #replaced(): Promise<CredentialEvent | undefined> {
    const { store, clock } = this.world
    try {
      const [lost] = await store.fenced([this.#facts])
      if (lost) {
        this.world.lost(lost)
        return undefined
      }
    } catch (cause) {
      this.onDefect(cause)
      return { type: 'session.lost', reason: 'storage' }
    }
    // Nobody had an account that was just linked: the second time it is a stranger.
    const isSettling = clock.now() - this.#begunAt < SETTLING_MS
    const mayReturn = isSettling && (this.#facts.former !== undefined || !this.#hasReturned)
    if (!mayReturn) return { type: 'session.replaced' }
    this.#hasReturned = true
    return { type: 'session.lost', reason: 'replaced_elsewhere' }
  }

  #account(isExclusive: boolean): ReturnType<CredentialStore['account']> {
    const read = () => this.world.store.account(this.#facts.credentialId)
    return isExclusive ? this.#alone().then(read) : read()
  }

  /** Resolves once nobody else can have a session of the account. */
  async #alone(): Promise<void> {
    await this.disconnected
    await this.world.lease.valid()
    if (!this.#isAlone) await this.world.formerOwnersEnded?.()
    this.#isAlone = true
  }

  async #roundTrip(signal: AbortSignal): Promise<number> {
    if (this.#session) return this.#session.probe(signal)
    throw failed('unavailable', 'the credential is reconnecting', { reason: 'reconnecting' })
  }

  /** Waits for the storage. If it cannot tell when it is back, another try follows a second later. */
  async #recovered(atMostMs: number): Promise<void> {
    const { storage, clock } = this.world
    try {
      await storage.recovered(atMostMs)
    } catch (cause) {
      this.onDefect(cause)
      await pause(clock, LONGEST_RETRY_MS)
    }
  }
}
