/** The port of webhook deliveries. `src/webhooks` implements it. */
import type { Filter } from '../../machines/model/update-kinds.ts'
import type { Notice } from '../../machines/webhook/machine.ts'
import type { Progress } from '../../machines/webhook/progress.ts'
import type {
  WebhookChange,
  WebhookChanged,
  WebhookState,
  WebhookTarget,
} from '../../machines/webhook/terms.ts'
import type { Turns } from '../host/time.ts'
import type { Clock, Logger, OwnedKey, UpdateLog } from './ports.ts'

export interface WebhookUpdate {
  readonly updateId: number
  /** Updates of one lane are delivered one after another. */
  readonly lane: string
  /** The update as JSON; undefined if it was dropped to save memory and has to be read again. */
  readonly body: string | undefined
  readonly traceId: string | undefined
}

export interface Delivery {
  readonly updateId: number
  readonly body: string
  /** It tests whether an endpoint that failed is back. */
  readonly isProbe?: boolean
}

/** The request and the answer of one attempt. */
export interface WebhookExchange {
  /** Lists of names and values in turn. */
  readonly headers: readonly (readonly string[])[]
  readonly body: string
  /** Undefined if there was none; the body may be cut and compressed. */
  readonly answer:
    | {
        readonly headers: Readonly<Record<string, string | string[] | undefined>>
        readonly chunks: readonly Uint8Array[]
      }
    | undefined
}

/** How one attempt ended. */
interface AttemptEnd {
  readonly ok: boolean
  readonly status: number | undefined
  /** In the reference's words; undefined after a success. */
  readonly error: string | undefined
  readonly retryAfterMs: number | undefined
  readonly durationMs: number
}

export interface Attempt extends AttemptEnd {
  /** Undefined if nothing was sent, or if it is not kept. */
  readonly exchange?: WebhookExchange
}

/** One attempt in the owner's list of deliveries. */
export interface AttemptRecord extends AttemptEnd {
  readonly at: number
  readonly updateId: number
  readonly attempt: number
  /** An earlier delivery had read the update: it is sent again on request, or was not acknowledged before a restart. */
  readonly isRepeated: boolean
  readonly traceId: string | undefined
  readonly nextAttemptAt: number | undefined
}

export interface WebhookEndpoint {
  /** The IP address of the last connection; undefined before the first one. */
  readonly address: string | undefined
  /** Resolves within the time limit of an attempt. A failed attempt is an outcome, not a rejection. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<Attempt>
  /** Buffered; a crash may lose the newest. */
  record(attempt: AttemptRecord, exchange: WebhookExchange | undefined): void
  close(): void
}

export interface WebhookKey extends OwnedKey {
  readonly userId: number
}

interface WebhookReader {
  readonly filter: Filter
  readonly after: number
  readonly limit: number
}

export interface Crash {
  readonly at: number
  /** The first of the crashes that count. */
  readonly since: number
  readonly isGivenUp: boolean
}

export interface Webhooks {
  open(key: WebhookKey, target: WebhookTarget): WebhookEndpoint
  read(
    key: WebhookKey,
    reader: WebhookReader,
  ): Promise<{ readonly updates: readonly WebhookUpdate[]; readonly head: number }>
  /**
   * Resolves once the progress is stored. `progress` is called just before the write, so that the newest is stored. A
   * rushed write survives a crash of the service, but perhaps not a crash of the database.
   */
  saveProgress(key: OwnedKey, progress: () => Progress, isRushed: boolean): Promise<void>
  /** Notifies the owner, once for each notice and `since`. */
  notify(key: WebhookKey, notice: Notice, since: number): void
  /** Buffered. */
  saveState(key: OwnedKey, state: WebhookState): void
  /** Records that the delivery crashed. Buffered. */
  crashed(key: WebhookKey, crash: Crash): void
  /** Counts updates that were given up after a week of attempts, or that the log deleted before they were read. */
  dropped(key: OwnedKey, updates: number): void
  /** Has the key's actor woken at this time. */
  remind(apiKeyId: number, at: number): void
  /** Stores the change; `cursor` is the key's current cursor. */
  change(key: OwnedKey, change: WebhookChange, cursor: number): Promise<WebhookChanged>
}

/** The parts of the world that a delivery uses. */
export interface DeliveryWorld {
  readonly webhooks: Webhooks
  readonly updates: UpdateLog
  readonly clock: Clock
  readonly logger: Logger
  /** One update may be for thousands of keys. */
  readonly turns: Turns
}

/** The key of a webhook, as its delivery sees it. */
export interface ReceivingKey {
  readonly owned: WebhookKey
  /** The filter that is in force now. */
  readonly filter: Filter
  /** False while the key is expired or lacks the scope. */
  readonly mayReceive: boolean
  /** Everything up to this id is acknowledged and stored. */
  moved(cursor: number): void
  /** The receiver wants no more: the webhook is to be deleted. */
  gone(): void
  /** The machine of the delivery has crashed: another delivery has to follow. */
  crashed(cause: unknown): void
}
