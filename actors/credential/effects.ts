/** The effects of one credential's actor: it opens the session, stores its events, and performs operations over it. */
import type {
  CredentialEvent,
  EventsReported,
  PerformOperation,
} from '../../machines/credential/events.ts'
import type { CredentialContext } from '../../machines/credential/setup.ts'
import {
  failed,
  OwnershipLost,
  RequestFailed,
  SecretsUnreadable,
  settle,
} from '../../machines/model/failure.ts'
import { admits, type Happening, type ReceiveSettings } from '../../machines/model/happening.ts'
import type { Passed } from '../../machines/model/operation-passing.ts'
import type { Outcome } from '../../machines/model/protocol.ts'
import { jittered, within } from '../host/time.ts'
import type { FileStream, LinkedAccount, PassedFile, Session } from '../ports/platform.ts'
import type { CredentialFacts } from '../ports/ports.ts'
import { type PassCall, pass } from './pass.ts'
import { perform } from './perform.ts'
import { type Batch, type Batches, rejectAll, reportTo, UnstorableEvents } from './report.ts'
import type { CredentialWorld } from './world.ts'

interface Reported {
  readonly event: EventsReported
  readonly settings: ReceiveSettings
}

type Send = (event: CredentialEvent) => void

interface Ends {
  readonly done: 'deletion.stored' | 'deactivation.finished'
  readonly undone: 'deletion.failed' | 'deactivation.failed'
}

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 1_000
/** After so many tries with a database that answers, the session ends; the next one reports the events again. */
const MOST_TRIES = 30

/** The actor whose effects these are. */
interface Owner {
  getSnapshot(): {
    readonly status: string
    readonly context: Pick<CredentialContext, 'settings'>
  }
  send(event: CredentialEvent): void
}

/** So long after a claim, the owner before may still hold the session, or take it back once. */
const SETTLING_MS = 60_000

/** Each method that starts a service returns how to end it. */
export class CredentialEffects {
  readonly world: CredentialWorld
  readonly #facts: CredentialFacts
  readonly #owner: Owner
  readonly #batches: Batches = new Map()
  readonly #unstorable: UnstorableEvents
  #session: Session | undefined
  #storing = Promise.resolve()
  #releaseTurn = () => {}
  readonly #begunAt: number
  /** The session was taken soon after the claim, and was opened once more. */
  #hasReturned = false
  /** How the newest session is to end. */
  #ending = { signOut: false }

  constructor(facts: CredentialFacts, world: CredentialWorld, owner: Owner) {
    this.#facts = facts
    this.world = world
    this.#owner = owner
    this.#begunAt = world.clock.now()
    const skipped = () => owner.send({ type: 'messages.skipped' })
    this.#unstorable = new UnstorableEvents(world, facts.credentialId, skipped)
  }

  onDefect(cause: unknown): void {
    const { credentialId } = this.#facts
    this.world.logger.error({ credentialId, err: cause }, 'an effect of a credential failed')
  }

