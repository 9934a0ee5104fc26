/** Step 2: the account behind the key, as its record shows it, and a round trip over its connection. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import type { Sentence } from '../../machines/diagnosis/facts.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { troubleOf } from '../credentials/reasons.ts'
import type { CredentialRecord } from '../records/credential.ts'
import { failing, passed, say } from './finding.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'credential'

export async function checkCredential(
  world: ExaminerWorld,
  { facts: { userId, credentialId }, signal }: Examination,
): Promise<Finding> {
  const record = await recordOf(world, userId, credentialId)
  if (!record) {
    return failing(
      step,
      'credential_deleted',
      [say('credential_deleted')],
      say('link_and_make_key'),
    )
  }
  const { state, reason, action, health } = record
  const shown = reason === null ? say('state', { state }) : say('state_reason', { state, reason })
  if (state !== 'active') {
    const text = reason === null ? say('connecting') : say('explained', { reason })
    return failing(step, troubleOf(reason, state), [shown, text], remedyOf(reason, action))
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
    return failing(step, reason, seen, remedyOf(reason, 'wait'))
  }
  return passed(
    step,
    [...evidence, say('round_trip', { count: latency }), ...irregular(world, credentialId)],
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
    ...(repeated > 0 ? [say('events_repeated', { count: repeated })] : []),
    ...(disordered > 0 ? [say('events_disordered', { count: disordered })] : []),
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
