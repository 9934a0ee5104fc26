/** A link session as the management API shows it. */
import { Type } from 'typebox'
import { CredentialRecord } from '../../credentials/record.ts'
import { Nullable } from '../../json/nullable.ts'
import type { LinkFlow } from '../../links/flows.ts'

export const LinkRecord = Type.Object({
  session_id: Type.String(),
  platform: Type.String(),
  state: Type.String(),
  method: Type.String(),
  expires_in: Type.Integer(),
  resend_in: Nullable(Type.Integer()),
  sent_via: Type.Optional(Type.String()),
  code_length: Nullable(Type.Integer()),
  password_hint: Nullable(Type.String()),
  show: Type.Optional(
    Type.Object({ form: Type.String(), value: Type.String(), expires_in: Type.Integer() }),
  ),
  attempts_left: Type.Integer(),
  reason: Type.Optional(Type.String()),
  credential: Nullable(CredentialRecord),
})

/** Nothing can be tried any more. */
const over = ['expired', 'cancelled', 'failed']

const seconds = (until: number, now: number) => Math.max(0, Math.ceil((until - now) / 1000))

export function linkRecord(
  { link, actor }: LinkFlow,
  now: number,
  credential: CredentialRecord | undefined,
) {
  const { value, context } = actor.snapshot
  const { step, reason } = context
  const state = stateOf(value)
  const isOpen = state === step?.state
  return {
    session_id: link.sessionId,
    platform: link.platform,
    state,
    method: link.method,
    expires_in: seconds(link.expiresAt, now),
    attempts_left: over.includes(state) ? 0 : context.attemptsLeft,
    resend_in: isOpen && step.resendAt !== undefined ? seconds(step.resendAt, now) : null,
    ...(isOpen && step.sentVia !== undefined && { sent_via: step.sentVia }),
    code_length: (isOpen ? step.codeLength : undefined) ?? null,
    password_hint: (isOpen ? step.passwordHint : undefined) ?? null,
    ...(isOpen &&
      step.show && {
        show: {
          form: step.show.form,
          value: step.show.value,
          expires_in: seconds(step.show.until, now),
        },
      }),
    ...(reason !== undefined && { reason }),
    credential: credential ?? null,
  }
}

/** While an answer is being checked the step that asked for it still stands. */
function stateOf(value: unknown): string {
  if (typeof value === 'string') return value
  const open = (value as { open: string }).open
  if (open === 'checking_code') return 'code_sent'
  return open === 'checking_password' ? 'password_needed' : open
}
