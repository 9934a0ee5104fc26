/** The channels of alerts: a signed webhook, a chat through one of the user's keys, and e-mail. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { Arguments } from '../bot-api/arguments.ts'
import { type CallExecution, execute, isPassedOn, preparePass } from '../bot-api/execute.ts'
import type { MailSettings } from '../config/sender.ts'
import { PermanentFailure } from '../jobs/jobs.ts'
import { beginningOf, openUrl, UrlRefused } from '../net/fetch.ts'
import type { GuardedAgent } from '../net/guard.ts'
import type { Mailer } from '../net/mail.ts'
import { withoutControl } from '../security/redact.ts'
import { failureText } from '../webhooks/exchange.ts'
import { signatures, signingKeys } from '../webhooks/secrets.ts'
import type { Channel, Due, FailedAttempt, Loss } from './outbox.ts'
import type { Targets } from './settings.ts'
import { bodyOf, wordsOf } from './words.ts'

/** A failed attempt, with the fields that are stored. */
export class NotTold extends Error {
  override readonly name = 'NotTold'
  readonly failure: FailedAttempt

  constructor(
    code: Loss,
    detail: string | null,
    isFinal: boolean,
    { isOpen = false, ...options }: ErrorOptions & Pick<FailedAttempt, 'isOpen'> = {},
  ) {
    super(code, options)
    // Another server may have chosen its words, and the database refuses NUL.
    const shown = detail === null ? null : withoutControl(detail)
    this.failure = { code, detail: shown, isFinal, isOpen }
  }
}

export interface ChannelParts {
  /** Guarded like that of any webhook. */
  readonly agent: GuardedAgent
  readonly timeoutMs: number
  /** Where the panel shows incidents. */
  readonly page: string
  readonly keys: { find(apiKeyId: number): Promise<ApiKeyActor> }
  readonly execution: CallExecution
  /** Undefined where this service sends no mail. */
  readonly mail: (MailSettings & { readonly mailer: Mailer }) | undefined
  now(): number
}

type Tell = (due: Due, targets: Targets, parts: ChannelParts, signal: AbortSignal) => Promise<void>

/** Only the status of the answer matters, so this much of its body is read. */
const READ_BYTES = 1_024

/** `page` is the panel's page of alerts; the page of nodes has a sibling path. */
const pageOf = ({ rule }: Due, page: string) =>
  rule === 'node_lost' ? new URL('nodes', page).href : page

const webhook: Tell = async (due, { webhook: target }, { agent, timeoutMs, page, now }, signal) => {
  if (!target) throw new NotTold('not_set', null, true)
  const body = bodyOf(due, pageOf(due, page))
  // The same at every attempt, so that the receiver recognizes repetitions.
  const id = `alert-${due.id}`
  const timestamp = Math.floor(now() / 1_000)
  const url = new URL(target.url)
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signatures({ id, timestamp, body }, signingKeys(target.signing), now()),
  }
  const asked = { agent, method: 'POST', headers, body, totalMs: timeoutMs, signal } as const
  const { status, body: rest } = await openUrl(url, asked).catch((cause) => {
    if (cause instanceof UrlRefused) throw new NotTold('webhook_failed', cause.reason, true)
    const detail = isTimeout(cause) ? 'Read timeout expired' : failureText(cause)
    throw new NotTold('webhook_failed', detail, false, { cause })
  })
  await beginningOf(rest, { bytes: READ_BYTES })
  if (status >= 200 && status < 300) return
  const detail = `Wrong response from the webhook: ${status}`
  throw new NotTold('webhook_failed', detail, false)
}

const isTimeout = (cause: unknown) => cause instanceof Error && cause.name === 'TimeoutError'

const CHAT_MS = 30_000
/** For so long, and no less, a network that can tell is asked what became of a message. */
const RESOLVED_MS = 3_600_000

const chat: Tell = async (due, { chat: target }, parts, signal) => {
  if (!target) throw new NotTold('not_set', null, true)
  const { keys, execution, page, now } = parts
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CHAT_MS)])
  let isTold = false
  try {
    const key = await keys.find(target.apiKeyId)
    const platform = await execution.credentials.platformOf(key.facts.credentialId)
    isTold = platform.sends !== 'blind' && now() - due.created_at.getTime() < RESOLVED_MS
    const text = `${wordsOf(due).text}\n${pageOf(due, page)}`
    await send(key, platform, { chat_id: target.chatId, text }, due, execution, limit)
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) throw cause
    const { code, description, certain } = cause.failure
    if (code === 'unauthorized') throw new NotTold('key_gone', description, true, { cause })
    const isOpen = certain === false
    // These failures would be the same at the next attempt. Nobody gets a message twice that may have arrived.
    const isFinal = ['bad_request', 'forbidden', 'not_found'].includes(code) || (isOpen && !isTold)
    throw new NotTold('chat_failed', description || code, isFinal, { cause, isOpen })
  }
}

/** Sends by an ordinary call of the key, which obeys its scope and its rate limits. */
async function send(
  key: ApiKeyActor,
  platform: Platform,
  message: { readonly chat_id: string; readonly text: string },
  due: Due,
  execution: CallExecution,
  signal: AbortSignal,
): Promise<void> {
  const method = 'sendMessage'
  const traceId = `alert-${due.id}`
  // A call that failed for certain is over: its stored answer would be repeated.
  const idempotencyKey = `${traceId}-${due.call}`
  const args = Arguments.from(message)
  const about = { key, method, traceId, idempotencyKey, leaving: () => signal }
  if (!isPassedOn(platform, method)) {
    await execute({ ...about, args, uploads: new Map(), signal: () => signal }, execution)
    return
  }
  const bytes = Buffer.from(JSON.stringify(message))
  const body = { type: 'application/json', bytes, length: bytes.length }
  const parameter = (name: string) => args.text(name)
  const pass = await preparePass({ ...about, verb: 'POST', query: '', body, parameter }, execution)
  await pass()
}

const email: Tell = async (due, { email: to }, { mail, page }, signal) => {
  if (to === undefined) throw new NotTold('not_set', null, true)
  if (!mail) throw new NotTold('mail_not_set_up', null, true)
  const { subject, text } = wordsOf(due)
  const id = `alert-${due.id}-${due.created_at.getTime()}`
  const sent = { id, from: mail.from, to, subject, text: `${text}\n\n${pageOf(due, page)}\n` }
  await mail.mailer.send(sent, signal).catch((cause) => {
    const isFinal = cause instanceof PermanentFailure
    throw new NotTold('mail_failed', cause instanceof Error ? cause.message : null, isFinal, {
      cause,
    })
  })
}

export const tellBy: Readonly<Record<Channel, Tell>> = { webhook, chat, email }
