/** What an API key's actor does about its webhook: deliver while it may, and change it when nothing is under way. */
import type { ApiKeyEvent, ChangeWebhook } from '../../machines/api-key/events.ts'
import type { ApiKeyContext } from '../../machines/api-key/setup.ts'
import { settle } from '../../machines/model/failure.ts'
import { crashesTooOften, withCrash } from '../../machines/supervision/machine.ts'
import type { WebhookFacts } from '../../machines/webhook/terms.ts'
import type { Clock, Logger, UpdateLog } from '../ports/ports.ts'
import type { WebhookKey, Webhooks } from '../ports/webhooks.ts'
import { WebhookDelivery } from '../webhook/delivery.ts'

export interface KeyWebhookWorld {
  readonly updates: UpdateLog
  readonly clock: Clock
  readonly logger: Logger
  readonly webhooks: Webhooks
}

interface KeyActor {
  send(event: ApiKeyEvent): void
  getSnapshot(): { readonly context: ApiKeyContext }
}

export class KeyWebhook {
  readonly #key: WebhookKey
  readonly #world: KeyWebhookWorld
  readonly #actor: KeyActor
  #delivery: WebhookDelivery | undefined
  /** What the last delivery had come to: newer than what the key began with. */
  #left: Pick<WebhookFacts, 'progress' | 'trouble' | 'suspended'> | undefined
  /** Since somebody last began or stopped it. */
  #crashes: readonly number[] = []
  /** One thing after another: what was under way ends before the next begins. */
  #last: Promise<unknown> = Promise.resolve()
  #isWanted = false

  constructor(
    { apiKeyId, userId, credentialId, epoch }: WebhookKey,
    world: KeyWebhookWorld,
    actor: KeyActor,
  ) {
    this.#key = { apiKeyId, userId, credentialId, epoch }
    this.#world = world
    this.#actor = actor
  }

  get delivery(): WebhookDelivery | undefined {
    return this.#delivery
  }

  /** One that is about to begin has something to do. */
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
      const { apiKeyId } = this.#key
      const { cursor } = this.#actor.getSnapshot().context
      const at = Math.max(cursor, this.#left?.progress?.cursor ?? 0)
      const onDefect = (err: unknown) =>
        logger.error({ apiKeyId, err }, 'a webhook was not changed')
      const outcome = await settle(() => webhooks.change(this.#key, change, at), onDefect)
      if (!outcome.ok) {
        this.#actor.send({ type: 'webhook.unchanged', requestId, failure: outcome.failure })
        return
      }
      this.#left = undefined
      this.#actor.send({ type: 'webhook.changed', requestId, changed: outcome.result })
    })
  }

  #then(work: () => Promise<void>) {
    this.#last = this.#last.then(work).catch((err) => {
      this.#world.logger.error({ err }, 'the webhook of a key is in trouble')
    })
  }

  #end() {
    const delivery = this.#delivery
    this.#delivery = undefined
    if (!delivery) return
    this.#then(async () => {
      await delivery.stop().finally(() => {
        this.#left = { ...delivery.standing, progress: delivery.progress }
      })
    })
  }

  /** What the one that crashed left is where the next one goes on, once nothing of it is under way any more. */
  #follow(crashed: WebhookDelivery, err: unknown) {
    if (this.#delivery !== crashed) return
    const { clock, logger, webhooks } = this.#world
    logger.error({ apiKeyId: this.#key.apiKeyId, err }, 'a webhook delivery crashed')
    const at = clock.now()
    this.#crashes = withCrash(this.#crashes, at)
    const crash = {
      at,
      since: this.#crashes[0] ?? at,
      isGivenUp: crashesTooOften(this.#crashes),
    }
    this.#then(async () => webhooks.crashed(this.#key, crash))
    this.#end()
    this.deliver()
  }

  #begin() {
    const context = () => this.#actor.getSnapshot().context
    const { cursor, webhook } = context()
    if (!webhook || this.#delivery) return
    const { clock } = this.#world
    const delivery: WebhookDelivery = new WebhookDelivery({
      ...this.#world,
      key: this.#key,
      facts: { ...webhook, ...this.#left },
      cursor,
      crashes: this.#crashes,
      filter: () => context().filter,
      mayReceive: () => {
        const { scopes, expiresAt } = context().terms
        return scopes.includes('bot:receive') && clock.now() < (expiresAt ?? Infinity)
      },
      moved: (moved) => this.#actor.send({ type: 'webhook.moved', cursor: moved }),
      gone: () => {
        const change = { kind: 'delete', dropTo: undefined, isGone: true } as const
        this.#actor.send({ type: 'webhook.change', requestId: crypto.randomUUID(), change })
      },
      // It may crash before it has begun.
      crashed: (cause) => queueMicrotask(() => this.#follow(delivery, cause)),
    })
    this.#delivery = delivery
  }
}
