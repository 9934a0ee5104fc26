/** The events of a link flow's machine, and the steps that it shows. */

import type { Command, Explanation, Failure } from '../model/protocol.ts'
import type { LinkReason, Params } from '../model/reason.ts'

export type LinkState =
  | 'code_sent'
  | 'password_needed'
  | 'waiting'
  | 'linked'
  | 'expired'
  | 'cancelled'
  | 'failed'

/** States in which the flow may still be answered. */
export const OPEN_STATES: readonly LinkState[] = ['code_sent', 'password_needed', 'waiting']

/** How a code was sent, for translators; `params` belong to it, such as the address of a mail. */
export type SentWay = {
  readonly code:
    | 'sandbox_inbox'
    | 'telegram'
    | 'telegram_app'
    | 'sms'
    | 'call'
    | 'call_number'
    | 'email'
  readonly params?: Params
}

/** The step that the flow waits for, as the user may see it; times in milliseconds since 1970. */
export interface ShownStep {
  readonly state: 'code_sent' | 'password_needed' | 'waiting'
  /** The account that is being linked, partly hidden. */
  readonly phone?: string
  readonly jid?: string
  readonly codeLength?: number
  /** When the network stops taking the code, where it says so. */
  readonly codeUntil?: number
  /** How the code was sent, in English. */
  readonly sentVia?: string
  readonly way?: SentWay
  readonly resendAt?: number
  readonly passwordHint?: string
  readonly show?: {
    readonly form: 'qr' | 'pairing_code'
    readonly value: string
    readonly until: number
  }
}

/** Later steps are of the same account as the first one. */
export const accountIn = (first: ShownStep | undefined): Pick<ShownStep, 'phone' | 'jid'> => ({
  ...(first?.phone !== undefined && { phone: first.phone }),
  ...(first?.jid !== undefined && { jid: first.jid }),
})

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
