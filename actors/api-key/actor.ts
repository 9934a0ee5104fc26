/** API keys as actors: all that live on this node, and the questions that each of them answers. */

import type { Actor, StateValue } from 'xstate'
import { hasExpired, mayCall, type Scope, type UpdatePage } from '../../machines/api-key/events.ts'
import { apiKeyMachine } from '../../machines/api-key/machine.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import type { Wanted } from '../../machines/model/update-kinds.ts'
import type { WebhookChange, WebhookFacts } from '../../machines/webhook/terms.ts'
import { type AbortLike, HostedActor, type Hosting } from '../host/actor.ts'
import { ActorHost } from '../host/host.ts'
import type { KeyFacts } from '../ports/ports.ts'
import type { WebhookDelivery } from '../webhook/delivery.ts'
import { ApiKeyEffects, type EffectsWorld } from './effects.ts'

type ApiKeyHost = ActorHost<typeof apiKeyMachine, ApiKeyEffects, ApiKeyActor>

/** All API keys that live on this node. The crash of one does not touch the others. */
export class ApiKeys {
  readonly #world: CountingWorld
  readonly #host: ApiKeyHost
  #asked = 0

  constructor(world: ApiKeyWorld) {
    this.#world = { ...world, held: { polls: 0 } }
    this.#host = new ActorHost<typeof apiKeyMachine, ApiKeyEffects, ApiKeyActor>({
      provide,
      // An actor system for each key would double its memory.
      shared: 'plain',
      // Only the key's own machine sees it.
      newRequestId: () => String(++this.#asked),
      ended({ effects, facts: { apiKeyId } }, err) {
        effects.end()
        if (err !== undefined) world.logger.error({ apiKeyId, err }, 'a key crashed')
      },
    })
  }

  get heldPolls(): number {
    return this.#world.held.polls
  }

  begin(facts: KeyFacts): ApiKeyActor {
    const { apiKeyId, credentialId, terms, revoked, cursor, filter, webhook, userId } = facts
    const suspension = this.#world.suspensionOf?.(userId)
    const input = { apiKeyId, credentialId, terms, revoked, cursor, filter, webhook, suspension }
    const create = (ref: KeyRef) => new ApiKeyActor(facts, this.#world, ref, this.#host)
    return this.#host.begin({ input, clock: this.#world.clock }, create)
  }

  /** The user was suspended, or that has ended: each of their keys that lives here is told. */
  suspensionChanged(userId: number): void {
    const suspension = this.#world.suspensionOf?.(userId)
    for (const key of [...this.#host.live()]) {
      if (key.facts.userId !== userId) continue
      key.tell(suspension ? { type: 'user.suspended', suspension } : { type: 'user.resumed' })
    }
  }

  /** Another node has claimed these credentials: held polls are answered with nothing, and the next call loads the key. */
  leave(credentialIds: ReadonlySet<number>): void {
    for (const key of [...this.#host.live()]) {
      if (!credentialIds.has(key.facts.credentialId)) continue
      key.lose()
    }
  }
}

const provide = (host: ApiKeyHost) =>
  apiKeyMachine.provide({
    actions: {
      reply: host.reply,
      read: ({ self }, poll) => {
        if (poll) host.effectsOf(self).read(poll)
      },
      listen: ({ self }, poll) => host.effectsOf(self).listen(poll),
      stopListening: ({ self }) => host.effectsOf(self).stopListening(),
      change: ({ self }, change) => host.effectsOf(self).change(change),
      deliver: ({ self }) => host.effectsOf(self).deliver(),
      stopDelivering: ({ self }) => host.effectsOf(self).stopDelivering(),
      saveCursor: ({ self, context }) => host.effectsOf(self).saveCursor(context),
    },
  })

export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

interface SendRates {
  readonly key: Rate
  readonly chat: Rate
}

/** Above this number of chats, idle ones are forgotten. */
const CHATS = 10_000

/** How fast a key may send: a rate of its own, and one for each chat (generic cell rate algorithm). */
export class RateLimiter {
  readonly #rates: SendRates
  readonly #chats = new Map<string, number>()
  #key = 0
  #forgetAbove = CHATS

  constructor(rates: SendRates) {
    this.#rates = rates
  }

  /**
   * Counts one sending call at `now` (milliseconds); if it is too many, says in how many seconds it is not. `chat` is empty
   * where nobody knows it yet: such calls go to many, so only the rate of the key counts.
   */
  take(chat: string, now: number): number | undefined {
    const key = advance(this.#rates.key, this.#key, now)
    const perChat = advance(this.#rates.chat, (chat && this.#chats.get(chat)) || 0, now)
    const overMs = Math.max(key.overMs, perChat.overMs)
    if (overMs > 0) return Math.ceil(overMs / 1000)
    this.#key = key.theoretical
    if (chat !== '') this.#chats.set(chat, perChat.theoretical)
    if (this.#chats.size > this.#forgetAbove) this.#forget(now)
    return undefined
  }

  #forget(now: number) {
    for (const [chat, theoretical] of this.#chats) if (theoretical <= now) this.#chats.delete(chat)
    // Those that are not idle yet are not looked through again with each call.
    this.#forgetAbove = Math.max(CHATS, 2 * this.#chats.size)
  }
}

function advance({ perSecond, burst }: Rate, theoretical: number, now: number) {
  const step = 1000 / perSecond
  const most = now + burst * step
  // A time so far ahead means that the clock was set back.
  const next = (theoretical > most + step ? now : Math.max(theoretical, now)) + step
  return { theoretical: next, overMs: next - most }
}

export interface ApiKeyWorld extends Omit<EffectsWorld, 'held'> {
  readonly rates: SendRates
  /** How calls are refused while this user is suspended; undefined: they are not. */
  suspensionOf?(userId: number): Failure | undefined
  /** Calls of one key at the same time; the reference's figure unless given. */
  readonly callsInFlight?: number
}

type CountingWorld = ApiKeyWorld & Pick<EffectsWorld, 'held'>

const CALLS_IN_FLIGHT = 1_000
const RETRY_SECONDS = 60
/** With the largest files, about what the usual burst of a key buys. */
const UNMEASURED_AT_ONCE = 50

export interface PollRequest extends Partial<Wanted> {
  readonly offset: number
  readonly limit: number
  readonly timeoutMs: number
  /** Milliseconds since its client made it, if it has waited for the owner of its account. */
  readonly age?: number
  /** A number that stands for the program that polls, as far as that names itself. */
  readonly client?: number
}

type KeyRef = Actor<typeof apiKeyMachine>

export class ApiKeyActor extends HostedActor<typeof apiKeyMachine, ApiKeyEffects> {
  #facts: KeyFacts
  readonly #world: CountingWorld
  /** Not in the machine, because a rate changes with every message. Most keys never send one. */
  #limiter: RateLimiter | undefined
  /** A counter outside the machine, because every call of a bot changes it twice. */
  #calls = 0
  /** Calls whose bodies are not here yet. */
  #coming = 0
  /** Of these, how many have no length. */
  #unmeasured = 0
  #isLost = false

  constructor(
    facts: KeyFacts,
    world: CountingWorld,
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

  /** How each call is refused while its user is suspended. */
  get suspension(): Failure | undefined {
    const { value, context } = this.snapshot
    return value === 'suspended' ? context.suspension : undefined
  }

  /**
   * Receives the body of a call, which may take long: the key does not sleep meanwhile. Of bodies whose length nobody has
   * said, and which cost nothing before they are here, only some come at once.
   */
  async whileComing<Result>(receive: () => Promise<Result>, isUnmeasured = false): Promise<Result> {
    if (isUnmeasured && this.#unmeasured >= UNMEASURED_AT_ONCE) {
      throw failed('rate_limited', '', { retryAfterSeconds: 1 })
    }
    this.#coming++
    if (isUnmeasured) this.#unmeasured++
    try {
      return await receive()
    } finally {
      this.#coming--
      if (isUnmeasured) this.#unmeasured--
      this.noteUse()
    }
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
    this.#assertOwner()
    this.noteUse()
    const now = this.#world.clock.now()
    const { snapshot } = this
    const mayGoOn =
      this.isActive && isUsable(snapshot) && mayCall(snapshot.context.terms, scope, now)
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

  /** Another node has claimed its account. */
  lose(): void {
    this.letGo()
    this.#isLost = true
    this.stop(new OwnershipLost())
  }

  /** Not async, so that a poll that is held keeps nothing but its reply in memory. */
  poll(request: PollRequest, signal: AbortLike): Promise<UpdatePage> {
    let next: number
    try {
      this.#assertOwner()
      next = this.#world.updates.next(this.facts.credentialId)
    } catch (cause) {
      return Promise.reject(cause)
    }
    const now = this.#world.clock.now()
    const mayHold = this.effects.mayHold && ({ mayHold: true } as const)
    return this.ask({ type: 'updates.poll', ...request, next, now, ...mayHold }, signal)
  }

  async dropPending(): Promise<void> {
    const next = this.#world.updates.next(this.facts.credentialId)
    await this.ask({ type: 'updates.drop', next, now: this.#world.clock.now() })
    await this.#stored()
  }

  /** The key was changed in the store: new terms, perhaps other secrets. */
  async refresh(facts: KeyFacts): Promise<void> {
    // The actor keeps the epoch of the owner that began it.
    const { epoch } = this.#facts
    this.#facts = facts.epoch === epoch ? facts : { ...facts, epoch }
    await this.ask({ type: 'key.changed', terms: facts.terms })
    this.delivery?.poke()
  }

  /** Kinds that are wanted from here on. */
  async allow(wanted: Wanted): Promise<void> {
    const next = this.#world.updates.next(this.facts.credentialId)
    await this.ask({ type: 'updates.allow', ...wanted, next })
    await this.#stored()
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

  /** Its webhook gets nothing until it is set again, or for a long time. */
  get hasGivenUp(): boolean {
    return this.delivery?.hasGivenUp ?? this.webhook?.suspended ?? false
  }

  /** Resolves once nothing of a stopped delivery is under way any more. */
  get settled(): Promise<unknown> {
    return this.effects.webhook?.settled ?? Promise.resolve()
  }

  override isIdle(forMilliseconds: number): boolean {
    if (this.#coming > 0 || this.#calls > 0 || !super.isIdle(forMilliseconds)) return false
    return this.effects.webhook?.isIdle(forMilliseconds) ?? true
  }

  async revoke(): Promise<void> {
    await this.ask({ type: 'key.revoke' })
  }

  /** Refuses all waiting callers, because their secret is not valid any more. */
  async rotated(): Promise<void> {
    await this.ask({ type: 'key.rotated' })
  }

  /** Bots ask for it once, and not again after a crash: it is stored before they are told. */
  async #stored(): Promise<void> {
    await this.#world.keys.stored(this.facts.apiKeyId)
    // What another owner has fenced is not stored.
    this.#assertOwner()
  }

  /** A call may have looked the key up before it was lost. */
  #assertOwner(): void {
    if (this.#isLost) throw new OwnershipLost()
  }

  get #rates(): RateLimiter {
    this.#limiter ??= new RateLimiter(this.#world.rates)
    return this.#limiter
  }
}

/** Not "matches": it copies the value, and every call asks. */
const isUsable = ({ value }: Pick<ApiKeyActor['snapshot'], 'value'>): boolean =>
  typeof value === 'object' && 'usable' in value

/** A state with the states inside it: `usable.held`. */
export function statePath(value: StateValue): string {
  if (typeof value === 'string') return value
  const [name = '', inside] = Object.entries(value)[0] ?? []
  return inside === undefined ? name : `${name}.${statePath(inside)}`
}
