/** The supervision of an actor: after a crash it rests, longer each time, and after too many it is given up for a while. */
import { assign, setup } from 'xstate'
import type { Failure } from '../model/protocol.ts'

const MOST_CRASHES = 5
const WITHIN_MS = 60_000
const FIRST_REST_MS = 1_000

/** The times of the crashes that count, the newest last, once there was another one. */
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

/** For every machine that is told of the crashes of the actors before: its chart has the states `crashed` and `failed`. */
export const crashGuards = {
  hasCrashed: ({ context }: Crashes) => context.crashes.length > 0,
  crashesTooOften: ({ context }: Crashes) => crashesTooOften(context.crashes),
}

export const crashDelays = {
  crashRest: ({ context }: Crashes) => restAfter(context.crashes),
  tryAgain: 300_000,
}

/** The answer to a command for an actor that is down, by the state of its supervision. */
export const downFailures = {
  crashed: {
    code: 'unavailable',
    description: 'it is restarting after a crash',
    retryAfterSeconds: 1,
  },
  failed: {
    code: 'unavailable',
    description: 'it crashed too often and is tried again in a few minutes',
    retryAfterSeconds: 60,
  },
} as const satisfies Record<string, Failure>

export type Down = keyof typeof downFailures

/** Of actors that begin when somebody asks for them; those that always run have these states in their own charts. */
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
