/** How a credential begins: in its last state, and after a crash not before a rest. */
import type { Reason } from '../model/reason.ts'
import { withCrash } from '../supervision/machine.ts'

import * as refusal from './refusals.ts'
import { refuse } from './refusals.ts'
import { type CredentialContext, credential, type Resume } from './setup.ts'

const resumesAs = (params: Resume) => ({ type: 'resumesAs' as const, params })

/** The state in which a credential goes on. */
export const resumed = [
  { guard: resumesAs('signedOut'), target: '#credential.signedOut' as const },
  { guard: resumesAs('invalid'), target: '#credential.invalid' as const },
  { guard: resumesAs('replaced'), target: '#credential.replaced' as const },
  { guard: resumesAs('failed'), target: '#credential.failed' as const },
  { guard: resumesAs('deleting'), target: '#credential.live.leaving.returning' as const },
  { target: '#credential.queued' as const },
]

export const afterCrash = [
  // A deletion is carried out, however often it takes a new actor.
  {
    guard: 'crashedInDeletion' as const,
    target: '#credential.deactivating.crashed' as const,
  },
  {
    guard: 'crashesTooOften' as const,
    target: '#credential.failed' as const,
    actions: { type: 'blame' as const, params: 'crash_loop' as const },
  },
  { guard: 'hasCrashed' as const, target: '#credential.crashed' as const },
]

/** Its actor is gone, and this is the next one: a moment of rest, then it goes on where it was. */
export const crashed = credential.createStateConfig({
  meta: { state: 'degraded', action: 'wait' },
  entry: { type: 'blame', params: 'crashed' },
  exit: 'recall',
  on: refuse(refusal.restarting),
  after: { crashRest: resumed },
})

/** The states that outlast a restart of the service. A failed credential gets a new chance. */
const lasting: Readonly<Record<string, Resume>> = {
  signedOut: 'signedOut',
  invalid: 'invalid',
  replaced: 'replaced',
  deleting: 'deleting',
}

/** How a credential begins after a restart of the service that found it in this state. */
export const resumeFrom = (state: string): Resume => lasting[state] ?? 'queued'

interface Successor {
  readonly resume: Resume
  readonly reason: Reason | undefined
  readonly crashes: readonly number[]
}

/** How the next actor begins after one crashed in this state at `now`; a crash during the rest changes only the rest. */
export function successorOf(state: string, left: CredentialContext, now: number): Successor {
  return {
    resume: resumeAfter(state, left),
    reason: state === 'crashed' ? left.resumeReason : left.reason,
    crashes: withCrash(left.crashes, now),
  }
}

function resumeAfter(state: string, { deletion, resume }: CredentialContext): Resume {
  if (deletion || resume === 'deleting') return 'deleting'
  if (state === 'crashed') return resume
  return state === 'failed' ? 'failed' : resumeFrom(state)
}
