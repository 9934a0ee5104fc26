/** A link flow's actor among fakes, with a clock that stands still. */
import type { Test } from 'tap'
import { activateLink, type LinkActor } from '../../../actors/link/actor.ts'
import type { LinkAnswer, LinkAttempt, LinkStep } from '../../../actors/ports/platform.ts'
import type { LinkFacts } from '../../../actors/ports/ports.ts'
import type { LinkState, ShownStep } from '../../../machines/link/events.ts'
import { ended } from '../../../machines/link/setup.ts'
import { RequestFailed } from '../../../machines/model/failure.ts'
import { TestClock } from '../../support/clock.ts'
import { FakeLogger, FakePlatform, somebody } from '../../support/fakes.ts'

export const code: LinkStep = { kind: 'code', sentVia: 'a text message', stored: { at: 'code' } }
export const wrong: LinkStep = { ...code, wrong: true }
export const password: LinkStep = { kind: 'password', hint: 'dog', stored: { at: 'password' } }
export const done: LinkStep = { kind: 'done', account: somebody, secrets: 'secret' }

export class FakeAttempt implements LinkAttempt {
  step: LinkStep = code
  readonly answers: LinkAnswer[] = []
  closed = 0
  /** Whether the network was asked to end what it may have signed in. */
  readonly left: boolean[] = []
  next: (answer: LinkAnswer) => Promise<LinkStep> = async () => password
  readonly moved = Promise.withResolvers<LinkStep>()

  answer(answer: LinkAnswer): Promise<LinkStep> {
    this.answers.push(answer)
    return this.next(answer)
  }

  changed(): Promise<LinkStep> {
    return this.moved.promise
  }

  async close({ signOut }: { readonly signOut: boolean } = { signOut: false }): Promise<void> {
    this.closed++
    this.left.push(signOut)
  }
}

export class LinkRig {
  readonly clock = new TestClock()
  readonly logger = new FakeLogger()
  readonly platform: FakePlatform
  readonly attempt = new FakeAttempt()
  readonly steps: [ShownStep, unknown][] = []
  finished = 0
  readonly signedOut: unknown[] = []
  /** How often it was stored that nothing is left signed in. */
  forgotten = 0
  readonly ends: [LinkState, number, string | undefined][] = []
  /** Holds back whatever is to be stored. */
  storing: Promise<unknown> = Promise.resolve()
  /** Holds back only the account. */
  finishing: Promise<unknown> = Promise.resolve()
  /** Holds back only what a flow came to. */
  saving: Promise<unknown> = Promise.resolve()

  constructor(t: Test) {
    this.platform = new FakePlatform(t)
  }

  facts(more: Partial<LinkFacts> = {}): LinkFacts {
    return {
      sessionId: 's1',
      platform: 'fake',
      state: 'code_sent',
      step: { state: 'code_sent', sentVia: 'a text message' },
      stored: { at: 'code' },
      attemptsLeft: 3,
      expiresAt: this.clock.now() + 900_000,
      credentialId: undefined,
      reason: undefined,
      ...more,
    }
  }

  answerTakes = 10_000
  /** Whether another code may be sent. */
  onResend: () => Promise<void> = async () => undefined
  /** What is stored of the flow is open, and this node's. */
  isOpen = true
  /** No other node has taken it since this one ended it. */
  isOwn = true
  /** As the table does it: what is claimed to be signed out is not linked, and the other way round. */
  #isClaimed = false

  begin(more: Partial<LinkFacts> = {}, isFirst = true): LinkActor {
    return activateLink(this.facts(more), isFirst ? this.attempt : undefined, {
      platform: this.platform.port,
      store: {
        saveStep: async (_, step, stored) => {
          await this.storing
          this.steps.push([step, stored])
        },
        saveEnd: async (_, state, attemptsLeft, reason) => {
          await this.storing
          await this.saving
          this.ends.push([state, attemptsLeft, reason])
          return this.isOpen
        },
        claimLeft: async () => {
          this.#isClaimed = this.isOwn && this.finished === 0
          return this.#isClaimed
        },
        saveLeft: async () => void this.forgotten++,
        finish: async () => {
          await this.storing
          await this.finishing
          if (this.#isClaimed) throw new RequestFailed(ended)
          this.finished++
          return 7
        },
      },
      clock: this.clock,
      logger: this.logger,
      answerTakes: this.answerTakes,
      signOut: async (secrets) => void this.signedOut.push(secrets),
      admitResend: () => this.onResend(),
    })
  }
}

export const stateOf = (actor: LinkActor) => JSON.stringify(actor.snapshot.value)
