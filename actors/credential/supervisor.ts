/** Keeps credentials alive: an actor that crashed is followed by another at once, whose machine decides when to go on. */

import { out } from '../../machines/credential/refusals.ts'
import type { Resume } from '../../machines/credential/setup.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import type { ReceiveSettings } from '../../machines/model/happening.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { withCrash } from '../../machines/supervision/machine.ts'
import type { CredentialFacts, Owned, Platforms } from '../ports/ports.ts'
import {
  activateCredential,
  type CredentialActor,
  type CredentialWorld,
  type Past,
} from './actor.ts'
import { missingPlatform } from './missing-platform.ts'
import { Parked } from './parked.ts'
import { Timeline, visibleState } from './timeline.ts'

/** It is not online, and may be in a moment. What limits or ends it is said at once. */
function isComing({ snapshot }: CredentialActor): boolean {
  if (snapshot.matches({ live: 'online' })) return false
  const [path, shown] = visibleState(snapshot)
  return shown.state === 'connecting' || path === 'crashed' || path.startsWith('live.deaf')
}

/** What another node has claimed is left to it at least so long. */
const RECLAIM_MS = 10_000

/** The states of the machine that outlast a restart of the service. A failed credential gets a new chance. */
const lasting: Record<string, Resume> = {
  signedOut: 'signedOut',
  invalid: 'invalid',
  replaced: 'replaced',
  deleting: 'deleting',
}

interface Supervised {
  actor: CredentialActor | undefined
  facts: CredentialFacts
  /** One for all its actors: a crash is a line in it like any other. */
  readonly timeline: Timeline
}

export type SupervisorWorld = Omit<CredentialWorld, 'platform'> & {
  readonly platforms: Platforms
  onCrash(cause: unknown): void
  /** It was claimed by itself, because somebody asked for it. */
  claimed?(credentialId: number): void
}

export class CredentialSupervisor {
  readonly #world: SupervisorWorld
  readonly #credentials = new Map<number, Supervised>()
  readonly #starting = new Map<number, Promise<void>>()
  /** When another node claimed what was owned here. */
  readonly #lostAt = new Map<number, number>()
  readonly #parked: Parked
  #stopped = false

  constructor(world: SupervisorWorld) {
    this.#world = world
    this.#parked = new Parked(world.clock)
  }

