/** How a credential begins: where it was, and after a crash not before it has rested. */
import { and } from 'xstate'
import * as refusal from './refusals.ts'
import { refuse } from './refusals.ts'
import { credential, type Resume } from './setup.ts'

const resumesAs = (params: Resume) => ({ type: 'resumesAs' as const, params })

/** Where it goes on. */
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
    guard: and(['hasCrashed' as const, resumesAs('deleting')]),
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
