/** The health test of a credential: session, connection, identity, receiving, and sending on request. */
import type { CredentialActor } from '../../actors/credential/actor.ts'
import { visibleState } from '../../actors/credential/timeline.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { chatFrom } from '../bot-api/arguments.ts'
import type { CredentialRecord } from '../records/credential.ts'
import { explained } from './reasons.ts'
import { sendingRefusal } from './sending-refusal.ts'

export interface Check {
  readonly check: 'session' | 'connection' | 'identity' | 'receive' | 'send'
  /** Null: not tried. */
  readonly ok: boolean | null
  readonly latency_ms: number | null
  readonly detail: string
  /** What is wrong, for programs. */
  readonly code: string | null
  readonly remedy: string | null
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
  const { text, remedy } = explained(reason ?? null, action)
  const isOk = state === 'active' || state === 'degraded' || state === 'connecting'
  return {
    check: 'session',
    ok: isOk,
    latency_ms: null,
    detail: `The credential is ${state}${reason ? ` (${reason}): ${text}` : ''}`,
    code: isOk ? null : (reason ?? state),
    remedy: isOk ? null : remedy,
  }
}

async function checkConnection(actor: CredentialActor, session: Check): Promise<Check> {
  const check = 'connection' as const
  if (!session.ok) return skipped(check, 'There is no session to test')
  try {
    const latency = await actor.ask<number>({ type: 'credential.check' })
    const latency_ms = Math.round(latency)
    return {
      check,
      ok: true,
      latency_ms,
      detail: 'The platform answered a round trip',
      code: null,
      remedy: null,
    }
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) throw cause
    const { remedy } = explained(null, 'wait')
    const [, { state }] = visibleState(actor.snapshot)
    const code = actor.snapshot.context.reason ?? (state === 'active' ? 'no_traffic' : state)
    return { check, ok: false, latency_ms: null, detail: cause.message, code, remedy }
  }
}

function checkIdentity(record: CredentialRecord, session: Check): Check {
  const { first_name, username } = record.account
  const name = username ? `${first_name} (@${username})` : first_name
  if (!session.ok) return skipped('identity', 'There is no session to ask')
  return {
    check: 'identity',
    ok: true,
    latency_ms: null,
    detail: `Signed in as ${name}`,
    code: null,
    remedy: null,
  }
}

function checkReceiving({ health }: CredentialRecord, connection: Check): Check {
  const last = health.last_event_at
  const detail = last ? `The last event came at ${last}` : 'No event has come yet'
  if (!connection.ok) {
    return {
      check: 'receive',
      ok: connection.ok,
      latency_ms: null,
      detail: `Nothing can arrive without a working connection. ${detail}`,
      code: connection.code,
      remedy: connection.remedy,
    }
  }
  return { check: 'receive', ok: true, latency_ms: null, detail, code: null, remedy: null }
}

async function checkSending(
  actor: CredentialActor,
  sendTo: string | undefined,
  now: () => number,
): Promise<Check> {
  const check = 'send' as const
  if (sendTo === undefined) return skipped(check, 'Not tried: give send_to to send a message')
  const began = performance.now()
  try {
    const content = { kind: 'text' as const, text: 'Test message of Chapar', entities: [] }
    const operation = { kind: 'send' as const, chat: chatFrom(sendTo), content }
    await actor.ask({ type: 'operation.perform', operation, now: now() })
    const latency_ms = Math.round(performance.now() - began)
    const detail = `A message was sent to ${sendTo}`
    return { check, ok: true, latency_ms, detail, code: null, remedy: null }
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) throw cause
    return { check, ok: false, latency_ms: null, ...sendingRefusal(cause.failure) }
  }
}

const skipped = (check: Check['check'], detail: string): Check => ({
  check,
  ok: null,
  latency_ms: null,
  detail,
  code: null,
  remedy: null,
})
