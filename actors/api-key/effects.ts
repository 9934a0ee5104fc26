/** The effects of an API key: reading updates for its polls, listening for new ones, and delivering to its webhook. */
import {
  type ApiKeyEvent,
  type ChangeWebhook,
  type HeldPoll,
  type Poll,
  receivesAt,
} from '../../machines/api-key/events.ts'
import type { ApiKeyContext } from '../../machines/api-key/setup.ts'
import { settle } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import type { Filter } from '../../machines/model/update-kinds.ts'
import { crashesTooOften, withCrash } from '../../machines/supervision/machine.ts'
import type { KeyFacts, KeyStore, ReadUpdates } from '../ports/ports.ts'
import type { DeliveryWorld, ReceivingKey, WebhookKey } from '../ports/webhooks.ts'
import { WebhookDelivery } from '../webhook/delivery.ts'

export interface EffectsWorld extends DeliveryWorld {
  readonly keys: KeyStore
  /** The polls that all keys hold, counted: ten thousand keys are too many to be asked for it. */
  readonly held: { polls: number }
  /** The reason why an account gets nothing any more; undefined for one that works, or may soon. */
  whyOut?(credentialId: number): Failure | undefined
}

/** A bot that was answered so short a time ago may be in the midst of a burst. */
const BURST_MS = 10

interface KeyMachine {
  send(event: ApiKeyEvent): void
  getSnapshot(): { readonly context: ApiKeyContext }
}

export class ApiKeyEffects {
  readonly #owned: WebhookKey
  readonly #world: EffectsWorld
  readonly #machine: KeyMachine
  /** The stored filter, or the one being stored. An unchanged filter is not written again. */
  #filter: Filter
  /** Most keys have none. */
  #webhook: KeyWebhook | undefined
  #stop: (() => void) | undefined
  /** Cancels the reading that is due. */
  #due: (() => void) | undefined
  #mayHold = true
  #holds = false

  constructor(facts: KeyFacts, world: EffectsWorld, machine: KeyMachine) {
    this.#owned = facts
    this.#filter = facts.filter
    this.#world = world
    this.#machine = machine
  }

  saveCursor({ cursor, filter, lastPoll }: ApiKeyContext): void {
    const changedFilter = filter === this.#filter ? undefined : filter
    this.#filter = filter
    this.#world.keys.saveCursor(this.#owned, { cursor, changedFilter, polledAt: lastPoll?.at })
  }

  get webhook(): KeyWebhook | undefined {
    return this.#webhook
  }

  deliver(): void {
    this.#ownWebhook().deliver()
  }

  stopDelivering(): void {
    this.#webhook?.stop()
  }

  change(change: ChangeWebhook): void {
    this.#ownWebhook().change(change)
  }

  read(poll: Poll): void {
    const { apiKeyId, credentialId } = this.#owned
    const { updates, logger } = this.#world
    let found: ReadUpdates | Promise<ReadUpdates>
    try {
      found = updates.read(credentialId, apiKeyId, poll)
    } catch (cause) {
      found = Promise.reject(cause)
    }
    // A page from memory needs no promise, which counts when a thousand keys read at once.
    if (!(found instanceof Promise)) {
      this.#wasRead(poll, found)
      return
    }
    const onDefect = (cause: unknown) => logger.error({ apiKeyId, err: cause }, 'a poll failed')
    void settle(() => found, onDefect).then((outcome) => {
      if (outcome.ok) this.#wasRead(poll, outcome.result)
      else this.#machine.send({ type: 'poll.failed', poll, failure: outcome.failure })
    })
  }

  #wasRead(poll: Poll, result: ReadUpdates): void {
    const read = this.#mayHold ? poll : { ...poll, timeoutMs: 0 }
    const out = this.#world.whyOut?.(this.#owned.credentialId)
    const now = this.#world.clock.now()
    this.#machine.send({ type: 'poll.read', poll: read, ...result, out, now })
  }

  /** Whether a poll may wait: the account still gets updates, and the service goes on. */
  get mayHold(): boolean {
    return this.#mayHold && this.#world.whyOut?.(this.#owned.credentialId) === undefined
  }

  /** No poll is held from now on, also none that is being read for. */
  endPolls(): void {
    this.#mayHold = false
  }

  /** Reads once there is something newer than the poll has seen. Replaces an earlier listener. */
  listen(poll: HeldPoll): void {
    this.#pause()
    if (!this.#holds) this.#world.held.polls++
    this.#holds = true
    const { updates, turns, clock } = this.#world
    this.#stop = updates.listen(this.#owned.credentialId, poll.head, () => {
      const read = () => {
        this.#pause()
        this.read(poll)
      }
      // A burst of updates leaves in few answers; an update that comes alone waits for no others.
      const mayBeBurst = clock.now() - poll.heldAt < BURST_MS
      this.#due ??= mayBeBurst ? turns.gather(read) : turns.soon(read)
    })
  }

  /** No poll is held any more. */
  stopListening(): void {
    this.#pause()
    if (this.#holds) this.#world.held.polls--
    this.#holds = false
  }

  #pause(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#due?.()
    this.#due = undefined
  }

  /** The actor has ended, without leaving its state. */
  end(): void {
    this.stopListening()
    this.stopDelivering()
  }

  #ownWebhook(): KeyWebhook {
    this.#webhook ??= new KeyWebhook(this.#owned, this.#world, this.#machine)
    return this.#webhook
  }
}

