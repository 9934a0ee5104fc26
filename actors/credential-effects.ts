/** What one credential's actor does in the world: its session, its events into the log, operations over it. */
import type {
  CredentialEvent,
  EventsReported,
  PerformOperation,
} from '../machines/credential-events.ts'
import type { CredentialContext } from '../machines/credential-setup.ts'
import { admits, type ReceiveSettings } from '../machines/happening.ts'
import type { Outcome } from '../machines/protocol.ts'
import { asWanted, type Wanting } from './as-wanted.ts'
import type { CredentialWorld } from './credential.ts'
import { failed, SecretsUnreadable, settle } from './errors.ts'
import { perform } from './perform.ts'
import type { FileStream, Session } from './platform.ts'
import type { CredentialFacts } from './ports.ts'
import { type Batches, rejectAll, reportTo } from './report.ts'
import { Sieve } from './sieve.ts'
import { within } from './time.ts'

export interface Reported {
  readonly event: EventsReported
  readonly settings: ReceiveSettings
}

type Send = (event: CredentialEvent) => void

interface Ends {
  readonly done: 'deletion.stored' | 'deactivation.finished'
  readonly undone: 'deletion.failed' | 'deactivation.failed'
}

/** The actor whose effects these are. */
interface Owner extends Wanting {
  send(event: CredentialEvent): void
  stop(): void
}

/** What starts a service returns how to end it. */
export class CredentialEffects {
  readonly world: CredentialWorld
  readonly #facts: CredentialFacts
  readonly #owner: Owner
  readonly #batches: Batches = new Map()
  readonly #sieve: Sieve
  #session: Session | undefined
  #storing = Promise.resolve()
  #releaseTurn = () => {}
  /** How the newest session is to end. */
  #ending = { signOut: false }

  constructor(facts: CredentialFacts, world: CredentialWorld, owner: Owner) {
    this.#facts = facts
    this.world = world
    this.#owner = owner
    const skipped = () => owner.send({ type: 'messages.skipped' })
    this.#sieve = new Sieve(world, facts.credentialId, skipped)
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

  openSession(send: Send): () => void {
    const { store, clock, platform } = this.world
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
        keepsSecrets: () => !own.signOut,
        // A session may report before `open` has returned it.
        send: (event) => queueMicrotask(() => send(event)),
        onDefect,
      },
      listening.signal,
    )
    store
      .account(credentialId)
      .then((account) => {
        if (listening.signal.aborted) return
        this.#session = platform.open(asWanted(account, this.#owner), report, living.signal)
      })
      .catch((cause) => {
        onDefect(cause)
        if (cause instanceof SecretsUnreadable) report.invalid('secrets_unreadable')
        else report.lost('storage')
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

  /** Bytes do not pass through the machine: whoever has a session may read from it. */
  async download(file: string, offset: number, signal: AbortSignal): Promise<FileStream> {
    if (this.#session) return this.#session.download(file, offset, signal)
    throw failed('unavailable', 'the credential is not connected', { retryAfterSeconds: 1 })
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
        (cause: Error) => answer({ type: 'probe.failed', reason: cause.message }, false),
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
    const actor = { ...this.world, facts, session, context, onDefect }
    return settle(() => perform(actor, request), onDefect)
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
        this.onDefect(cause)
        send({ type: undone })
      },
    )
    return () => {}
  }

  async #roundTrip(signal: AbortSignal): Promise<number> {
    if (!this.#session) throw failed('unavailable', 'the credential is reconnecting')
    return this.#session.probe(signal)
  }

  async #keep({ event, settings }: Reported): Promise<void> {
    const { logger, store, clock } = this.world
    const { credentialId, epoch } = this.#facts
    const batch = this.#batches.get(event.batch)
    if (!batch) return
    this.#batches.delete(event.batch)
    const reporter = this.#session
    try {
      store.noteEvents(credentialId, event.happenings)
      const happenings = event.happenings.filter((happening) => admits(settings, happening))
      const { checkpoint } = batch
      const appended = await this.#sieve.append({ credentialId, epoch, happenings, checkpoint })
      if (!appended.stored) {
        batch.reject(failed('unavailable', 'another node owns the credential'))
        logger.warn({ credentialId, epoch }, 'another node took the credential over')
        this.#owner.stop()
        return
      }
      batch.resolve()
      store.noteHealth(this.#facts, { healthy: true, at: clock.now() })
    } catch (cause) {
      this.onDefect(cause)
      batch.reject(cause)
      if (this.#session === reporter) this.#owner.send({ type: 'session.lost', reason: 'storage' })
    }
  }
}
