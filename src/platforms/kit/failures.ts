/** Failures that mean the same on every network. */
import { failed, type RequestFailed } from '../../../machines/model/failure.ts'

export const sessionOver = (): RequestFailed =>
  failed('unavailable', 'the session is over', { retryAfterSeconds: 1, certain: true })

/** There is no connection now. `certain`: false where the request may have been carried out all the same. */
export const reconnecting = (
  cause: unknown,
  certainty: { readonly certain?: false } = {},
): RequestFailed =>
  failed(
    'unavailable',
    'the account is reconnecting',
    { retryAfterSeconds: 5, ...certainty },
    { cause },
  )

export const wrongFile = (cause?: unknown): RequestFailed =>
  failed('bad_request', 'wrong file identifier/HTTP URL specified', {}, { cause })

/** Whether a wait ended by its time limit or its caller, and not by an answer. */
export const isImpatience = (cause: unknown): boolean =>
  cause instanceof Error && /TimeoutError|AbortError/.test(cause.name)
