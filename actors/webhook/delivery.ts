/** The delivery of one key's updates to its webhook: the machine that judges the endpoint, and the pump it opens. */
import { createActor, type SnapshotFrom } from 'xstate'
import { restAfter } from '../../machines/model/crash.ts'
import { type Flow, webhookMachine } from '../../machines/webhook/machine.ts'
import type { Progress } from '../../machines/webhook/progress.ts'
import type { WebhookFacts } from '../../machines/webhook/terms.ts'
import { Services } from '../host/services.ts'
import { jittered } from '../host/time.ts'
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
  readonly #actor: ReturnType<typeof createWebhook>
  /** What the key's machine is to be told, while it waits for that. */
  #moved: { cursor: number; readonly cancel: () => void } | undefined

  constructor(options: DeliveryOptions) {
    const { key, facts, cursor, webhooks } = options
    this.#options = options
    this.#endpoint = webhooks.open(key, facts)
    const { progress, trouble } = facts
    this.#pump = new Pump(this.#world(), { cursor, progress, trouble })
    this.#actor = createWebhook(facts, options, this.#pump)
    this.#actor.start()
  }

  get snapshot(): SnapshotFrom<typeof webhookMachine> {
    return this.#actor.getSnapshot()
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
        this.#actor.send({ type: 'endpoint.failed', trouble, now: clock.now() })
      },
      answered: () => this.#actor.send({ type: 'endpoint.answered' }),
      fresh: () => this.#actor.send({ type: 'lane.fresh' }),
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

const services = new Services<Own>()

const logic = webhookMachine.provide({
  delays: {
    crashRest: ({ context }) => jittered(restAfter(context.crashes)),
    tryAgain: () => jittered(300_000),
  },
  actions: {
    flow: ({ system }, flow: Flow) => services.of({ system }).pump.flow(flow),
    note: ({ system, context: { trouble } }, state) => {
      const { key, webhooks } = services.of({ system }).options
      webhooks.saveState(key, { trouble, suspended: state === 'suspended' })
    },
    remind: ({ system }, at: number) => {
      const { key, webhooks, clock } = services.of({ system }).options
      if (at - clock.now() > LONG_MS) webhooks.remind(key.apiKeyId, at)
    },
    tell: ({ system, context: { trouble } }, notice) => {
      const { key, webhooks } = services.of({ system }).options
      if (notice && trouble) webhooks.tell(key, notice, trouble.since)
    },
    turnOff: ({ system }) => services.of({ system }).options.gone(),
  },
})

function createWebhook(facts: WebhookFacts, options: DeliveryOptions, pump: Pump) {
  const { clock, crashes } = options
  const { trouble, suspended } = facts
  const input = { trouble, suspended, crashes, now: clock.now() }
  const actor = createActor(logic, { clock, input })
  services.admit(actor, { pump, options })
  const error = (cause: unknown) => {
    pump.close()
    options.crashed(cause)
  }
  actor.subscribe({ error })
  return actor
}
