/** What the network's error conditions mean: for a request, and for the session. */
import type { Element } from '@xmpp/client'
import { failed, type RequestFailed } from '../../../actors/errors.ts'
import { ns } from './namespaces.ts'
import { ServerUnproven } from './sasl/scram.ts'
import { EncryptionMissing, Oversized } from './transport.ts'

/** The condition of an error stanza. */
export function conditionOf(stanza: Element): string {
  const children = stanza.getChild('error')?.getChildElements() ?? []
  const condition = children.find((child) => child.getNS() === ns.stanzaErrors && !child.is('text'))
  return condition?.name ?? 'undefined-condition'
}

/** Why a message came back. */
export function bounced(condition: string): RequestFailed {
  switch (condition) {
    // A server answers `service-unavailable` for an account that it does not have.
    case 'service-unavailable':
    case 'item-not-found':
    case 'gone':
    case 'jid-malformed':
    case 'remote-server-not-found':
      return failed('bad_request', 'chat not found')
    case 'forbidden':
    case 'not-allowed':
    case 'not-authorized':
    // Said by a room to those who are not in it.
    case 'not-acceptable':
    case 'registration-required':
    case 'subscription-required':
      return failed('forbidden', 'not enough rights to send text messages to the chat')
    case 'resource-constraint':
    case 'policy-violation':
      return failed('rate_limited', '', { retryAfterSeconds: 10 })
    case 'remote-server-timeout':
    case 'recipient-unavailable':
      return failed('unavailable', 'the server of the chat cannot be reached', {
        retryAfterSeconds: 30,
      })
    default:
      return failed('bad_gateway', `the server refused the message: ${condition}`)
  }
}

/** Another client of the account goes by the name of this one. */
export class TakenOver extends Error {
  override readonly name = 'TakenOver'
}

/** What the session has to report could not be stored. */
export class NotStored extends Error {
  override readonly name = 'NotStored'
}

/** A question ended without an answer; nothing was to happen by it. */
export function unanswered(cause: unknown): RequestFailed {
  const isSlow = cause instanceof Error && /TimeoutError|AbortError/.test(cause.name)
  if (isSlow) return failed('timeout', 'the server did not answer in time', {}, { cause })
  return failed('unavailable', 'the account is reconnecting', { retryAfterSeconds: 5 }, { cause })
}

/** How a session ended, as it is reported. */
export type Ending =
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'replaced' }
  | { readonly kind: 'revoked'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly reason: string }

/** What the end of a connection means; `lost` unless the server said more. */
export function endingOf(cause: unknown): Ending {
  if (!(cause instanceof Error)) return { kind: 'lost', reason: 'network' }
  if (cause instanceof TakenOver) return { kind: 'replaced' }
  if (cause instanceof NotStored) return { kind: 'lost', reason: 'events_not_stored' }
  if (cause instanceof EncryptionMissing) return { kind: 'lost', reason: 'no_encryption' }
  if (cause instanceof Oversized) return { kind: 'lost', reason: 'oversized_stanza' }
  if (cause instanceof ServerUnproven) return { kind: 'lost', reason: 'server_unproven' }
  const condition = 'condition' in cause ? String(cause.condition) : undefined
  if (cause.name === 'SASLError') return refusedLogin(condition)
  if (cause.name === 'StreamError') return closedStream(condition, cause.message)
  const code = 'code' in cause ? String(cause.code) : ''
  return { kind: 'lost', reason: /CERT|ISSUER/.test(code) ? 'bad_certificate' : 'network' }
}

function refusedLogin(condition: string | undefined): Ending {
  if (condition === 'account-disabled') return { kind: 'invalid', reason: 'account_disabled' }
  const secretsAreStale = ['not-authorized', 'credentials-expired', 'invalid-authzid']
  if (condition && secretsAreStale.includes(condition)) {
    // The standard does not tell a changed password from a deleted account, on purpose.
    return { kind: 'revoked', reason: 'password_changed' }
  }
  return { kind: 'lost', reason: condition ?? 'login_failed' }
}

function closedStream(condition: string | undefined, text: string): Ending {
  if (condition === 'conflict') return { kind: 'replaced' }
  if (condition === 'not-authorized' && /deleted/i.test(text)) {
    return { kind: 'invalid', reason: 'account_deleted' }
  }
  if (condition === 'reset' && /password/i.test(text)) {
    return { kind: 'revoked', reason: 'password_changed' }
  }
  return { kind: 'lost', reason: condition ?? 'stream_closed' }
}
