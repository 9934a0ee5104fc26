/** The health test of a credential: session, connection, identity, receiving, and sending on request. */
import type { CredentialActor } from '../../actors/credential/actor.ts'
import { visibleState } from '../../actors/credential/timeline.ts'
import type { FindingCode, Sentence } from '../../machines/diagnosis/facts.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { chatFrom } from '../bot-api/arguments.ts'
import type { CredentialRecord } from '../records/credential.ts'
import { refusalOf, sendingRefusal, troubleOf } from './reasons.ts'

export interface Check {
  readonly check: 'session' | 'connection' | 'identity' | 'receive' | 'send'
  /** Null: not tried. */
  readonly ok: boolean | null
  readonly latencyMs: number | null
  readonly seen: Sentence
  /** The fault as a code for programs. */
  readonly code: FindingCode | null
  readonly remedy: Sentence | null
}

export async function testCredential(
  actor: CredentialActor,
  record: CredentialRecord,
  { sendTo, now }: { readonly sendTo: string | undefined; now(): number },
) {
  const session = checkSession(actor)
  const connection = await checkConnection(actor, session)
  const [, { state }] = visibleState(actor.snapshot)
  const checks: Check[] = [
    session,
    connection,
    checkIdentity(record, session),
    checkReceiving(record, connection),
    await checkSending(actor, sendTo, now),
  ]
  return {
    healthy: checks.every((check) => check.ok !== false),
    state,
    checked_at: new Date(now()).toISOString(),
    checks,
  }
}

function checkSession(actor: CredentialActor): Check {
  const [, { state, action }] = visibleState(actor.snapshot)
  const { reason } = actor.snapshot.context
  const seen: Sentence = reason
    ? { code: 'state_explained', params: { state, reason } }
    : { code: 'state', params: { state } }
  const isOk = state === 'active' || state === 'degraded' || state === 'connecting'
  if (isOk) return passed('session', seen)
  const remedy: Sentence = reason
    ? { code: 'explained_remedy', params: { reason, action } }
    : { code: 'action', params: { action } }
  const code = troubleOf(reason ?? null, state)
  return { check: 'session', ok: false, latencyMs: null, seen, code, remedy }
}

async function checkConnection(actor: CredentialActor, session: Check): Promise<Check> {
  const check = 'connection'
  if (!session.ok) return skipped(check, { code: 'no_session_to_test', params: {} })
  try {
    const latency = await actor.ask<number>({ type: 'credential.check' })
    return passed(check, { code: 'answered', params: {} }, Math.round(latency))
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) throw cause
    const [, { state }] = visibleState(actor.snapshot)
    const reason = actor.snapshot.context.reason ?? (state === 'active' ? 'no_traffic' : null)
    return {
      check,
      ok: false,
      latencyMs: null,
      seen: refusalOf(cause.failure, ''),
      code: troubleOf(reason, state),
      remedy: { code: 'action', params: { action: 'wait' } },
    }
  }
}

function checkIdentity(record: CredentialRecord, session: Check): Check {
  const { first_name, username } = record.account
  const name = username ? `${first_name} (@${username})` : first_name
  if (!session.ok) return skipped('identity', { code: 'no_session_to_ask', params: {} })
  return passed('identity', { code: 'signed_in', params: { name } })
}

function checkReceiving({ health }: CredentialRecord, connection: Check): Check {
  const check = 'receive'
  const at = health.last_event_at
  if (connection.ok) {
    return passed(
      check,
      at ? { code: 'last_event', params: { at } } : { code: 'no_event', params: {} },
    )
  }
  const { ok, code, remedy } = connection
  const seen: Sentence = at
    ? { code: 'nothing_arrives_since', params: { at } }
    : { code: 'nothing_arrives', params: {} }
  return { check, ok, latencyMs: null, seen, code, remedy }
}

async function checkSending(
  actor: CredentialActor,
  sendTo: string | undefined,
  now: () => number,
): Promise<Check> {
  const check = 'send'
  if (sendTo === undefined) return skipped(check, { code: 'not_tried', params: {} })
  const began = performance.now()
  try {
    const content = { kind: 'text' as const, text: 'Test message of Chapar', entities: [] }
    const operation = { kind: 'send' as const, chat: chatFrom(sendTo), content }
    await actor.ask({ type: 'operation.perform', operation, now: now() })
    const latency = Math.round(performance.now() - began)
    return passed(check, { code: 'message_sent', params: { to: sendTo } }, latency)
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) throw cause
    return { check, ok: false, latencyMs: null, ...sendingRefusal(cause.failure) }
  }
}

const passed = (check: Check['check'], seen: Sentence, latencyMs: number | null = null): Check => ({
  check,
  ok: true,
  latencyMs,
  seen,
  code: null,
  remedy: null,
})

const skipped = (check: Check['check'], seen: Sentence): Check => ({
  check,
  ok: null,
  latencyMs: null,
  seen,
  code: null,
  remedy: null,
})
