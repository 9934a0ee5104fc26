/** The events of a link flow's machine, and the steps that it shows. */

import type { Command, Explanation, Failure } from '../model/protocol.ts'
import type { LinkReason } from '../model/reason.ts'

export type LinkState =
  | 'code_sent'
  | 'password_needed'
  | 'waiting'
  | 'linked'
  | 'expired'
  | 'cancelled'
  | 'failed'

/** The step that the flow waits for, as the user may see it; times in milliseconds since 1970. */
export interface ShownStep {
  readonly state: 'code_sent' | 'password_needed' | 'waiting'
  readonly codeLength?: number
  readonly sentVia?: string
  readonly resendAt?: number
  readonly passwordHint?: string
  readonly show?: {
    readonly form: 'qr' | 'pairing_code'
    readonly value: string
    readonly until: number
  }
}

export interface LinkInput {
  readonly sessionId: string
  readonly state: LinkState
  readonly step: ShownStep | undefined
  readonly attemptsLeft: number
  readonly expiresAt: number
  readonly expiresInMs: number
  readonly credentialId: number | undefined
  readonly reason: LinkReason | undefined
}

export interface VerifyLink extends Command {
  readonly type: 'link.verify'
  readonly code?: string
  readonly password?: string
}

export type LinkEvent =
  | VerifyLink
  | (Command & { readonly type: 'link.resend'; readonly now: number })
  | (Command & { readonly type: 'link.cancel' })
  | (Command & { readonly type: 'request.abandoned' })
  | (Command & { readonly type: 'step.reached'; readonly step: ShownStep })
  | (Command & { readonly type: 'answer.wrong'; readonly what: 'code' | 'password' })
  | (Command & { readonly type: 'answer.failed'; readonly failure: Failure })
  | (Command & {
      readonly type: 'link.refused'
      readonly reason: LinkReason
      readonly description: string
      /** Says why more exactly than `reason`. */
      readonly why?: Explanation
    })
  | (Command & { readonly type: 'link.finished'; readonly credentialId: number })
