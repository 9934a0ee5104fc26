/** The link machine with its effects: answers go to the network, and every step is stored before the reply. */
import {
  accountIn,
  type LinkEvent,
  type LinkState,
  OPEN_STATES,
  type VerifyLink,
} from '../../machines/link/events.ts'
import { linkMachine } from '../../machines/link/machine.ts'
import { ended } from '../../machines/link/setup.ts'
import {
  failed,
  isTransient,
  LinkRefused,
  RequestFailed,
  settle,
} from '../../machines/model/failure.ts'
import { type Failure, type Reply, refused } from '../../machines/model/protocol.ts'
import type { LinkReason } from '../../machines/model/reason.ts'
import { HostedActor } from '../host/actor.ts'
import { ActorHost } from '../host/host.ts'
import { within } from '../host/time.ts'
import type { LinkAnswer, LinkAttempt, LinkStep } from '../ports/platform.ts'
import { type LinkFacts, type LinkStore, type LinkWorld, shownStep } from '../ports/ports.ts'

/** Whether the network has accepted the answer. */
const isAccepting = (step: LinkStep): boolean =>
  step.kind === 'done' || (step.kind === 'password' && !step.wrong)

const STORE_AGAIN_MS = 1_000

/** The effects of one link flow. */
class LinkEffects {
  readonly ending: LinkEnding
  #facts: LinkFacts
  readonly #world: LinkWorld
  /** The attempt on the network: begun by this process, or resumed from what is stored. */
  #attempt: LinkAttempt | undefined
  /** The step after an answer that the network accepted, until it is stored: no network takes that answer twice. */
  #accepted: LinkStep | undefined
  /** The account, once it is stored. One try to store it at a time. */
  #finished: Promise<number | undefined> = Promise.resolve(undefined)
  /** The network has signed the account in, and that is not stored yet. */
  isUnstored = false
  /** The session that the network has opened is stored, or signed out. */
  #isSettled = false
  /** What the network is asked now. */
  #asked: Promise<unknown> = Promise.resolve()
  /** Its session is signed out, or could not be; never rejects. */
  leaving: Promise<void> = Promise.resolve()
  /** The flow is over. */
  #hasLeft = false
  #hasEnded = false
  /** Sends the machine an event that belongs to none of its states. */
  tell: (event: LinkEvent) => void = () => undefined

