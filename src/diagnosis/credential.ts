/** Step 2: the account behind the key, as its record shows it, and a round trip over its connection. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { explained } from '../credentials/reasons.ts'
import type { CredentialRecord } from '../records/credential.ts'
import { failing, passed } from './finding.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'credential'

export async function checkCredential(
  world: ExaminerWorld,
  { facts: { userId, credentialId }, signal }: Examination,
): Promise<Finding> {
  const record = await recordOf(world, userId, credentialId)
  if (!record) {
    const remedy = 'Link the account again and make a key for it'
    return failing(step, 'credential_deleted', ['The credential was deleted'], remedy)
  }
  const { state, reason, action, health } = record
  const shown = `The credential is ${state}${reason === null ? '' : ` (${reason})`}`
  if (state !== 'active') {
    const { text, remedy } = explained(reason, action)
    return failing(step, reason ?? state, [shown, text], remedy)
  }
  const evidence = [
    shown,
    health.last_event_at === null
      ? 'No event has come yet'
      : `The last event came at ${health.last_event_at}`,
  ]
  const latency = await roundTrip(world, credentialId, signal)
  if (latency === undefined) {
    const { text, remedy } = explained('no_traffic', 'wait')
    return failing(step, 'no_traffic', [...evidence, text, 'A round trip was not answered'], remedy)
  }
  return passed(
    step,
    [...evidence, `A round trip took ${latency} ms`, ...irregular(world, credentialId)],
    remarkable(world, credentialId, latency),
  )
}

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

function irregular({ irregularities }: ExaminerWorld, credentialId: number): string[] {
  const { repeated, disordered } = irregularities.of(credentialId)
  return [
    ...(repeated > 0 ? [`${repeated} events were reported twice; each was delivered once`] : []),
    ...(disordered > 0
      ? [`${disordered} events came out of order; each chat kept its own order`]
      : []),
  ]
}

function remarkable(world: ExaminerWorld, credentialId: number, latency: number) {
  const { repeated, disordered } = world.irregularities.of(credentialId)
  if (latency > world.slowAfterMs) {
    return { code: 'slow', remedy: 'The platform answers slowly: expect time-outs, and wait' }
  }
  const remedy = 'Nothing to do: the service has put it right'
  if (repeated > 0) return { code: 'events_repeated', remedy }
  return disordered > 0 ? { code: 'events_disordered', remedy } : undefined
}
