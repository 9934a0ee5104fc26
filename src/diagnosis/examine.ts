/** The five steps of a diagnosis; the first three are here: the key, the account behind it, and a test message. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import { hasScope, keyStanding } from '../../machines/api-key/events.ts'
import type { Finding, Step } from '../../machines/diagnosis/events.ts'
import type { Sentence } from '../../machines/diagnosis/facts.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { chatFrom } from '../bot-api/arguments.ts'
import { sendingRefusal, troubleOf } from '../credentials/reasons.ts'
import type { ApiKeyRecord } from '../records/api-key.ts'
import type { CredentialRecord } from '../records/credential.ts'
import { restrictionOf } from '../security/addresses.ts'
import { checkReceiveMode, checkWebhook } from './receiving.ts'
import {
  type ExaminerWorld,
  failing,
  hasFailed,
  passed,
  type Refusal,
  say,
  skipped,
} from './world.ts'

/** Step 1: whether the key opens anything, and for which missing scope calls were refused. */
async function checkKey(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId: key, credentialId, opens } }: Examination,
): Promise<Finding> {
  const record = await world.key(userId, key)
  const { revoked_at, expires_at, scopes } = record
  const standing = keyStanding(record, world.now())
  if (standing === 'revoked') {
    return failing(
      'get_me',
      'key_revoked',
      [say('key_revoked', { at: `${revoked_at}` })],
      say('make_key'),
    )
  }
  if (standing === 'expired') {
    const seen = say('key_expired', { at: `${expires_at}` })
    return failing('get_me', 'key_expired', [seen], say('extend_key', { key }))
  }
  if (opens === false) {
    return failing('get_me', 'wrong_secret', [say('secret_wrong')], say('use_shown_key', { key }))
  }
  const why = world.suspendedWhy(userId)
  if (why !== undefined) {
    const seen = say('user_suspended', { why })
    return failing('get_me', 'user_suspended', [seen], say('end_suspension'))
  }
  const me = (await world.profile(credentialId)) as { readonly username: string }
  const evidence = [
    say('answers_as', { username: me.username }),
    ...(opens ? [say('secret_right')] : []),
    say('scopes', { scopes: scopes.join(', ') }),
  ]
  const refusals = await world.refusals(key)
  const address = lockedOut(refusals, record)
  if (address !== undefined) {
    const seen = [...evidence, say('calls_refused_from', { address })]
    const remedy = say('allow_address', { address, key })
    const code = 'address_not_allowed'
    // Whoever polls now is let in: it was somebody else. A bot that gets its updates by a webhook may be the one, or not.
    return world.isPolled(key) || record.webhook?.state === 'delivering'
      ? passed('get_me', seen, { code, remedy })
      : failing('get_me', code, seen, remedy)
  }
  const scope = missingScope(refusals, scopes)
  if (scope === undefined) return pacing(evidence, await world.paced(key))
  const seen = [...evidence, say('calls_refused', { scope })]
  return failing('get_me', 'missing_scope', seen, say('add_scope_or_use_other', { scope, key }))
}

/** Whoever waits as told is told so now and then: to set a webhook twice in a second is enough. */
const PACED = 3

function pacing(evidence: readonly Sentence[], count: number): Finding {
  if (count === 0) return passed('get_me', evidence)
  const seen = [...evidence, say('calls_paced', { count })]
  const remark = { code: 'calls_too_fast', remedy: say('heed_retry_after') } as const
  return passed('get_me', seen, count < PACED ? undefined : remark)
}

/** An address that calls were refused at, and that the key still does not open for. */
function lockedOut(refusals: readonly Refusal[], { allowed_ips }: ApiKeyRecord) {
  const opensFrom = restrictionOf(allowed_ips)
  if (!opensFrom) return undefined
  return refusals.find(
    ({ reason, address }) => reason === 'address_not_allowed' && !opensFrom(address),
  )?.address
}

/** A scope that calls were refused for, and that the key still lacks. */
const missingScope = (refusals: readonly Refusal[], scopes: readonly string[]) =>
  refusals.find(({ scope }) => scope !== null && !scopes.includes(scope))?.scope ?? undefined

