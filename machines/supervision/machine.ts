/** The supervision of an actor: after a crash it rests, longer each time, and after too many it is given up for a while. */
import { assign, setup } from 'xstate'
import type { Failure } from '../model/protocol.ts'

const MOST_CRASHES = 5
const WITHIN_MS = 60_000
const FIRST_REST_MS = 1_000

/** The times of the crashes that count after one more, the newest last. */
export const withCrash = (earlier: readonly number[], now: number): readonly number[] => [
  ...earlier.filter((at) => now - at < WITHIN_MS),
  now,
]

export const crashesTooOften = (crashes: readonly number[]): boolean =>
  crashes.length >= MOST_CRASHES

export const restAfter = (crashes: readonly number[]): number =>
  FIRST_REST_MS * 2 ** Math.max(0, crashes.length - 1)

interface Crashes {
  readonly context: { readonly crashes: readonly number[] }
}

/** For machines that begin with the crashes of earlier actors: their charts have the states `crashed` and `failed`. */
export const crashGuards = {
  hasCrashed: ({ context }: Crashes) => context.crashes.length > 0,
  crashesTooOften: ({ context }: Crashes) => crashesTooOften(context.crashes),
}

export const crashDelays = {
  crashRest: ({ context }: Crashes) => restAfter(context.crashes),
  tryAgain: 300_000,
}

/** The states in which an actor does not begin. */
export type Down = 'crashed' | 'failed'

/** The answer to a command for an actor that is down; `kind` names it to the caller. */
export function downFailure(kind: string, down: Down): Failure {
  return down === 'crashed'
    ? {
        code: 'unavailable',
        description: `the ${kind} is restarting after a crash`,
        retryAfterSeconds: 1,
      }
    : {
        code: 'unavailable',
        description: `the ${kind} crashed too often and is tried again in a few minutes`,
        retryAfterSeconds: 60,
      }
}

/** For actors that begin on demand; those that always run have these states in their own charts. */
export const supervisionMachine = setup({
  types: {
    context: {} as { readonly crashes: readonly number[] },
    events: {} as { readonly type: 'actor.crashed'; readonly at: number },
  },
  actions: {
    count: assign({ crashes: ({ context }, at: number) => withCrash(context.crashes, at) }),
  },
  guards: crashGuards,
  delays: { ...crashDelays, forget: WITHIN_MS },
}).createMachine({
  id: 'supervision',
  context: { crashes: [] },
  on: {
    'actor.crashed': {
      target: '.judging',
      actions: { type: 'count', params: ({ event }) => event.at },
    },
  },
  initial: 'running',
  states: {
    running: { after: { forget: 'forgotten' } },
    judging: {
      always: [{ guard: 'crashesTooOften', target: 'failed' }, { target: 'crashed' }],
    },
    crashed: { meta: { state: 'degraded', action: 'wait' }, after: { crashRest: 'running' } },
    failed: { meta: { state: 'failed', action: 'wait' }, after: { tryAgain: 'running' } },
    // No crash counts any more.
    forgotten: { type: 'final' },
  },
})
