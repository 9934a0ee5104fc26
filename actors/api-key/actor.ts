/** One API key as an actor: what may be asked of it. */
import type { Actor } from 'xstate'
import type { Scope, UpdatePage } from '../../machines/api-key/events.ts'
import type { apiKeyMachine } from '../../machines/api-key/machine.ts'
import { hasExpired, mayCall } from '../../machines/api-key/terms.ts'
import { failed } from '../../machines/model/failure.ts'
import type { KindSet } from '../../machines/model/update-kinds.ts'
import type { WebhookChange, WebhookFacts } from '../../machines/webhook/terms.ts'
import { type AbortLike, HostedActor, type Hosting } from '../host/actor.ts'
import type { KeyFacts } from '../ports/ports.ts'
import type { WebhookDelivery } from '../webhook/delivery.ts'
import { ApiKeyEffects, type EffectsWorld } from './effects.ts'
import { RateLimiter, type SendRates } from './rate.ts'

export interface ApiKeyWorld extends EffectsWorld {
  readonly rates: SendRates
  /** Calls of one key at the same time; the reference's figure unless given. */
  readonly callsInFlight?: number
}

const CALLS_IN_FLIGHT = 1_000
const RETRY_SECONDS = 60

export interface PollRequest {
  readonly offset: number
  readonly limit: number
  readonly timeoutMs: number
  readonly kinds?: KindSet
}

export type KeyRef = Actor<typeof apiKeyMachine>

export class ApiKeyActor extends HostedActor<typeof apiKeyMachine, ApiKeyEffects> {
  #facts: KeyFacts
  readonly #world: ApiKeyWorld
  /** No part of the machine either: a rate changes with every message. Most keys never send one. */
  #limiter: RateLimiter | undefined
  /** A counter and no part of the machine: every call of a bot changes it twice. */
  #calls = 0

  constructor(
    facts: KeyFacts,
    world: ApiKeyWorld,
    ref: KeyRef,
    host: Hosting<typeof apiKeyMachine>,
  ) {
    super(ref, new ApiKeyEffects(facts, world, ref), world.clock, host)
    this.#facts = facts
    this.#world = world
  }

  get facts(): KeyFacts {
    return this.#facts
  }

  /** Revoked or expired: every call is refused. */
  get isEnded(): boolean {
    const { value, context } = this.snapshot
    const isOver = value === 'revoked' || value === 'rotated'
    return isOver || hasExpired(context.terms, this.#world.clock.now())
  }

  /** Runs one call, unless too many of this key are under way already. */
  async inFlight<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#calls >= (this.#world.callsInFlight ?? CALLS_IN_FLIGHT)) {
      throw failed('rate_limited', '', { retryAfterSeconds: RETRY_SECONDS })
    }
    this.#calls++
    try {
      return await call()
    } finally {
      this.#calls--
    }
  }

  /**
   * Whether a call may go on; `chat` is given for calls that send to one. Rejects with the reason. The machine gets a
   * command only where it has to refuse: most calls may go on, which its state and terms show.
   */
  async admit(scope: Scope | undefined, chat?: string): Promise<void> {
    this.noteUse()
    const now = this.#world.clock.now()
    const { snapshot } = this
    const mayGoOn =
      this.isActive && snapshot.matches('usable') && mayCall(snapshot.context.terms, scope, now)
    // A call that is refused anyway does not use up the rate.
    const overBySeconds = mayGoOn && chat !== undefined ? this.#rates.take(chat, now) : undefined
    if (mayGoOn && overBySeconds === undefined) return
    await this.ask({
      type: 'call.admit',
      scope,
      now,
      ...(overBySeconds !== undefined && { overBySeconds }),
    })
  }

  /** The service goes down: the held poll is answered with nothing, and no other one is held. */
  endPolls(): void {
    this.effects.endPolls()
    this.letGo()
  }

  /** Its account is out: the held poll is answered with the rest of the updates, or refused with the reason. */
  accountOut(): void {
    this.tell({ type: 'account.out' })
  }

  /** The held poll is answered with nothing. */
  letGo(): void {
    this.tell({ type: 'polls.end' })
  }

  poll(request: PollRequest, signal: AbortLike): Promise<UpdatePage> {
    const next = this.#world.updates.next(this.facts.credentialId)
    return this.ask(
      {
        type: 'updates.poll',
        ...request,
        next,
        now: this.#world.clock.now(),
      },
      signal,
    )
  }

  async dropPending(): Promise<void> {
    const next = this.#world.updates.next(this.facts.credentialId)
    await this.ask({ type: 'updates.drop', next, now: this.#world.clock.now() })
  }

  /** The key was changed in the store: new terms, perhaps other secrets. */
  async refresh(facts: KeyFacts): Promise<void> {
    // The actor stays in the hands of the owner that began it.
    const { epoch } = this.#facts
    this.#facts = facts.epoch === epoch ? facts : { ...facts, epoch }
    await this.ask({ type: 'key.changed', terms: facts.terms })
    this.delivery?.poke()
  }

  /** Kinds that are wanted from here on. */
  async allow(kinds: KindSet): Promise<void> {
    const next = this.#world.updates.next(this.facts.credentialId)
    await this.ask({ type: 'updates.allow', kinds, next })
  }

  async changeWebhook(change: WebhookChange): Promise<void> {
    await this.ask({ type: 'webhook.change', change })
  }

  get webhook(): WebhookFacts | undefined {
    return this.snapshot.context.webhook
  }

  /** It has one, or is about to. */
  get hasWebhook(): boolean {
    const { webhook, changing } = this.snapshot.context
    return webhook !== undefined || changing !== undefined
  }

  /** The id of the newest update. */
  get newest(): number {
    return this.#world.updates.next(this.facts.credentialId) - 1
  }

  /** The delivery to the webhook, while it runs. */
  get delivery(): WebhookDelivery | undefined {
    return this.effects.webhook?.delivery
  }

  /** Its webhook gets nothing before it is set again, or before long. */
  get hasGivenUp(): boolean {
    return this.delivery?.hasGivenUp ?? this.webhook?.suspended ?? false
  }

  /** Resolves once nothing of a stopped delivery is under way any more. */
  get settled(): Promise<unknown> {
    return this.effects.webhook?.settled ?? Promise.resolve()
  }

  override isIdle(forMilliseconds: number): boolean {
    if (!super.isIdle(forMilliseconds)) return false
    return this.effects.webhook?.isIdle(forMilliseconds) ?? true
  }

  async revoke(): Promise<void> {
    await this.ask({ type: 'key.revoke' })
  }

  /** Turns all callers out: the secret they came in with opens nothing any more. */
  async rotated(): Promise<void> {
    await this.ask({ type: 'key.rotated' })
  }

  get #rates(): RateLimiter {
    this.#limiter ??= new RateLimiter(this.#world.rates)
    return this.#limiter
  }
}