  /** Claims the credential for this node and starts its actor; once for concurrent callers. */
  async start(credentialId: number): Promise<void> {
    if (this.#credentials.has(credentialId)) return
    this.#assertClaimable(credentialId)
    const known = this.#starting.get(credentialId)
    if (known) return known
    const starting = this.#claim(credentialId).finally(() => this.#starting.delete(credentialId))
    this.#starting.set(credentialId, starting)
    return starting
  }

  /** As `start`, also where another node has claimed it a moment ago: its user has linked it here. */
  take(credentialId: number): Promise<void> {
    this.#lostAt.delete(credentialId)
    return this.start(credentialId)
  }

  /** Starts what was already claimed, in one stroke with others. */
  adopt(facts: CredentialFacts): void {
    if (this.#stopped || this.#credentials.has(facts.credentialId)) return
    const { store, clock } = this.#world
    const timeline = new Timeline(facts, store, clock)
    const supervised: Supervised = { actor: undefined, facts, timeline }
    this.#credentials.set(facts.credentialId, supervised)
    this.#run(supervised, lasting[facts.state] ?? 'queued')
  }

  /** The live actor. Rejects with `not_found`, or `unavailable` while it is being restarted. */
  async find(credentialId: number): Promise<CredentialActor> {
    if (!this.#credentials.has(credentialId)) await this.start(credentialId)
    const supervised = this.#credentials.get(credentialId)
    if (!supervised) throw failed('not_found')
    if (supervised.actor?.isActive) return supervised.actor
    throw failed('unavailable', 'the credential is restarting', { retryAfterSeconds: 1 })
  }

  /**
   * The live actor, for a call that needs the network: while the account is starting, connecting or coming back it is
   * waited for. Where that takes too long the actor itself refuses the call. `hasLeft` tells that nobody waits any more.
   */
  async ready(credentialId: number, hasLeft: () => boolean): Promise<CredentialActor> {
    const { clock, timing } = this.#world
    const until = clock.now() + timing.holdFor
    for (;;) {
      await this.start(credentialId)
      const actor = this.peek(credentialId)
      if (actor?.isActive && !isComing(actor)) return actor
      const left = until - clock.now()
      if (left <= 0 || this.#stopped) return this.find(credentialId)
      await this.#parked.wait(credentialId, left)
      if (hasLeft()) throw failed('unavailable', 'the caller has left')
    }
  }

  /** Whose it is and on which platform; undefined for a credential this node does not run. */
  factsOf(credentialId: number): CredentialFacts | undefined {
    return this.#credentials.get(credentialId)?.facts
  }

  /** Why nothing comes for an account any more, and since when; undefined for one that works, or may soon. */
  whyOut(credentialId: number): { readonly failure: Failure; readonly since: number } | undefined {
    const { actor, timeline } = this.#credentials.get(credentialId) ?? {}
    const failure = actor && out[visibleState(actor.snapshot)[0]]
    return failure && timeline && { failure, since: timeline.since }
  }

  /** Also an actor that is being restarted begins with these. */
  keepSettings(credentialId: number, settings: ReceiveSettings): void {
    const supervised = this.#credentials.get(credentialId)
    if (supervised) supervised.facts = { ...supervised.facts, settings }
  }

  peek(credentialId: number): CredentialActor | undefined {
    return this.#credentials.get(credentialId)?.actor
  }

  /** Everything that was claimed and not lost, whatever state it is in. */
  *owned(): IterableIterator<Owned> {
    for (const { facts } of this.#credentials.values()) yield facts
  }

  /** Another node has claimed it: its actor stops without a line in the timeline. False where that is known already. */
  lose({ credentialId, epoch }: Owned): boolean {
    const supervised = this.#credentials.get(credentialId)
    if (supervised?.facts.epoch !== epoch) return false
    this.#credentials.delete(credentialId)
    this.#lostAt.set(credentialId, this.#world.clock.now())
    supervised.actor?.stop()
    this.#parked.changed(credentialId)
    return true
  }

  *live(): IterableIterator<CredentialActor> {
    for (const { actor } of this.#credentials.values()) if (actor?.isActive) yield actor
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.allSettled(this.#starting.values())
    const all = [...this.#credentials.values()]
    for (const { actor } of all) actor?.stop()
    this.#parked.end()
    await Promise.all(all.map(({ actor }) => actor?.closed))
  }

  async #claim(credentialId: number): Promise<void> {
    const facts = await this.#world.store.claim(credentialId)
    if (!facts || facts.state === 'deactivated') throw failed('not_found')
    await this.#world.updates.open(credentialId, facts.epoch)
    this.adopt(facts)
    this.#world.claimed?.(credentialId)
  }

  /** Two nodes that are both called would else take an account from each other with every call. */
  #assertClaimable(credentialId: number): void {
    const lostAt = this.#lostAt.get(credentialId)
    if (lostAt === undefined) return
    const left = lostAt + RECLAIM_MS - this.#world.clock.now()
    if (left > 0) throw new OwnershipLost(Math.ceil(left / 1000))
    this.#lostAt.delete(credentialId)
  }

  #run(
    supervised: Supervised,
    resume: Resume,
    past: Omit<Past, 'timeline'> = { crashes: [] },
  ): void {
    const { facts, timeline } = supervised
    const platform = this.#world.platforms.get(facts.platform) ?? missingPlatform(facts.platform)
    const changed = () => this.#parked.changed(facts.credentialId)
    const world = { ...this.#world, platform, changed }
    const actor = activateCredential(facts, resume, world, { timeline, ...past })
    supervised.actor = actor
    changed()
    actor.closed.then((cause) => {
      // What another node has claimed is no longer here, or here once more.
      if (this.#stopped || this.#credentials.get(facts.credentialId) !== supervised) return
      if (cause === undefined) this.#credentials.delete(facts.credentialId)
      else this.#runAgain(supervised, actor.snapshot, cause)
      changed()
    })
  }

  /** What the actor left is where the next one goes on. */
  #runAgain(supervised: Supervised, left: CredentialActor['snapshot'], cause: unknown): void {
    const { clock, logger, onCrash } = this.#world
    const { facts } = supervised
    onCrash(cause)
    logger.error({ credentialId: facts.credentialId, err: cause }, 'a credential crashed')
    const { settings, limit, crashes, resumeReason } = left.context
    const [state] = visibleState(left)
    const reason = state === 'crashed' ? resumeReason : left.context.reason
    supervised.facts = { ...facts, settings, reason, limitedUntil: limit?.until }
    this.#run(supervised, resumeAfter(left), { crashes: withCrash(crashes, clock.now()), limit })
  }
}

/** One that crashed while it rested after a crash goes on where it would have gone on. */
function resumeAfter(left: CredentialActor['snapshot']): Resume {
  const { deletion, resume } = left.context
  if (deletion || resume === 'deleting') return 'deleting'
  const [state] = visibleState(left)
  if (state === 'crashed') return resume
  return state === 'failed' ? 'failed' : (lasting[state] ?? 'queued')
}
