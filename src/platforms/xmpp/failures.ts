/** The meanings of error conditions for a request, and the errors of our own that end a session. */
import type { Element } from '@xmpp/client'
import { failed, notFound, RequestFailed } from '../../../machines/model/failure.ts'
import { isImpatience, reconnecting } from '../kit/failures.ts'
import { ns } from './namespaces.ts'

/** The condition of an error stanza. */
export function conditionOf(stanza: Element): string {
  const children = stanza.getChild('error')?.getChildElements() ?? []
  const condition = children.find((child) => child.getNS() === ns.stanzaErrors && !child.is('text'))
  return condition?.getName() ?? 'undefined-condition'
}

/** The conditions by which a server says that it cannot reach another one now: its name may not resolve for a moment. */
export const unreachable: ReadonlySet<string> = new Set([
  'remote-server-not-found',
  'remote-server-timeout',
])

export const serverAway = (cause?: unknown): RequestFailed =>
  failed(
    'unavailable',
    'the server of the chat cannot be reached',
    { retryAfterSeconds: 30 },
    { cause },
  )

/** A room, or the server of a chat, refused what it was sent. */
export class Refused extends Error {
  readonly condition: string

  constructor(condition: string) {
    super(`The answer was ${condition}`)
    this.condition = condition
  }
}

/** The failure for a message that bounced. */
export function bounced(condition: string): RequestFailed {
  if (unreachable.has(condition)) return serverAway()
  switch (condition) {
    // A server answers `service-unavailable` for an account that it does not have.
    case 'service-unavailable':
    case 'item-not-found':
    case 'gone':
    case 'jid-malformed':
      return notFound('chat')
    case 'forbidden':
    case 'not-allowed':
    case 'not-authorized':
    // A room answers this to people who are not in it.
    case 'not-acceptable':
    case 'registration-required':
    case 'subscription-required':
      return failed(
        'bad_request',
        'not enough rights to send text messages to the chat',
        {},
        { cause: new Refused(condition) },
      )
    case 'resource-constraint':
    case 'policy-violation':
      return failed('rate_limited', '', { retryAfterSeconds: 10 })
    case 'recipient-unavailable':
      return serverAway()
    default:
      return failed('bad_gateway', `the server refused the message: ${condition}`)
  }
}

export const noHistory = (cause?: unknown): RequestFailed =>
  failed('bad_request', 'the server keeps no history of the chat', {}, { cause })

/** Another client of the account uses the resource of this one. */
export class TakenOver extends Error {
  override readonly name = 'TakenOver'
}

/** The stored data of the account could not be read or written. */
export class StorageAway extends Error {
  override readonly name = 'StorageAway'
}

/** A write that was begun and failed: a part of what was written may have arrived. */
export class BrokenWrite extends Error {
  override readonly name = 'BrokenWrite'
}

/** The failure for a request without an answer that would have changed nothing. */
export function unanswered(cause: unknown): RequestFailed {
  if (!isImpatience(cause)) return reconnecting(cause)
  return failed(
    'timeout',
    'the server did not answer in time',
    { reason: 'server_silent' },
    { cause },
  )
}

/** The failure of an operation that is done in part, or may be done. */
export function doneInPart(cause: unknown): RequestFailed {
  const { failure } = cause instanceof RequestFailed ? cause : unanswered(cause)
  return new RequestFailed({ ...failure, certain: false }, { cause })
}

/** Nobody can say whether a message has arrived. */
export function unknownOutcome(code: 'timeout' | 'unavailable', cause?: unknown): RequestFailed {
  const description = 'the server did not confirm the message; the message may have been sent'
  return failed(code, description, { certain: false }, { cause })
}