  constructor(facts: LinkFacts, attempt: LinkAttempt | undefined, world: LinkWorld) {
    this.#facts = facts
    this.#attempt = attempt
    this.#world = world
    this.ending = new LinkEnding(world.store, facts.sessionId, (cause) => this.#onDefect(cause))
  }

  answer({ requestId, code, password = '' }: VerifyLink): Promise<LinkEvent> {
    const answer: LinkAnswer =
      code === undefined ? { kind: 'password', password } : { kind: 'code', code }
    return this.#asking(this.#give(requestId, answer))
  }

  resend(requestId: string): Promise<LinkEvent> {
    return this.#asking(this.#give(requestId, { kind: 'resend' }))
  }

  /** Waits for an act on another device. */
  watch(send: (event: LinkEvent) => void): () => void {
    const leaving = new AbortController()
    const watch = async () => {
      // Another process may have shown it: what became of that meanwhile is the first step here.
      const isResumed = this.#attempt === undefined
      const attempt = await this.#resumed()
      const step = isResumed ? attempt.step : await attempt.changed(leaving.signal)
      if (step.kind === 'done') {
        this.#accepted = step
        return this.#finishAtLast(step).catch((cause) => {
          if (!leaving.signal.aborted) throw cause
          this.#onDefect(cause)
        })
      }
      const event = await this.#reachAtLast(step, () => leaving.signal.aborted)
      if (event) send(event)
    }
    this.#asking(watch()).catch((cause) => {
      if (leaving.signal.aborted) return
      this.#onDefect(cause)
      send({
        type: 'link.refused',
        requestId: '',
        reason: 'network',
        description: 'the platform did not answer',
      })
    })
    return () => leaving.abort()
  }

  /** A flow that is over without an account: what the network has signed in all the same is signed out at once. */
  save(
    state: LinkState,
    { attemptsLeft, reason }: Pick<LinkFacts, 'attemptsLeft' | 'reason'>,
  ): void {
    this.ending.reach(state, attemptsLeft, reason)
    if (!OPEN_STATES.includes(state)) this.#leave()
  }

  #leave(): void {
    this.#hasLeft = true
    this.leaving = this.leaving.then(() => this.#signOut())
  }

  /** The actor has ended; a `cause` means that it crashed. Another one goes on with a flow that is not over. */
  end(cause: unknown): void {
    this.#hasEnded = true
    if (cause !== undefined) this.#onDefect(cause)
    if (!this.#hasLeft) this.#attempt?.close().catch((cause) => this.#onDefect(cause))
  }

  #asking<Result>(asked: Promise<Result>): Promise<Result> {
    this.#asked = asked.catch(() => undefined)
    return asked
  }

  /** Never rejects. Another actor may link the flow, under the same session: only who has ended and claimed it signs out. */
  async #signOut(): Promise<void> {
    await this.#limited(() => this.#asked).catch(() => undefined)
    while ((await this.ending.stored()) && !this.#hasEnded) await this.#pause()
    if (this.#accepted?.kind === 'done') await this.#asked
    // It is linked as soon as it is stored.
    if (this.isUnstored) return
    const { store } = this.#world
    const { sessionId } = this.#facts
    const { isOurs } = this.ending
    try {
      const signOut = isOurs && !this.#isSettled && (await store.claimLeft(sessionId))
      if (signOut && this.#facts.stored !== null) await this.#open()
      const step = this.#accepted ?? this.#attempt?.step
      if (signOut && step?.kind === 'done') await this.#world.signOut(step.secrets)
      await this.#close(signOut)
      if (signOut) this.#isSettled = true
      if (isOurs && this.#isSettled) await store.saveLeft(sessionId)
    } catch (err) {
      // The next end, or a later actor of the flow, tries again.
      this.#world.logger.warn({ err }, 'a link that is over may have left a session signed in')
      await this.#close(false).catch((cause) => this.#onDefect(cause))
    }
  }

  async #close(signOut: boolean): Promise<void> {
    const attempt = this.#attempt
    this.#attempt = undefined
    await attempt?.close({ signOut })
  }

  async #give(requestId: string, answer: LinkAnswer): Promise<LinkEvent> {
    const outcome = await settle(
      async () => {
        if (answer.kind === 'resend') await this.#world.admitResend()
        const attempt = await this.#resumed()
        const step =
          this.#accepted ?? (await this.#limited((signal) => attempt.answer(answer, signal)))
        if (isAccepting(step)) this.#accepted = step
        return this.#reachOf(requestId, step)
      },
      (cause) => this.#onDefect(cause),
    )
    if (outcome.ok) return outcome.result
    return { type: 'answer.failed', requestId, failure: outcome.failure }
  }

  /** Has what could not be stored now stored later, if the account is signed in. */
  async #reachOf(requestId: string, step: LinkStep): Promise<LinkEvent> {
    try {
      const event = await this.#reach(requestId, step)
      this.#accepted = undefined
      return event
    } catch (cause) {
      if (step.kind === 'done' && isTransient(cause)) {
        this.#finishAtLast(step).catch((err) => this.#onDefect(err))
      }
      throw cause
    }
  }

  /**
   * The network has signed the account in, so the session must not be left without an owner, also if nobody asks again or
   * the flow is over before the storage is back.
   */
  async #finishAtLast(step: LinkStep): Promise<void> {
    if (this.isUnstored) return
    this.isUnstored = true
    try {
      const event = await this.#reachAtLast(step, () => this.#hasEnded)
      if (event) this.tell(event)
    } finally {
      this.isUnstored = false
      if (this.#hasLeft) this.#leave()
    }
  }

  async #resumed(): Promise<LinkAttempt> {
    const attempt = await this.#open()
    if (!this.#hasEnded && !this.#hasLeft) return attempt
    if (!this.#hasLeft) await attempt.close()
    throw failed('unavailable', 'the link session is over')
  }

  async #open(): Promise<LinkAttempt> {
    const { platform } = this.#world
    this.#attempt ??= await this.#limited((signal) =>
      platform.resumeLink(this.#facts.stored, signal),
    )
    return this.#attempt
  }

  /** Stores the step; resolves with the machine's event for it. */
  async #reach(requestId: string, step: LinkStep): Promise<LinkEvent> {
    if (step.kind === 'done') return this.#finish(requestId, step)
    if (step.kind === 'refused') {
      const { reason, description, why } = step
      return { type: 'link.refused', requestId, reason, description, ...(why && { why }) }
    }
    const { store, clock } = this.#world
    const { sessionId, step: first } = this.#facts
    const shown = { ...shownStep(step, clock.now()), ...accountIn(first) }
    await store.saveStep(sessionId, shown, step.stored)
    this.#facts = { ...this.#facts, stored: step.stored }
    const wrong = step.kind !== 'show' && step.wrong
    if (wrong) return { type: 'answer.wrong', requestId, what: step.kind }
    return { type: 'step.reached', requestId, step: shown }
  }

  /**
   * Nobody asks a second time for a step that was only watched, so it is stored as soon as the storage is back. Undefined if
   * it is over before.
   */
  async #reachAtLast(step: LinkStep, isOver: () => boolean): Promise<LinkEvent | undefined> {
    for (;;) {
      try {
        return await this.#reach('', step)
      } catch (cause) {
        if (!isTransient(cause)) throw cause
        this.#world.logger.warn({ err: cause }, 'a step of a link flow is not stored yet')
      }
      await this.#pause()
      if (isOver()) return undefined
    }
  }

  /** Until the storage may be back. */
  #pause(): Promise<void> {
    return new Promise((resolve) => this.#world.clock.setTimeout(resolve, STORE_AGAIN_MS))
  }

  async #finish(
    requestId: string,
    { account, secrets }: Extract<LinkStep, { kind: 'done' }>,
  ): Promise<LinkEvent> {
    try {
      const { store } = this.#world
      const finishing = this.#finished.then((known) => {
        // What was signed out meanwhile is not linked.
        if (known === undefined && this.#isSettled) throw new RequestFailed(ended)
        return known ?? store.finish(this.#facts.sessionId, account, secrets)
      })
      this.#finished = finishing.catch(() => undefined)
      const credentialId = await finishing
      this.#isSettled = true
      return { type: 'link.finished', requestId, credentialId }
    } catch (cause) {
      if (!(cause instanceof LinkRefused)) throw cause
      this.#isSettled = true
      const { reason, failure } = cause
      return { type: 'link.refused', requestId, reason, description: failure.description }
    }
  }

  #limited<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return within(this.#world.answerTakes, undefined, work)
  }

  #onDefect(cause: unknown): void {
    this.#world.logger.error({ err: cause }, 'a link flow failed')
  }
}

