/** The credentials that this node owns, and their actors, each followed by the next after a crash. */
import { resumeFrom, successorOf } from '../../machines/credential/crash.ts'
import { out } from '../../machines/credential/refusals.ts'
import type { Resume } from '../../machines/credential/setup.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import type { ReceiveSettings } from '../../machines/model/happening.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { type Platform, unavailablePlatform } from '../ports/platform.ts'
import type { Clock, CredentialFacts, Owned, Platforms } from '../ports/ports.ts'
import { activateCredential, type CredentialActor, isOnline, type Past } from './actor.ts'
import { Timeline, visibleState } from './timeline.ts'
import type { CredentialWorld } from './world.ts'

const RETRY_SECONDS = 300

/** Stands in for a platform that this build or configuration does not have: its accounts wait, and can be deleted. */
const missingPlatform = (id: string): Platform =>
  unavailablePlatform(
    {
      id,
      name: id,
      linkMethods: [],
      capabilities: {
        operations: [],
        surfaces: [],
        content: [],
        buttons: false,
        entities: [],
        updates: [],
        limits: { textLength: 0 },
      },
      ids: 'integer',
      sessions: 'shared',
      sends: 'blind',
    },
    {
      description: `the platform ${id} is not available`,
      lost: (report) => report.lost('platform_unavailable', RETRY_SECONDS),
    },
  )

type RunningCredentials = ReadonlyMap<number, Pick<Supervised, 'facts'>>

/** The platform of a credential that this node runs. Throws `OwnershipLost` for any other. */
function platformOf(
  platforms: Platforms,
  owned: RunningCredentials,
  credentialId: number,
): Platform {
  const id = owned.get(credentialId)?.facts.platform
  if (id !== undefined) return platforms.get(id) ?? missingPlatform(id)
  throw new OwnershipLost()
}

/** How the platform of a credential that this node runs identifies chats. */
export const idsOf =
  (platforms: Platforms, owned: RunningCredentials) =>
  (credentialId: number): Platform['ids'] =>
    platformOf(platforms, owned, credentialId).ids

/** Not online, but perhaps in a moment. An account that is limited or out is refused at once. */
function isComing({ snapshot }: CredentialActor): boolean {
  if (isOnline(snapshot)) return false
  const [path, shown] = visibleState(snapshot)
  return shown.state === 'connecting' || path === 'crashed' || path.startsWith('live.deaf')
}

/** One credential that this node owns. */
export interface Supervised {
  actor: CredentialActor | undefined
  facts: CredentialFacts
  /** All its actors share one timeline: a crash is a line in it like any other. */
  readonly timeline: Timeline
}

type SupervisorWorld = Omit<CredentialWorld, 'platform'> & {
  /** Filled by the supervisor; others may look a credential up. */
  readonly owned?: Map<number, Supervised>
  readonly platforms: Platforms
  onCrash(cause: unknown): void
  /** The credential runs here from now on. */
  adopted?(facts: CredentialFacts): void
  /** The credential was claimed on demand, not at the start. */
  claimed?(credentialId: number): void
  /** The credential was deleted, and its actor has ended. */
  deleted?(credentialId: number): void
}

/** Keeps credentials alive: the next actor follows a crash at once, and its machine decides when to go on. */
export class CredentialSupervisor {
  readonly #world: SupervisorWorld
  readonly #credentials: Map<number, Supervised>
  readonly #starting = new Map<number, Promise<void>>()
  /** Actors before, whose sessions have not let go of their connections yet. */
  readonly #closing = new Map<number, Promise<unknown>>()
  readonly #waiting: WaitingCalls
  #stopped = false

  constructor(world: SupervisorWorld) {
    this.#world = world
    this.#credentials = world.owned ?? new Map()
    this.#waiting = new WaitingCalls(world.clock)
  }