/** Step 2: the account as its record shows it, and a round trip over its connection. */
async function checkCredential(
  world: ExaminerWorld,
  { facts: { userId, credentialId }, signal }: Examination,
): Promise<Finding> {
  const record = await recordOf(world, userId, credentialId)
  if (!record) {
    return failing(
      'credential',
      'credential_deleted',
      [say('credential_deleted')],
      say('link_and_make_key'),
    )
  }
  const { state, reason, action, health } = record
  const shown = reason === null ? say('state', { state }) : say('state_reason', { state, reason })
  if (state !== 'active') {
    const text = reason === null ? say('connecting') : say('explained', { reason })
    return failing('credential', troubleOf(reason, state), [shown, text], remedyOf(reason, action))
  }
  const evidence = [
    shown,
    health.last_event_at === null
      ? say('no_event')
      : say('last_event', { at: health.last_event_at }),
  ]
  const latency = await roundTrip(world, credentialId, signal)
  if (latency === undefined) {
    const reason = 'no_traffic'
    const seen = [...evidence, say('explained', { reason }), say('no_round_trip')]
    return failing('credential', reason, seen, remedyOf(reason, 'wait'))
  }
  const took = say('round_trip', { count: latency })
  const odd = irregular(world, credentialId)
  return passed(
    'credential',
    // What the remark speaks of comes last: it is told as the cause.
    latency > world.slowAfterMs ? [...evidence, ...odd, took] : [...evidence, took, ...odd],
    remarkable(world, credentialId, latency),
  )
}

const remedyOf = (reason: string | null, action: string): Sentence =>
  reason === null ? say('action', { action }) : say('explained_remedy', { reason, action })

const recordOf = (world: ExaminerWorld, userId: number, credentialId: number) =>
  world.credential(userId, credentialId).catch((cause): CredentialRecord | undefined => {
    if (cause instanceof RequestFailed && cause.failure.code === 'not_found') return undefined
    throw cause
  })

/** In milliseconds; undefined when nothing came back. */
async function roundTrip(
  world: ExaminerWorld,
  credentialId: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const actor = await world.actor(credentialId)
  try {
    return Math.round(await actor.ask<number>({ type: 'credential.check' }, signal))
  } catch (cause) {
    if (cause instanceof RequestFailed) return undefined
    throw cause
  }
}

function irregular({ irregularities }: ExaminerWorld, credentialId: number): Sentence[] {
  const { repeated, disordered } = irregularities.of(credentialId)
  return [
    ...(disordered > 0 ? [say('events_disordered', { count: disordered })] : []),
    ...(repeated > 0 ? [say('events_repeated', { count: repeated })] : []),
  ]
}

function remarkable(world: ExaminerWorld, credentialId: number, latency: number) {
  const { repeated, disordered } = world.irregularities.of(credentialId)
  if (latency > world.slowAfterMs) {
    return { code: 'slow', remedy: say('expect_slowness') } as const
  }
  const remedy = say('nothing_to_do')
  if (repeated > 0) return { code: 'events_repeated', remedy } as const
  return disordered > 0 ? ({ code: 'events_disordered', remedy } as const) : undefined
}

const content = { kind: 'text' as const, text: 'Test message of Chapar', entities: [] }

/** Step 3: a test message, if a target is given. */
async function checkSending(
  world: ExaminerWorld,
  { facts, sendTo, earlier, signal }: Examination,
): Promise<Finding> {
  const { userId, apiKeyId, credentialId } = facts
  if (sendTo === undefined) {
    return skipped('send', say('no_target'), say('give_target'))
  }
  if (hasFailed(earlier, 'credential')) {
    return skipped('send', say('account_out'))
  }
  const scope = 'bot:send'
  if (!hasScope(await world.key(userId, apiKeyId), scope)) {
    const remedy = say('add_scope', { scope, key: apiKeyId })
    return failing('send', 'missing_scope', [say('scope_missing', { scope })], remedy)
  }
  try {
    const operation = { kind: 'send' as const, chat: chatFrom(sendTo), content }
    const actor = await world.actor(credentialId)
    const now = world.now()
    await actor.ask({ type: 'operation.perform', operation, apiKeyId, now }, signal)
    return passed('send', [say('message_sent', { to: sendTo })])
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) throw cause
    return refusedBy(cause.failure, sendTo)
  }
}

function refusedBy(failure: Failure, to: string): Finding {
  const { code, seen, remedy } = sendingRefusal(failure)
  if (code === 'outcome_unknown') {
    const words = failure.description ? [seen] : []
    return failing('send', code, [...words, say('message_unconfirmed', { to })], remedy)
  }
  if (seen.code === 'refusal') {
    return failing('send', code, [say('message_refused', { to, ...seen.params })], remedy)
  }
  return failing('send', code, [seen], remedy)
}

type Check = (world: ExaminerWorld, examination: Examination) => Promise<Finding>

const checks: Readonly<Record<Step, Check>> = {
  get_me: checkKey,
  credential: checkCredential,
  send: checkSending,
  receive_mode: checkReceiveMode,
  webhook_info: checkWebhook,
}

/** Takes any step with what it may look at. */
export const examiner = (world: ExaminerWorld) => (step: Step, examination: Examination) =>
  checks[step](world, examination)