/** Delivers to the webhook of a key while the key's machine wants it, and changes it while nothing is under way. */
class KeyWebhook implements ReceivingKey {
  readonly owned: WebhookKey
  readonly #world: DeliveryWorld
  readonly #machine: KeyMachine
  #delivery: WebhookDelivery | undefined
  /** Since deliveries were last begun or stopped. */
  #crashes: readonly number[] = []
  /** Steps run one after another: what is under way ends before the next step begins. */
  #last: Promise<unknown> = Promise.resolve()
  #isWanted = false

  constructor(key: WebhookKey, world: DeliveryWorld, machine: KeyMachine) {
    const { apiKeyId, userId, credentialId, epoch } = key
    // A copy, because buffers keep it: the facts have secrets.
    this.owned = { apiKeyId, userId, credentialId, epoch }
    this.#world = world
    this.#machine = machine
  }

  get delivery(): WebhookDelivery | undefined {
    return this.#delivery
  }

  /** A delivery that is about to begin is not idle. */
  isIdle(forMilliseconds: number): boolean {
    return this.#delivery?.isIdle(forMilliseconds) ?? !this.#isWanted
  }

  /** Resolves once nothing is under way any more. */
  get settled(): Promise<unknown> {
    return this.#last
  }

  deliver(): void {
    this.#isWanted = true
    this.#then(async () => {
      if (this.#isWanted) this.#begin()
    })
  }

  stop(): void {
    this.#isWanted = false
    this.#crashes = []
    this.#end()
  }

  change({ requestId, change }: ChangeWebhook): void {
    const { webhooks, logger } = this.#world
    this.#then(async () => {
      const { apiKeyId } = this.owned
      const { cursor, webhook } = this.#context
      const at = Math.max(cursor, webhook?.progress?.cursor ?? 0)
      const onDefect = (err: unknown) =>
        logger.error({ apiKeyId, err }, 'a webhook was not changed')
      const outcome = await settle(() => webhooks.change(this.owned, change, at), onDefect)
      if (outcome.ok) {
        this.#machine.send({ type: 'webhook.changed', requestId, changed: outcome.result })
      } else {
        this.#machine.send({ type: 'webhook.unchanged', requestId, failure: outcome.failure })
      }
    })
  }

  get filter(): Filter {
    return this.#context.filter
  }

  get mayReceive(): boolean {
    return receivesAt(this.#context.terms, this.#world.clock.now())
  }

  moved(cursor: number): void {
    this.#machine.send({ type: 'webhook.moved', cursor })
  }

  gone(): void {
    const change = { kind: 'delete', dropTo: undefined, isGone: true } as const
    this.#machine.send({ type: 'webhook.change', requestId: crypto.randomUUID(), change })
  }

  crashed(cause: unknown): void {
    // In a microtask, because a delivery may crash in its constructor.
    queueMicrotask(() => this.#follow(cause))
  }

  get #context(): ApiKeyContext {
    return this.#machine.getSnapshot().context
  }

  #then(work: () => Promise<void>) {
    const { apiKeyId } = this.owned
    this.#last = this.#last.then(work).catch((err) => {
      this.#world.logger.error({ apiKeyId, err }, 'the webhook of a key is in trouble')
    })
  }

  #end() {
    const delivery = this.#delivery
    this.#delivery = undefined
    if (!delivery) return
    this.#then(async () => {
      await delivery.stop().finally(() => {
        this.#machine.send({ type: 'webhook.stopped', standing: delivery.standing })
      })
    })
  }

  /** Begins another delivery where the crashed one ended, once nothing of that is under way any more. */
  #follow(err: unknown) {
    // It was stopped meanwhile.
    if (!this.#delivery) return
    const { clock, logger, webhooks } = this.#world
    logger.error({ apiKeyId: this.owned.apiKeyId, err }, 'a webhook delivery crashed')
    const at = clock.now()
    this.#crashes = withCrash(this.#crashes, at)
    const crash = {
      at,
      since: this.#crashes[0] ?? at,
      isGivenUp: crashesTooOften(this.#crashes),
    }
    this.#then(async () => webhooks.crashed(this.owned, crash))
    this.#end()
    this.deliver()
  }

  #begin() {
    const { cursor, webhook } = this.#context
    if (!webhook || this.#delivery) return
    const start = { facts: webhook, cursor, crashes: this.#crashes }
    this.#delivery = new WebhookDelivery(this, this.#world, start)
  }
}