  /** Claims the credential for this node and starts its actor; once for concurrent callers. */
  async start(credentialId: number): Promise<void> {
    if (this.#credentials.has(credentialId)) return
    const known = this.#starting.get(credentialId)
    if (known) return known
    const starting = this.#claim(credentialId).finally(() => this.#starting.delete(credentialId))
    this.#starting.set(credentialId, starting)
    return starting
  }

  /** Starts a credential that is claimed already. */
  adopt(facts: CredentialFacts): void {
    if (this.#stopped || this.#credentials.has(facts.credentialId)) return
    const { store, clock } = this.#world
    const timeline = new Timeline(facts, store, clock)
    const supervised: Supervised = { actor: undefined, facts, timeline }
    this.#credentials.set(facts.credentialId, supervised)
    this.#world.adopted?.(facts)
    this.#run(supervised, resumeFrom(facts.state))
  }

  /** The live actor. Rejects with `not_found`, `unavailable` while it is being restarted, or `OwnershipLost`. */
  async find(credentialId: number): Promise<CredentialActor> {
    if (!this.#credentials.has(credentialId)) await this.start(credentialId)
    const supervised = this.#credentials.get(credentialId)
    // It was lost as soon as it was started.
    if (!supervised) throw new OwnershipLost()
    if (supervised.actor?.isActive) return supervised.actor
    throw failed('unavailable', 'the credential is restarting', {
      reason: 'restarting',
      retryAfterSeconds: 1,
    })
  }

  /**
   * The live actor, for a call that needs the network. While the account connects, the call waits; after `holdFor` the
   * actor itself refuses it, or after `atLeast` milliseconds where that is longer. `hasLeft` returns true once the caller
   * is gone.
   */
  async ready(credentialId: number, hasLeft: () => boolean, atLeast = 0): Promise<CredentialActor> {
    const { clock, timing } = this.#world
    const until = clock.now() + Math.max(timing.holdFor, atLeast)
    for (;;) {
      // Each call asks: mostly it is there.
      if (!this.#credentials.has(credentialId)) await this.start(credentialId)
      const actor = this.peek(credentialId)
      if (actor?.isActive && !isComing(actor)) return actor
      const left = until - clock.now()
      if (left <= 0 || this.#stopped) return this.find(credentialId)
      await this.#waiting.wait(credentialId, left)
      if (hasLeft()) throw failed('unavailable', 'the caller has left')
    }
  }

  /** Its platform. Begins the credential's actor if this node does not run it yet. */
  async platformOf(credentialId: number): Promise<Platform> {
    // Each call asks: mostly it is there.
    if (!this.#credentials.has(credentialId)) await this.start(credentialId)
    return platformOf(this.#world.platforms, this.#credentials, credentialId)
  }

  /** Its user, platform and settings; undefined for a credential this node does not run. */
  factsOf(credentialId: number): CredentialFacts | undefined {
    return this.#credentials.get(credentialId)?.facts
  }

  /** Why an account is out, and since when; undefined for an account that works, or may soon. */
  whyOut(credentialId: number): { readonly failure: Failure; readonly since: number } | undefined {
    const { actor, timeline } = this.#credentials.get(credentialId) ?? {}
    // Every poll asks.
    if (!actor || isOnline(actor.snapshot)) return undefined
    const failure = out[visibleState(actor.snapshot)[0]]
    return failure && timeline && { failure, since: timeline.since }
  }

  /** An actor that follows a crash begins with these, too. */
  keepSettings(credentialId: number, settings: ReceiveSettings): void {
    const supervised = this.#credentials.get(credentialId)
    if (supervised) supervised.facts = { ...supervised.facts, settings }
  }

  peek(credentialId: number): CredentialActor | undefined {
    return this.#credentials.get(credentialId)?.actor
  }

  /** Every credential that was claimed and not lost, in any state. */
  *owned(): IterableIterator<CredentialFacts> {
    for (const { facts } of this.#credentials.values()) yield facts
  }

  /**
   * Another node has claimed it: its actor stops without a line in the timeline. False if that is known already.
   * `signsOut`: the next owner does not use the session of here, so it ends on the network too. `handsOver`: nobody has
   * claimed it yet, and this node gives it away.
   */
  lose(
    { credentialId, epoch }: Owned,
    signsOut: boolean | Promise<boolean> = false,
    handsOver = false,
  ): boolean {
    const supervised = this.#credentials.get(credentialId)
    if (supervised?.facts.epoch !== epoch) return false
    this.#credentials.delete(credentialId)
    supervised.actor?.effects.leave(signsOut, handsOver)
    supervised.actor?.stop(new OwnershipLost())
    this.#noteClosing(supervised)
    this.#waiting.changed(credentialId)
    return true
  }

  /** Resolves once no exclusive session of an account that was lost has its connection any more. */
  async disconnected(credentialId: number): Promise<void> {
    await this.#closing.get(credentialId)
  }

  *live(): IterableIterator<CredentialActor> {
    for (const { actor } of this.#credentials.values()) if (actor?.isActive) yield actor
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.allSettled(this.#starting.values())
    const all = [...this.#credentials.values()]
    for (const { actor } of all) {
      actor?.effects.leave(false, true)
      actor?.stop()
    }
    this.#waiting.end()
    await Promise.all(all.map(({ actor }) => actor?.closed))
    await Promise.all(all.map(({ actor }) => actor?.effects.disconnected))
    await Promise.all(this.#closing.values())
  }

  async #claim(credentialId: number): Promise<void> {
    const facts = await this.#world.store.claim(credentialId)
    if (!facts || facts.state === 'deactivated') throw failed('not_found')
    // All accounts of a node that ended may have been claimed meanwhile, this one with them.
    const held = this.factsOf(credentialId)
    if (held && held.epoch < facts.epoch) this.#world.lost(held)
    await this.#world.updates.open(credentialId, facts.epoch)
    this.adopt(facts)
    this.#world.claimed?.(credentialId)
  }

  /** The account may run here again before the session that it had is closed. */
  #noteClosing({ actor, facts: { credentialId } }: Supervised): void {
    const earlier = this.#closing.get(credentialId)
    const closing = Promise.allSettled([earlier, actor?.effects.disconnected]).then(() => {
      if (this.#closing.get(credentialId) === closing) this.#closing.delete(credentialId)
    })
    this.#closing.set(credentialId, closing)
  }

  #run(
    supervised: Supervised,
    resume: Resume,
    past: Omit<Past, 'timeline'> = { crashes: [] },
  ): void {
    const { facts, timeline } = supervised
    const platform = this.#world.platforms.get(facts.platform) ?? missingPlatform(facts.platform)
    const changed = () => this.#waiting.changed(facts.credentialId)
    const before = this.#closing.get(facts.credentialId)
    const formerOwnersEnded = async () => {
      await before
      await this.#world.formerOwnersEnded?.()
    }
    const world = { ...this.#world, platform, changed, formerOwnersEnded }
    const actor = activateCredential(facts, resume, world, { timeline, ...past })
    supervised.actor = actor
    changed()
    actor.closed.then((cause) => {
      // A credential that another node has claimed is gone from the map, or in it again as a new entry.
      if (this.#stopped || this.#credentials.get(facts.credentialId) !== supervised) return
      if (cause === undefined) {
        this.#credentials.delete(facts.credentialId)
        this.#world.deleted?.(facts.credentialId)
      } else this.#runAgain(supervised, actor.snapshot, cause)
      changed()
    })
  }

  /** The next actor begins with what the crashed one left. */
  #runAgain(supervised: Supervised, left: CredentialActor['snapshot'], cause: unknown): void {
    const { clock, logger, onCrash } = this.#world
    const { facts } = supervised
    onCrash(cause)
    this.#noteClosing(supervised)
    logger.error({ credentialId: facts.credentialId, err: cause }, 'a credential crashed')
    const { settings, limit } = left.context
    const [state] = visibleState(left)
    const { resume, reason, crashes } = successorOf(state, left.context, clock.now())
    supervised.facts = { ...facts, settings, reason, limitedUntil: limit?.until }
    this.#run(supervised, resume, { crashes, limit })
  }
}

/** Calls for accounts that are not online yet: each waits a moment instead of being refused at once. */
class WaitingCalls {
  readonly #clock: Clock
  readonly #waiting = new Map<number, Set<() => void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The credential has changed: every call that waits for it looks again. */
  changed(credentialId: number): void {
    for (const go of [...(this.#waiting.get(credentialId) ?? [])]) go()
  }

  /** Resolves at the next change, at the latest after so many milliseconds. */
  wait(credentialId: number, milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(credentialId) ?? new Set()
    this.#waiting.set(credentialId, waiting)
    const go = () => {
      this.#clock.clearTimeout(timer)
      waiting.delete(go)
      if (waiting.size === 0 && this.#waiting.get(credentialId) === waiting) {
        this.#waiting.delete(credentialId)
      }
      resolve()
    }
    const timer = this.#clock.setTimeout(go, milliseconds)
    waiting.add(go)
    return promise
  }

  /** Lets every call go on. */
  end(): void {
    for (const credentialId of [...this.#waiting.keys()]) this.changed(credentialId)
  }
}
