/** A credential's actor among fakes, with a clock that stands still. */
import type { Test } from 'tap'
import { activateCredential, type CredentialActor } from '../../../actors/credential/actor.ts'
import { OwnUpdates } from '../../../actors/credential/perform.ts'
import { visibleState } from '../../../actors/credential/timeline.ts'
import { type CredentialWorld, StartBudget } from '../../../actors/credential/world.ts'
import type { CredentialFacts, Identities, Owned } from '../../../actors/ports/ports.ts'
import type { Resume } from '../../../machines/credential/setup.ts'
import type { Happening, ReceiveSettings } from '../../../machines/model/happening.ts'
import { settled, TestClock } from '../../support/clock.ts'
import {
  FakeCredentialStore,
  FakeLogger,
  FakePlatform,
  FakeUpdateLog,
  only,
} from '../../support/fakes.ts'

export const everything: ReceiveSettings = {
  includeSelfUpdates: true,
  includeChannelUpdates: true,
  includeChannelUpdateRecovery: true,
  includeDeletedUpdates: true,
}

export const timing = {
  probeEvery: 60_000,
  probeAgain: 15_000,
  probeTakes: 10_000,
  performTakes: 10_000,
  signOutTakes: 5_000,
  holdFor: 5_000,
}

export const factsOf = (
  credentialId: number,
  more: Partial<CredentialFacts> = {},
): CredentialFacts => ({
  credentialId,
  userId: 1,
  platform: 'fake',
  epoch: 3,
  state: 'queued',
  reason: undefined,
  settings: everything,
  limitedUntil: undefined,
  ...more,
})

export const deleted = (sourceKey: string): Happening => ({
  kind: 'deleted',
  sourceKey,
  direction: 'incoming',
  at: 1,
  messages: ['m'],
})

export const stateOf = (actor: CredentialActor): string => visibleState(actor.snapshot)[0]

/** A lease that ends, and is renewed, when a test says so. */
export class TestLease {
  isValid = true
  readonly #ends = new Set<() => void>()
  #renewed = Promise.withResolvers<void>()

  async valid(): Promise<void> {
    while (!this.isValid) await this.#renewed.promise
  }

  onEnd(listener: () => void): () => void {
    this.#ends.add(listener)
    return () => void this.#ends.delete(listener)
  }

  end(): void {
    this.isValid = false
    for (const listener of [...this.#ends]) listener()
  }

  renew(): void {
    this.isValid = true
    this.#renewed.resolve()
    this.#renewed = Promise.withResolvers()
  }

  /** How many listen for its end. */
  get listeners(): number {
    return this.#ends.size
  }
}

export class CredentialRig {
  readonly clock = new TestClock()
  readonly logger = new FakeLogger()
  readonly budget = new StartBudget(2, this.clock)
  readonly lease = new TestLease()
  readonly platform: FakePlatform
  readonly store: FakeCredentialStore
  readonly updates: FakeUpdateLog
  readonly world: CredentialWorld
  /** What another node was found to have claimed. */
  readonly lost: Owned[] = []
  readonly #actors: CredentialActor[] = []

  constructor(t: Test, more: Partial<CredentialWorld> = {}) {
    this.platform = new FakePlatform(t)
    this.store = new FakeCredentialStore(t)
    this.updates = new FakeUpdateLog(t)
    this.world = {
      platform: this.platform.port,
      store: this.store.port,
      updates: this.updates.port,
      storage: {
        recovered: (atMostMs) =>
          new Promise((resolve) => this.clock.setTimeout(() => resolve(), atMostMs)),
      },
      own: new OwnUpdates(),
      identities: only<Identities>(t, 'Identities', { identified() {} }),
      budget: this.budget,
      clock: this.clock,
      logger: this.logger,
      timing,
      lease: this.lease,
      lost: (owned) => {
        this.lost.push(owned)
        for (const actor of this.#actors) actor.stop()
      },
      ...more,
    }
  }

  activate(facts: Partial<CredentialFacts> = {}, resume: Resume = 'queued'): CredentialActor {
    const actor = activateCredential(factsOf(1, facts), resume, this.world)
    this.#actors.push(actor)
    return actor
  }

  async online(facts: Partial<CredentialFacts> = {}): Promise<CredentialActor> {
    const actor = this.activate(facts)
    await settled()
    if (stateOf(actor) !== 'live.online') throw new Error(`it is ${stateOf(actor)}`)
    return actor
  }
}
