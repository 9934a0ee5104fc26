/** Links in one step, and the steps by which a network refuses one. */
import type { LinkAttempt, LinkStep } from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { LinkReason } from '../../../machines/model/reason.ts'

/** How long a network may take to say whether the fields of a link are right. */
const SINGLE_STEP_MS = 25_000

/** A link that is done or refused with its first step; `attempt` makes it. */
export async function linkInOneStep(
  attempt: (signal: AbortSignal) => Promise<LinkStep>,
  signal: AbortSignal,
): Promise<LinkAttempt> {
  const step = await attempt(AbortSignal.any([signal, AbortSignal.timeout(SINGLE_STEP_MS)]))
  signal.throwIfAborted()
  return { step, answer: noFurtherStep, changed: noFurtherStep, close: async () => undefined }
}

export const noFurtherStep = (): Promise<never> =>
  Promise.reject(failed('conflict', 'the link has no further step'))

/** `retryAfterSeconds`: the same fields may be taken later. */
export const refused = (
  reason: LinkReason,
  description: string,
  retryAfterSeconds?: number,
): Extract<LinkStep, { kind: 'refused' }> => ({
  kind: 'refused',
  reason,
  description,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
})
