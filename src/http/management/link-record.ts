/** A link session as the management API shows it. */
import type { LinkFlow } from '../../links/flows.ts'
import type { CredentialRecord } from '../../records/credential.ts'

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
    ...(isOpen &&
      step.way && { sent_via_code: { code: step.way.code, params: { ...step.way.params } } }),
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
