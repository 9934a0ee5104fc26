/** The API key machine with its effects: reading the log, listening to it, keeping the cursor. */
import { createActor, type SnapshotFrom } from 'xstate'
import { apiKeyMachine } from '../machines/api-key.ts'
import type { ApiKeyEvent, Scope, UpdatePage } from '../machines/api-key-events.ts'
import type { KindSet } from '../machines/update-kinds.ts'
import { Activation } from './activation.ts'
import { failed, settle } from './errors.ts'
import type { Clock, KeyFacts, KeyStore, Logger, UpdateLog } from './ports.ts'
import { RateLimiter, type SendRates } from './rate.ts'
import { Services } from './services.ts'

export interface ApiKeyWorld {
  readonly log: UpdateLog
  readonly keys: KeyStore
  readonly clock: Clock
  readonly logger: Logger
  readonly rates: SendRates
}

/** Calls of one key at the same time, and when to come back; figures of the reference. */
const CALLS_IN_FLIGHT = 1_000
const RETRY_SECONDS = 60

export interface PollRequest {
  readonly offset: number
  readonly limit: number
  readonly timeoutMs: number
  readonly kinds?: KindSet
}

export class ApiKeyActor extends Activation<ApiKeyEvent, SnapshotFrom<typeof apiKeyMachine>> {
  #facts: KeyFacts
  readonly #world: ApiKeyWorld
  readonly #limiter: RateLimiter
  #calls = 0
  #isDraining = false

  constructor(facts: KeyFacts, world: ApiKeyWorld) {
    super(createApiKey(facts, world), () => world.clock.now())
    this.#facts = facts
    this.#world = world
    this.#limiter = new RateLimiter(world.rates)
  }

  get facts(): KeyFacts {
    return this.#facts
  }

  /** Revoked and expired keys open nothing, whatever is asked of them. */
  get isEnded(): boolean {
    const { value, context } = this.snapshot
    return value === 'revoked' || this.#world.clock.now() >= (context.terms.expiresAt ?? Infinity)
  }

  /** Runs one call, unless too many of this key are under way already. */
  async inFlight<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#calls >= CALLS_IN_FLIGHT) {
      throw failed('rate_limited', '', { retryAfterSeconds: RETRY_SECONDS })
    }
    this.#calls++
    try {
      return await call()
    } finally {
      this.#calls--
    }
  }

  /** Whether a call may go on; `chat` is given for calls that send to one. Rejects with the reason. */
  async admit(scope: Scope | undefined, chat?: string): Promise<void> {
    const now = this.#world.clock.now()
    // A call that is refused anyway does not use up the rate.
    const { terms } = this.snapshot.context
    const counts = chat !== undefined && (scope === undefined || terms.scopes.includes(scope))
    const overBySeconds = counts ? this.#limiter.take(chat, now) : undefined
    await this.ask({
      type: 'call.admit',
      scope,
      now,
      ...(overBySeconds !== undefined && { overBySeconds }),
    })
  }

  /** The service goes down: the held poll is answered with nothing, and no other one is held. */
  endPolls(): void {
    this.#isDraining = true
    this.tell({ type: 'polls.end' })
  }

  poll(request: PollRequest, signal: AbortSignal): Promise<UpdatePage> {
    const next = this.#world.log.next(this.facts.credentialId)
    return this.ask(
      {
        type: 'updates.poll',
        ...request,
        ...(this.#isDraining && { timeoutMs: 0 }),
        next,
        now: this.#world.clock.now(),
      },
      signal,
    )
  }

  async dropPending(): Promise<void> {
    const next = this.#world.log.next(this.facts.credentialId)
    await this.ask({ type: 'updates.drop', next, now: this.#world.clock.now() })
  }

  /** The key was changed in the store: new terms, perhaps other secrets. */
  async refresh(facts: KeyFacts): Promise<void> {
    this.#facts = facts
    await this.ask({ type: 'key.changed', terms: facts.terms })
  }

  async revoke(): Promise<void> {
    await this.ask({ type: 'key.revoke' })
  }
}

const services = new Services<ApiKeyWorld>()

const logic = apiKeyMachine.provide({
  actors: {
    listener: services.create<{ credentialId: number; after: number }>(({ log }, send, input) =>
      log.listen(input.credentialId, input.after, () => send({ type: 'updates.appended' })),
    ),
  },
  actions: {
    read: async ({ self, system, context }, poll) => {
      if (!poll) return
      const { log, clock, logger } = services.of({ system })
      const { apiKeyId, credentialId } = context
      const onDefect = (cause: unknown) => logger.error({ apiKeyId, err: cause }, 'a poll failed')
      const outcome = await settle(() => log.read(credentialId, apiKeyId, poll), onDefect)
      if (!outcome.ok) self.send({ type: 'poll.failed', poll, failure: outcome.failure })
      else self.send({ type: 'poll.read', poll, ...outcome.result, now: clock.now() })
    },
    saveCursor: ({ system, context: { apiKeyId, cursor, filter } }) =>
      services.of({ system }).keys.saveCursor(apiKeyId, cursor, filter),
  },
})

function createApiKey(facts: KeyFacts, world: ApiKeyWorld) {
  const { apiKeyId, credentialId, terms, revoked, cursor, filter } = facts
  const actor = createActor(logic, {
    clock: world.clock,
    input: { apiKeyId, credentialId, terms, revoked, cursor, filter },
  })
  services.admit(actor, world)
  actor.subscribe({ error: () => services.endAll(actor) })
  return actor
}
