/** What a webhook is, and what may be asked to become of it. */
import type { Trouble } from './machine.ts'
import type { Progress } from './progress.ts'

/** Where to deliver, as it was set. */
export interface WebhookTarget {
  /** With the user info that was given, which makes it a secret. */
  readonly url: string
  /** Dialled instead of what the host's name resolves to. */
  readonly ipAddress: string | undefined
  readonly maxConnections: number
  readonly secretToken: string | undefined
  /** In PEM: trusted instead of the usual authorities. */
  readonly certificate: string | undefined
}

/** What is stored of a webhook. */
export interface WebhookFacts extends WebhookTarget {
  readonly trouble: Trouble | undefined
  readonly suspended: boolean
  readonly progress: Progress | undefined
}

export type WebhookChange =
  | {
      readonly kind: 'set'
      readonly target: WebhookTarget
      /** Everything up to this id is given up (`drop_pending_updates`). */
      readonly dropTo: number | undefined
    }
  | {
      readonly kind: 'delete'
      readonly dropTo: number | undefined
      /** Not the user's wish: the receiver answered `410 Gone` for long enough. */
      readonly isGone?: true
    }
  /** Everything after this id is delivered again. */
  | { readonly kind: 'replay'; readonly after: number }

/** How the key stands afterwards. */
export interface WebhookChanged {
  readonly webhook: WebhookFacts | undefined
  readonly cursor: number
}
