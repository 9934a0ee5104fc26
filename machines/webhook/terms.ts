/** The terms of a webhook, and the changes to it. */
import type { Trouble } from './machine.ts'
import type { Progress, Runs } from './progress.ts'

/** `name` is in small letters. */
export interface WebhookHeader {
  readonly name: string
  readonly value: string
}

/** The address and the way of delivery. */
export interface WebhookTarget {
  /** It may contain user info, so it is a secret. */
  readonly url: string
  /** Dialled instead of the addresses that the host's name resolves to. */
  readonly ipAddress: string | undefined
  readonly maxConnections: number
  readonly secretToken: string | undefined
  /** Added to every delivery. They may carry credentials, so their values are secrets. */
  readonly headers?: readonly WebhookHeader[]
  /** PEM; trusted instead of the usual authorities. */
  readonly certificate: string | undefined
}

/** The state of the endpoint, as the table has it. */
export interface WebhookState {
  readonly trouble: Trouble | undefined
  readonly suspended: boolean
}

/** The state and the progress with which a delivery ended, and the next one begins. */
export interface WebhookStanding extends WebhookState {
  readonly progress: Progress | undefined
}

/** A webhook as it is stored. */
export interface WebhookFacts extends WebhookTarget, WebhookStanding {}

export type WebhookChange =
  | {
      readonly kind: 'set'
      readonly target: WebhookTarget
      /** Everything up to this id is dropped (`drop_pending_updates`). */
      readonly dropTo: number | undefined
    }
  | {
      readonly kind: 'delete'
      readonly dropTo: number | undefined
      /** The receiver answered `410 Gone` for long enough; no user asked for the deletion. */
      readonly isGone?: true
    }
  /** Everything after this id is delivered again. */
  | { readonly kind: 'replay'; readonly after: number }
  /**
   * Delivers again those updates of `runs` that were delivered before, `updates` in number. Later updates are not
   * affected.
   */
  | { readonly kind: 'resend'; readonly runs: Runs; readonly updates: number }
  /** Drops the rest of a resend; `waiting` is the number of other updates that wait. */
  | { readonly kind: 'stop resend'; readonly waiting: number }

/** The key after the change. */
export interface WebhookChanged {
  readonly webhook: WebhookFacts | undefined
  readonly cursor: number
}
