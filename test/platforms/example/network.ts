/** The example network as a client sees it: requests, what it tells in neutral terms, and what its failures mean. */
import type { AccountIdentity } from '../../../actors/ports/platform.ts'
import type { Message } from '../../../machines/model/content.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { NOT_STORED, NotStored } from '../../../src/platforms/kit/event-line.ts'
import type { Ending } from '../../../src/platforms/kit/session-life.ts'
import type { Restriction } from '../../../src/platforms/kit/steadily.ts'
import type { Event, Letter } from '../kit/network.ts'

export type Secrets = { readonly token: string; readonly url: string }

/** The network answered, and the answer is no. */
export class Refused extends Error {
  readonly status: number
  readonly seconds: number

  constructor({ status, headers }: Response, description = '') {
    super(description)
    this.status = status
    this.seconds = Number(headers.get('retry-after'))
  }
}

/** Asks one route. Rejects with `Refused`, or with what `fetch` rejects with when there is no answer. */
export async function ask<Answer>(
  { url, token }: Secrets,
  route: string,
  body: object,
  signal: AbortSignal,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}` }
  const request = { method: 'POST', headers, body: JSON.stringify(body), signal }
  const response = await fetch(`${url}/${route}`, request)
  const answer = (await response.json()) as Answer & { readonly error?: string }
  if (response.ok) return answer
  throw new Refused(response, answer.error)
}

export async function whoAmI(secrets: Secrets, signal: AbortSignal): Promise<AccountIdentity> {
  const { id, name } = await ask<Letter['from']>(secrets, 'me', {}, signal)
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
  const unanswered = 'Example did not answer; it may have been done'
  if (!(cause instanceof Refused)) return failed('timeout', unanswered, { certain: false })
  const { message, seconds } = cause
  if (seconds) return failed('rate_limited', '', { retryAfterSeconds: seconds })
  return failed('bad_request', message, {}, { cause })
}