  awaitTurn(send: Send): () => void {
    let isGranted = false
    this.#releaseTurn()
    this.#releaseTurn = this.world.budget.request(() => {
      isGranted = true
      send({ type: 'turn.granted' })
    })
    return () => {
      if (!isGranted) this.#releaseTurn()
    }
  }

  releaseTurn(): void {
    this.#releaseTurn()
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
    const { store, clock, platform, identities } = this.world
    const { credentialId, epoch } = this.#facts
    const listening = new AbortController()
    const living = new AbortController()
    const own = { signOut: false }
    this.#ending = own
    const onDefect = (cause: unknown) => this.onDefect(cause)
    const report = reportTo(
      {
        owned: { credentialId, epoch },
        store,
        batches: this.#batches,
        now: () => clock.now(),
        identified: (native) => identities.identified(credentialId, native),
        keepsSecrets: () => !own.signOut,
        // A session may report before `open` has returned it.
        send: (event) => queueMicrotask(() => send(event)),
        onDefect,
        onLost: () => this.world.lost(this.#facts),
        replaced: () => this.#replaced(),
      },
      listening.signal,
    )
    const unreadable = (cause: unknown) => {
      onDefect(cause)
      if (cause instanceof SecretsUnreadable) report.invalid('secrets_unreadable')
      else report.lost('storage')
    }
    store
      .account(credentialId)
      .then((account) => {
        if (listening.signal.aborted) return
        // Two sessions at once are the end of an account on some networks.
        if (account.epoch !== epoch) return this.world.lost(this.#facts)
        this.#session = platform.open(withLiveSettings(account, this.#owner), report, living.signal)
      }, unreadable)
      .catch((cause) => {
        onDefect(cause)
        report.lost('crashed')
      })
    return () => {
      listening.abort()
      rejectAll(this.#batches)
      const leaving = this.#session
      this.#session = undefined
      const close = async () => {
        // Signing out needs the connection that the signal would cut.
        if (!own.signOut) living.abort()
        await leaving?.close(own)
      }
      // A moment later, when the transition has said whether the account was linked anew.
      Promise.resolve()
        .then(() => within(this.world.timing.signOutTakes, undefined, close))
        .catch(onDefect)
        .finally(() => living.abort())
      this.#releaseTurn()
    }
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

  /** The session that is left belongs to a link that was replaced: it ends on the network too. */
  forgetSession(): void {
    this.#ending.signOut = true
  }

  probe(send: Send): () => void {
    const { store, clock, timing } = this.world
    const leaving = new AbortController()
    const answer = (event: CredentialEvent, healthy: boolean, latencyMs?: number) => {
      if (leaving.signal.aborted) return
      send(event)
      store.noteHealth(this.#facts, {
        healthy,
        at: clock.now(),
        ...(latencyMs !== undefined && { latencyMs }),
      })
    }
    within(timing.probeTakes, leaving.signal, (signal) => this.#roundTrip(signal))
      .then(
        (latencyMs) => answer({ type: 'probe.passed', latencyMs }, true, latencyMs),
        () => answer({ type: 'probe.failed' }, false),
      )
      .catch((cause) => this.onDefect(cause))
    return () => leaving.abort()
  }

  signOut(send: Send): () => void {
    const leaving = this.#session
    this.#session = undefined
    const { signOutTakes } = this.world.timing
    within(signOutTakes, undefined, async () => leaving?.close({ signOut: true }))
      .catch((cause) => this.onDefect(cause))
      .finally(() => send({ type: 'signout.finished' }))
    return () => {}
  }

  storeDeletion(send: Send): () => void {
    const work = this.world.store.saveDeletion(this.#facts)
    return this.#tellEnd(work, send, { done: 'deletion.stored', undone: 'deletion.failed' })
  }

  deactivate(send: Send): () => void {
    const work = this.world.store.deactivate(this.#facts)
    const ends = { done: 'deactivation.finished', undone: 'deactivation.failed' } as const
    return this.#tellEnd(work, send, ends)
  }

  perform(context: CredentialContext, request: PerformOperation): Promise<Outcome> {
    const onDefect = (cause: unknown) => this.onDefect(cause)
    const [facts, session] = [this.#facts, this.#session]
    const assertOwner = () => this.#assertOwner()
    const actor = { ...this.world, facts, session, context, assertOwner, onDefect }
    return settle(() => perform(actor, request), onDefect)
  }

  /** Asks the session directly, past the machine, which decides nothing about these calls while the account is online. */
  pass(request: PassCall): Promise<Passed> {
    const { settings } = this.#owner.getSnapshot().context
    const [facts, session] = [this.#facts, this.#session]
    const assertOwner = () => this.#assertOwner()
    const onDefect = (cause: unknown) => this.onDefect(cause)
    const { world } = this
    return pass({ world, facts, session, settings, assertOwner, onDefect }, request)
  }

  check(): Promise<Outcome> {
    const { probeTakes } = this.world.timing
    return settle(
      () => within(probeTakes, undefined, (signal) => this.#roundTrip(signal)),
      (cause) => this.onDefect(cause),
    )
  }

  /** One after another: what follows a batch that failed must not move the checkpoint past it. */
  store(reported: Reported): void {
    this.#storing = this.#storing.then(() => this.#keep(reported))
  }

  #tellEnd(work: Promise<void>, send: Send, { done, undone }: Ends): () => void {
    work.then(
      () => send({ type: done }),
      (cause) => {
        if (cause instanceof OwnershipLost) return this.world.lost(this.#facts)
        this.onDefect(cause)
        send({ type: undone })
      },
    )
    return () => {}
  }

  /** Checked before an operation and during it, because the next owner may have sent the same already. */
  #assertOwner(): void {
    if (this.#owner.getSnapshot().status !== 'active') throw new OwnershipLost()
    if (this.world.lease.isValid) return
    const description = 'it is not certain that this node still owns the credential'
    throw failed('unavailable', description, { retryAfterSeconds: 1 })
  }

  /**
   * Decides what it means that another client took the session: it may be the next owner, or the owner before, which
   * had not noticed the claim yet. Undefined if the credential is no longer owned here.
   */
  async #replaced(): Promise<CredentialEvent | undefined> {
    const { store, clock } = this.world
    try {
      const lost = await store.fenced([this.#facts])
      if (lost.length > 0) {
        this.world.lost(this.#facts)
        return undefined
      }
    } catch (cause) {
      this.onDefect(cause)
      return { type: 'session.lost', reason: 'storage' }
    }
    if (this.#hasReturned || clock.now() - this.#begunAt >= SETTLING_MS) {
      return { type: 'session.replaced' }
    }
    this.#hasReturned = true
    return { type: 'session.lost', reason: 'replaced_elsewhere' }
  }

  async #roundTrip(signal: AbortSignal): Promise<number> {
    if (!this.#session)
      throw failed('unavailable', 'the credential is reconnecting', { reason: 'reconnecting' })
    return this.#session.probe(signal)
  }

  /** The session waits for its batch as long as the database is in trouble: that is no fault of the network. */
  async #keep({ event, settings }: Reported): Promise<void> {
    const batch = this.#batches.get(event.batch)
    if (!batch) return
    const happenings = event.happenings.filter((happening) => admits(settings, happening))
    const reporter = this.#session
    try {
      this.world.store.noteEvents(this.#facts.credentialId, event.happenings)
    } catch (cause) {
      this.#batches.delete(event.batch)
      this.onDefect(cause)
      return this.#giveUp(batch, reporter, cause)
    }
    for (let tries = 1; ; tries++) {
      // A write under way is not interrupted, also when the session is over.
      this.#batches.delete(event.batch)
      try {
        return await this.#append(batch, happenings)
      } catch (cause) {
        if (tries % MOST_TRIES === 1) this.onDefect(cause)
        const isRetried = this.#session === reporter && isTransient(cause, tries)
        if (!isRetried) return this.#giveUp(batch, reporter, cause)
      }
      this.#batches.set(event.batch, batch)
      await this.#recovered(retryAfter(tries))
      // The session ended meanwhile, and its batch was rejected.
      if (this.#batches.get(event.batch) !== batch) return
    }
  }

  /** Waits for the storage. If it cannot tell when it is back, another try follows a second later. */
  async #recovered(atMostMs: number): Promise<void> {
    const { storage, clock } = this.world
    try {
      await storage.recovered(atMostMs)
    } catch (cause) {
      this.onDefect(cause)
      await new Promise<void>((resolve) => clock.setTimeout(resolve, LONGEST_RETRY_MS))
    }
  }

  #giveUp(batch: Batch, reporter: Session | undefined, cause: unknown): void {
    batch.reject(cause)
    if (this.#session !== reporter) return
    this.#owner.send({ type: 'session.lost', reason: 'events_not_stored' })
  }

  async #append(batch: Batch, happenings: readonly Happening[]): Promise<void> {
    const { store, clock } = this.world
    const { credentialId, epoch } = this.#facts
    const { checkpoint } = batch
    const appended = await this.#unstorable.append({ credentialId, epoch, happenings, checkpoint })
    if (!appended.stored) {
      batch.reject(new OwnershipLost())
      this.world.lost(this.#facts)
      return
    }
    batch.resolve()
    try {
      store.noteHealth(this.#facts, { healthy: true, at: clock.now() })
    } catch (cause) {
      this.onDefect(cause)
    }
  }
}

const notConnected = () =>
  failed('unavailable', 'the credential is not connected', {
    reason: 'not_connected',
    retryAfterSeconds: 1,
  })

/** The user may change the settings while a session lasts: a session reads them from the snapshot each time. */
const withLiveSettings = (account: LinkedAccount, owner: Owner): LinkedAccount => ({
  ...account,
  get recoverChannels() {
    return owner.getSnapshot().context.settings.includeChannelUpdateRecovery
  },
})

const retryAfter = (tries: number) =>
  jittered(Math.min(LONGEST_RETRY_MS / 1.2, FIRST_RETRY_MS * 2 ** (tries - 1)))

/** A database that is away comes back, so it is tried for ever; any other error gets a limited number of tries. */
const isTransient = (cause: unknown, tries: number) =>
  tries < MOST_TRIES || (cause instanceof RequestFailed && cause.failure.code === 'unavailable')
