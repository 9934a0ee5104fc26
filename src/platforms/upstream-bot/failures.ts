/** Failures of the other server, and their meaning for a request and for the session. */

import { failed, type RequestFailed } from '../../../machines/model/failure.ts'
import { Unanswered, unansweredFailure } from '../kit/http-client.ts'
import type { Ending } from '../kit/session-life.ts'
import type { Restriction } from '../kit/steadily.ts'

/** The server refused the request. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: number
  /** The answer says the code itself, as each one of a bot API does; else it is the status. */
  readonly isStated: boolean
  readonly description: string
  readonly retryAfterSeconds: number | undefined
  readonly migrateToChatId: number | undefined

  constructor(
    refusal: Pick<
      Refused,
      'code' | 'isStated' | 'description' | 'retryAfterSeconds' | 'migrateToChatId'
    >,
  ) {
    super(`${refusal.code} ${refusal.description}`)
    this.code = refusal.code
    this.isStated = refusal.isStated
    this.description = refusal.description
    this.retryAfterSeconds = refusal.retryAfterSeconds
    this.migrateToChatId = refusal.migrateToChatId
  }
}

/** The failure for the caller of the operation. */
export function requestFailed(cause: unknown, network: string): RequestFailed {
  if (cause instanceof Refused) return passedOn(cause, network)
  return unansweredFailure(cause, network)
}

/** The description of the network without its prefix, because the answer gets the prefix of its status again. */
export function passedOn(cause: Refused, network: string): RequestFailed {
  const { code, retryAfterSeconds, migrateToChatId } = cause
  const description = cause.description.replace(
    /^(Bad Request|Forbidden|Conflict|Not Found|Bad Gateway|Internal Server Error|Service Unavailable|Gateway Timeout): /,
    '',
  )
  const later = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  const options = { cause }
  switch (code) {
    case 401:
      return failed(
        'forbidden',
        'the credential is logged out; link it again',
        { reason: 'logged_out' },
        options,
      )
    case 403:
      return failed('forbidden', description, {}, options)
    case 404:
      return failed('bad_request', `the method is not supported on ${network}`, {}, options)
    case 409:
      return failed('conflict', description, {}, options)
    case 429:
      return failed('rate_limited', '', { retryAfterSeconds: retryAfterSeconds ?? 1 }, options)
    case 503:
      return failed('unavailable', description, { retryAfterSeconds: 5, ...later }, options)
    case 504:
      return failed('timeout', description, { certain: false }, options)
    default:
      if (code >= 500) return failed('bad_gateway', description, { certain: false }, options)
      return failed(
        'bad_request',
        description,
        migrateToChatId === undefined ? {} : { migrateToChatId },
        options,
      )
  }
}

const WEBHOOK_SECONDS = 60

/** Whether the session ends, and how, or only has to wait. */
export function endingOf(cause: unknown): Ending | Restriction {
  if (!(cause instanceof Refused)) {
    const isGarbage = !(cause instanceof Unanswered) || cause.how === 'garbage'
    return { kind: 'lost', reason: isGarbage ? 'bad_answer' : 'network' }
  }
  const { code, isStated, retryAfterSeconds } = cause
  // A gateway before the server refuses in JSON, too, and its refusals pass.
  if (!isStated && [401, 403, 404].includes(code)) return { kind: 'lost', reason: 'bad_answer' }
  switch (code) {
    case 401:
    // The answer for tokens that never existed.
    case 404:
      return { kind: 'revoked', reason: 'session_revoked' }
    case 403:
      return { kind: 'invalid', reason: 'account_banned' }
    case 409:
      // Another poller took the updates, or they go to a webhook: that one may be deleted at any time.
      return /webhook/i.test(cause.description)
        ? { kind: 'lost', reason: 'webhook_set', retryAfterSeconds: WEBHOOK_SECONDS }
        : { kind: 'replaced' }
    case 429:
      return { kind: 'limited', seconds: retryAfterSeconds ?? 1 }
    default:
      return {
        kind: 'lost',
        reason: 'bad_answer',
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      }
  }
}
