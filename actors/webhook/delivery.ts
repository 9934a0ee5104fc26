/** The delivery of one key's updates to its webhook: the machine that judges the endpoint, and the pump it opens. */
import type { SnapshotFrom } from 'xstate'
import { type Flow, webhookMachine } from '../../machines/webhook/machine.ts'
import type { Progress } from '../../machines/webhook/progress.ts'
import type { WebhookFacts } from '../../machines/webhook/terms.ts'
import { HostedActor } from '../host/actor.ts'
import { ActorHost } from '../host/host.ts'
import { jitteredCrashDelays } from '../host/supervision.ts'
import type { Clock, Logger, UpdateLog } from '../ports/ports.ts'
import type { WebhookEndpoint, WebhookKey, WebhookReader, Webhooks } from '../ports/webhooks.ts'
import { Pump, type PumpWorld } from './pump.ts'

export interface DeliveryOptions {
  readonly key: WebhookKey
  readonly facts: WebhookFacts
  readonly cursor: number
  /** When the deliveries before this one crashed. */
  readonly crashes: readonly number[]
  readonly webhooks: Webhooks
  readonly updates: UpdateLog
  readonly clock: Clock
  readonly logger: Logger
  /** The filter that holds now. */
  filter(): WebhookReader['filter']
  /** False while the key is expired or lacks the scope. */
  mayReceive(): boolean
  moved(cursor: number): void
  /** The receiver wants no more. */
  gone(): void
  /** Its machine stands still: it is to be stopped, and followed by another one. */
  crashed(cause: unknown): void
}

/** A rest that is longer than this is slept through: somebody will wake the actor. */
const LONG_MS = 60_000
/** How long the key's machine may not know how far the delivery is: the delivery itself does, and so does the table. */
const MOVED_LAG_MS = 100

export class WebhookDelivery {
  readonly #options: DeliveryOptions
  readonly #endpoint: WebhookEndpoint
  readonly #pump: Pump
  readonly #actor: HostedActor<typeof webhookMachine, Own>
  /** What the key's machine is to be told, while it waits for that. */
  #moved: { cursor: number; readonly cancel: () => void } | undefined

  constructor(options: DeliveryOptions) {
    const { key, facts, cursor, webhooks } = options
    this.#options = options
    this.#endpoint = webhooks.open(key, facts)
    const { progress, trouble } = facts
    this.#pump = new Pump(this.#world(), { cursor, progress, trouble })
    this.#actor = createWebhook(facts, { pump: this.#pump, options })
  }

  get snapshot(): SnapshotFrom<typeof webhookMachine> {
    return this.#actor.snapshot
  }

  get progress(): Progress {
    return this.#pump.progress
  }

  /** How its endpoint stands, for the one that follows. */
  get standing(): Pick<WebhookFacts, 'trouble' | 'suspended'> {
    const { value, context } = this.snapshot
    const isWaiting = value === 'crashed' || value === 'failed'
    return {
      // A machine that crashes over what it was told has not learnt it.
      trouble: this.#pump.trouble,
      suspended: value === 'suspended' || (isWaiting && context.suspended),
    }
  }

  /** Nothing goes out before somebody asks for it, or before it was left alone for long. */
  get hasGivenUp(): boolean {
    const { value } = this.snapshot
    return value === 'suspended' || value === 'crashed' || value === 'failed'
  }

  /** Where its endpoint was last found. */
  get address(): string | undefined {
    return this.#endpoint.address
  }

  /** Nothing to do for so long, or nothing to do before somebody wakes it. */
  isIdle(forMilliseconds: number): boolean {
    const { value, context } = this.snapshot
    const now = this.#options.clock.now()
    if (value === 'suspended') return true
    if (value === 'resting') return (context.trouble?.dueAt ?? 0) - now > LONG_MS
    return this.#pump.isIdle && now - this.#pump.activeAt >= forMilliseconds
  }

  /** The key may receive something else than before. */
  poke(): void {
    this.#pump.poke()
  }

  /** Resolves once nothing is under way and everything acknowledged is stored. */
  async stop(): Promise<void> {
    this.#actor.stop()
    await this.#pump.stop()
    this.#moved?.cancel()
    this.#endpoint.close()
  }

  #later(work: () => void, milliseconds: number): () => void {
    const { clock } = this.#options
    const timer = clock.setTimeout(work, milliseconds)
    return () => clock.clearTimeout(timer)
  }

  #saved(cursor: number) {
    if (this.#moved) {
      this.#moved.cursor = cursor
      return
    }
    const tell = () => {
      const { cursor: newest } = this.#moved ?? { cursor }
      this.#moved = undefined
      this.#options.moved(newest)
    }
    this.#moved = { cursor, cancel: this.#later(tell, MOVED_LAG_MS) }
  }

  #world(): PumpWorld {
    const { key, facts, webhooks, updates, clock, logger, filter, mayReceive } = this.#options
    return {
      maxConnections: facts.maxConnections,
      read: (after, limit) => webhooks.read(key, { filter: filter(), after, limit }),
      listen: (after, notify) => updates.listen(key.credentialId, after, notify),
      deliver: (delivery, signal) => this.#endpoint.deliver(delivery, signal),
      save: (progress, isRushed) => webhooks.saveProgress(key, progress, isRushed),
      saved: (cursor) => this.#saved(cursor),
      record: (attempt) => webhooks.record(key, facts, attempt),
      dropped: () => webhooks.dropped(key),
      failed: (trouble) => {
        this.#actor.tell({ type: 'endpoint.failed', trouble, now: clock.now() })
      },
      answered: () => this.#actor.tell({ type: 'endpoint.answered' }),
      fresh: () => this.#actor.tell({ type: 'lane.fresh' }),
      defect: (err) => logger.error({ apiKeyId: key.apiKeyId, err }, 'a webhook is in trouble'),
      mayReceive,
      now: () => clock.now(),
      chance: () => Math.random(),
      later: (work, milliseconds) => this.#later(work, milliseconds),
    }
  }
}

interface Own {
  readonly pump: Pump
  readonly options: DeliveryOptions
}

const host = new ActorHost<typeof webhookMachine, Own>({
  ended({ effects: { pump, options } }, cause) {
    if (cause === undefined) return
    pump.close()
    options.crashed(cause)
  },
  provide: (host) =>
    webhookMachine.provide({
      delays: jitteredCrashDelays,
      actions: {
        flow: ({ self }, flow: Flow) => host.effectsOf(self).pump.flow(flow),
        note: ({ self, context: { trouble } }, state) => {
          const { key, webhooks } = host.effectsOf(self).options
          webhooks.saveState(key, { trouble, suspended: state === 'suspended' })
        },
        remind: ({ self }, at: number) => {
          const { key, webhooks, clock } = host.effectsOf(self).options
          if (at - clock.now() > LONG_MS) webhooks.remind(key.apiKeyId, at)
        },
        tell: ({ self, context: { trouble } }, notice) => {
          const { key, webhooks } = host.effectsOf(self).options
          if (notice && trouble) webhooks.tell(key, notice, trouble.since)
        },
        turnOff: ({ self }) => host.effectsOf(self).options.gone(),
      },
    }),
})

function createWebhook(facts: WebhookFacts, own: Own): HostedActor<typeof webhookMachine, Own> {
  const { clock, crashes } = own.options
  const { trouble, suspended } = facts
  const input = { trouble, suspended, crashes, now: clock.now() }
  return host.begin({ clock, input }, (ref) => new HostedActor(ref, own, clock, host))
}
