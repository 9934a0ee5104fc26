/** What the delivery of a webhook needs from the world. `src/webhooks` implements it. */
import type { Filter } from '../../machines/model/update-kinds.ts'
import type { Notice, Trouble } from '../../machines/webhook/machine.ts'
import type { Progress } from '../../machines/webhook/progress.ts'
import type { WebhookChange, WebhookChanged, WebhookTarget } from '../../machines/webhook/terms.ts'
import type { Item } from '../webhook/lanes.ts'
import type { OwnedKey } from './ports.ts'

export interface WebhookUpdate extends Item {
  /** The update as JSON; undefined where it is to be read again, memory being short. */
  readonly body: string | undefined
  readonly traceId: string | undefined
}

export interface Delivery {
  readonly updateId: number
  readonly body: string
  /** It is to show whether an endpoint that was taken for dead is back. */
  readonly isProbe?: boolean
}

/** How one attempt ended. */
export interface Attempt {
  readonly ok: boolean
  readonly status: number | undefined
  /** In the reference's words; undefined when it went well. */
  readonly error: string | undefined
  readonly retryAfterMs: number | undefined
  readonly durationMs: number
}

/** One attempt as the owner sees it later. */
export interface AttemptRecord extends Attempt {
  readonly at: number
  readonly updateId: number
  readonly attempt: number
  readonly traceId: string | undefined
  readonly nextAttemptAt: number | undefined
}

export interface WebhookEndpoint {
  /** The IP address that was connected to last; undefined as long as there was none. */
  readonly address: string | undefined
  /** Never rejects: whatever happens is an outcome. Takes no longer than an attempt may. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<Attempt>
  close(): void
}

export interface WebhookKey extends OwnedKey {
  readonly userId: number
}

export interface WebhookReader {
  readonly filter: Filter
  readonly after: number
  readonly limit: number
}

export interface WebhookState {
  readonly trouble: Trouble | undefined
  readonly suspended: boolean
}

export interface Crash {
  readonly at: number
  /** When it crashed first of those times that count. */
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
   * Resolves once it is stored: `progress` is asked for just before, so that it is the newest. What is rushed survives a
   * crash of the service, and perhaps none of the database.
   */
  saveProgress(key: OwnedKey, progress: () => Progress, isRushed: boolean): Promise<void>
  /** The owner learns of it once, however often it is told: each that begins at `since` is told apart. */
  tell(key: WebhookKey, notice: Notice, since: number): void
  /** Buffered. */
  saveState(key: OwnedKey, state: WebhookState): void
  /** The delivery crashed, and goes on after a rest, or was given up for longer. Buffered. */
  crashed(key: WebhookKey, crash: Crash): void
  /** An update was given up after a week of tries. */
  dropped(key: OwnedKey): void
  /** Buffered; a crash may lose the newest. */
  record(key: WebhookKey, target: WebhookTarget, attempt: AttemptRecord): void
  /** Has the key's actor woken at that time. */
  remind(apiKeyId: number, at: number): void
  /** Stores the change; `cursor` is where the key stands. */
  change(key: OwnedKey, change: WebhookChange, cursor: number): Promise<WebhookChanged>
}
