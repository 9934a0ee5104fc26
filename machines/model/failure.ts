/** Failures on their way through code that throws; between actors they are data. */

import type { Explanation, Failure, FailureCode, Outcome } from './protocol.ts'
import type { FailureReason, LinkReason } from './reason.ts'

/** A request ended without a result. `failure` is safe to show to the caller, `cause` is not. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'
  readonly failure: Failure

  constructor(failure: Failure, options?: ErrorOptions) {
    super(failure.description, options)
    this.failure = failure
  }
}

/** Shorthand for the common refusal: a code, a text, and perhaps when to come back. */
export function failed(
  code: FailureCode,
  description = '',
  more: Omit<Failure, 'code' | 'description'> = {},
  options?: ErrorOptions,
): RequestFailed {
  return new RequestFailed({ code, description, ...more }, options)
}

export const badRequest = (description: string): RequestFailed => failed('bad_request', description)

/** Refuses one field; `problem` goes on from its name: `must not be empty`. */
export const invalidField = (name: string, problem: string, why: Explanation = {}): RequestFailed =>
  failed('bad_request', `field "${name}" ${problem}`, { field: { name, problem }, ...why })

export const missingField = (name: string): RequestFailed =>
  invalidField(name, 'is required', { reason: 'required', params: { name } })

/** Things that a request names and that do not exist, in the reference's words, with the reason of the refusal. */
const MISSING = {
  'business connection': 'business_connection_not_found',
  chat: 'chat_not_found',
  checklist: 'checklist_not_found',
  'direct messages topic': 'topic_not_found',
  member: 'member_not_found',
  'message thread': 'topic_not_found',
  story: 'story_not_found',
  task: 'task_not_found',
  user: 'user_not_found',
} as const satisfies Readonly<Record<string, FailureReason>>

export const notFound = (what: keyof typeof MISSING, options?: ErrorOptions): RequestFailed =>
  failed('bad_request', `${what} not found`, { reason: MISSING[what] }, options)

/** `purpose` names the message in the reference's sentence: `message to edit`. */
export const messageNotFound = (purpose: string): RequestFailed =>
  failed('bad_request', `${purpose} not found`, { reason: 'message_not_found' })

/** The message exists, but the request cannot be carried out on it: `message can't be deleted`. */
export const messageNotAllowed = (description: string): RequestFailed =>
  failed('bad_request', description, { reason: 'message_not_allowed' })

export const messageTooLong = (description = 'message is too long'): RequestFailed =>
  failed('bad_request', description, { reason: 'message_too_long' })

/** Turns an effect into data: an error of any kind becomes an outcome for the machine. */
export async function settle<Result>(
  effect: () => Promise<Result>,
  onDefect: (cause: unknown) => void,
): Promise<Outcome<Result>> {
  try {
    return { ok: true, result: await effect() }
  } catch (cause) {
    if (cause instanceof RequestFailed) return { ok: false, failure: cause.failure }
    onDefect(cause)
    return { ok: false, failure: { code: 'internal', description: '' } }
  }
}

/** Whether the failure may be over in a moment. */
export const isTransient = (cause: unknown): cause is RequestFailed =>
  cause instanceof RequestFailed && cause.failure.code === 'unavailable'

/** Asks the database after something was done: a failure of the asking does not say that nothing was done. */
export async function readBack<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading
  } catch (cause) {
    if (!isTransient(cause)) throw cause
    throw new RequestFailed({ ...cause.failure, certain: false }, { cause })
  }
}

/** The network accepted the link, the service does not: the flow is over. */
export class LinkRefused extends RequestFailed {
  readonly reason: LinkReason

  constructor(reason: LinkReason, description: string) {
    super({ code: 'bad_request', description, reason })
    this.reason = reason
  }
}

/** Recognized by identity, not by its text: code that gets it may look for the next owner. */
const ownershipLost: Failure = Object.freeze({
  code: 'unavailable',
  description: 'another node owns the credential',
  retryAfterSeconds: 1,
})

/** Another node has claimed the credential: nothing is written, sent or acknowledged for it here any more. */
export class OwnershipLost extends RequestFailed {
  constructor() {
    super(ownershipLost)
  }
}

/** A failure that was data between actors, as the error that it was before. */
export const thrownAs = (failure: Failure): RequestFailed =>
  failure === ownershipLost ? new OwnershipLost() : new RequestFailed(failure)

/** The stored secrets of an account cannot be decrypted: linking again helps, waiting does not. */
export class SecretsUnreadable extends Error {
  override readonly name = 'SecretsUnreadable'

  constructor(options?: ErrorOptions) {
    super('the secrets of the account cannot be read', options)
  }
}

/** The events themselves are at fault: no further try would store them. */
export class EventsUnstorable extends Error {
  override readonly name = 'EventsUnstorable'

  constructor(options?: ErrorOptions) {
    super('the events cannot be stored', options)
  }
}