const unstored: Failure = {
  code: 'unavailable',
  description: 'what the link session came to could not be stored',
  retryAfterSeconds: 1,
}

/** Stores how a link flow ended before any reply says so; a write that failed is tried again for the next reply. */
class LinkEnding {
  readonly #store: LinkStore
  readonly #sessionId: string
  readonly #onDefect: (cause: unknown) => void
  /** The flow was open until this actor ended it, and this node's. */
  isOurs = false
  #unsaved: (() => Promise<void>) | undefined
  #saving: Promise<void> = Promise.resolve()

  constructor(store: LinkStore, sessionId: string, onDefect: (cause: unknown) => void) {
    this.#store = store
    this.#sessionId = sessionId
    this.#onDefect = onDefect
  }

  reach(state: LinkState, attemptsLeft: number, reason: LinkReason | undefined): void {
    this.#unsaved = async () => {
      const wasOurs = await this.#store.saveEnd(this.#sessionId, state, attemptsLeft, reason)
      if (wasOurs && !OPEN_STATES.includes(state)) this.isOurs = true
    }
    this.#saveNext()
  }

  /** Resolves once the end is stored: with a failure if it is not. */
  async stored(): Promise<Failure | undefined> {
    await this.#saving
    if (this.#unsaved) await this.#saveNext()
    return this.#unsaved && unstored
  }

  #saveNext(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save())
    return this.#saving
  }

  async #save(): Promise<void> {
    const save = this.#unsaved
    if (!save) return
    try {
      await save()
      if (this.#unsaved === save) this.#unsaved = undefined
    } catch (cause) {
      this.#onDefect(cause)
    }
  }
}

export class LinkActor extends HostedActor<typeof linkMachine, LinkEffects> {
  override isIdle(forMilliseconds: number): boolean {
    return !this.effects.isUnstored && super.isIdle(forMilliseconds)
  }
}

/** The reply to an answer whose actor ends first: the network may have taken it. */
function cutShort(event: LinkEvent): Reply | undefined {
  if (event.type !== 'link.verify' && event.type !== 'link.resend') return undefined
  const description = 'the link session stopped before the platform answered; it may have been done'
  return refused(event, { code: 'timeout', description, certain: false })
}

const host = new ActorHost<typeof linkMachine, LinkEffects, LinkActor>({
  cutShort,
  before: ({ ending }) => ending.stored(),
  ended: ({ effects }, cause) => effects.end(cause),
  provide: (host) =>
    linkMachine.provide({
      actors: { watch: host.service((effects, send) => effects.watch(send)) },
      actions: {
        reply: host.reply,
        answer: async ({ self }, command) => {
          self.send(await host.effectsOf(self).answer(command))
        },
        resend: async ({ self }, { requestId }) => {
          self.send(await host.effectsOf(self).resend(requestId))
        },
        save: ({ self, context }, state) => host.effectsOf(self).save(state, context),
      },
    }),
})

/** `attempt` was begun by this process; without it the flow goes on from what is stored. */
export function activateLink(
  facts: LinkFacts,
  attempt: LinkAttempt | undefined,
  world: LinkWorld,
): LinkActor {
  const { clock } = world
  const input = { ...facts, expiresInMs: facts.expiresAt - clock.now() }
  const effects = new LinkEffects(facts, attempt, world)
  const isOver = !OPEN_STATES.includes(facts.state) && facts.state !== 'linked'
  // Whoever ended it has not had its session signed out.
  if (isOver && facts.stored !== null) effects.save(facts.state, facts)
  return host.begin({ clock, input }, (ref) => {
    effects.tell = (event) => ref.send(event)
    return new LinkActor(ref, effects, clock, host)
  })
}
