/** The example network as a client sees it: requests, what it tells in neutral terms, and what its failures mean. */
import type { AccountIdentity } from '../../../actors/ports/platform.ts'
import type { Message } from '../../../machines/model/content.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { NOT_STORED, NotStored } from '../../../src/platforms/kit/event-line.ts'
import {
  type HttpAnswer,
  type HttpClient,
  jsonIn,
  unansweredFailure,
} from '../../../src/platforms/kit/http-client.ts'
import type { Ending } from '../../../src/platforms/kit/session-life.ts'
import type { Restriction } from '../../../src/platforms/kit/steadily.ts'
import type { Event, Letter } from '../kit/network.ts'

export type Secrets = { readonly token: string; readonly url: string }

/** The network answered, and the answer is no. */
export class Refused extends Error {
  readonly status: number
  readonly seconds: number

  constructor({ status, headers }: HttpAnswer, description = '') {
    super(description)
    this.status = status
    this.seconds = Number(headers['retry-after'])
  }
}

/** Asks one route. Rejects with `Refused` or `Unanswered`. */
export async function ask<Answer>(
  http: HttpClient,
  route: string,
  body: object,
  signal: AbortSignal,
  milliseconds?: number,
): Promise<Answer> {
  const question = { verb: 'POST', path: route, body: JSON.stringify(body) } as const
  const answer = await http.ask(question, { signal, ...(milliseconds && { milliseconds }) })
  const value = jsonIn(answer)
  if (answer.status === 200) return value as Answer
  throw new Refused(answer, (value as { readonly error?: string }).error)
}

export async function whoAmI(http: HttpClient, signal: AbortSignal): Promise<AccountIdentity> {
  const { id, name } = await ask<Letter['from']>(http, 'me', {}, signal)
  return { native: `${id}`, firstName: name }
}

/** `self`: the account's own id. A private chat goes by the id of the other person. */
export function messageOf(letter: Letter, self: string): Message {
  const { id, from, to, at, text, replyTo, editedAt } = letter
  const other = `${from.id}` === self ? to : from
  return {
    native: `${id}`,
    chat: { native: `${other.id}`, surface: 'private', firstName: other.name },
    from: { native: `${from.id}`, firstName: from.name },
    at,
    content: { kind: 'text', text, entities: [] },
    ...(replyTo !== undefined && { replyTo: { native: `${replyTo}` } }),
    ...(editedAt !== undefined && { editedAt }),
  }
}

export function happeningOf({ kind, letter }: Event, self: string): Happening {
  const message = messageOf(letter, self)
  const { native, chat, editedAt, at = 0 } = message
  const sourceKey = `${kind}:${native}:${editedAt}:${letter.text}`
  const direction = `${letter.from.id}` === self ? 'own' : 'incoming'
  const facts = { sourceKey, direction, at: editedAt ?? at } as const
  if (kind !== 'deleted') return { ...facts, kind, message }
  return { ...facts, kind, chat: chat.native, surface: 'private', messages: [native] }
}

export function endingOf(cause: unknown): Ending | Restriction {
  if (cause instanceof NotStored) return NOT_STORED
  if (!(cause instanceof Refused)) return { kind: 'lost', reason: 'network' }
  const { status, seconds } = cause
  if (status === 401) return { kind: 'revoked', reason: 'session_revoked' }
  if (status === 403) return { kind: 'invalid', reason: 'account_banned' }
  return seconds ? { kind: 'limited', seconds } : { kind: 'lost', reason: 'bad_answer' }
}

/** For the caller of an operation. What was not answered may have been carried out. */
export function requestFailed(cause: unknown): RequestFailed {
  if (cause instanceof RequestFailed) return cause
  if (!(cause instanceof Refused)) return unansweredFailure(cause, 'Example')
  const { message, seconds } = cause
  if (seconds) return failed('rate_limited', '', { retryAfterSeconds: seconds })
  return failed('bad_request', message, {}, { cause })
}
