/** The vocabulary of the credential machine: what it knows, what it leaves to the actor, what it waits for. */

import { assign, emit, setup } from 'xstate'
import * as port from '../model/effects.ts'
import type { ReceiveSettings } from '../model/happening.ts'
import type { Command, Reply } from '../model/protocol.ts'
import type { Reason } from '../model/reason.ts'
import { crashDelays, crashGuards } from '../supervision/machine.ts'
import type { CredentialEvent, PerformOperation } from './events.ts'

/** How a credential begins after the service started: where its stored facts say it ended. */
export type Resume = 'queued' | 'signedOut' | 'invalid' | 'replaced' | 'failed' | 'deleting'

export interface CredentialInput {
  readonly credentialId: number
  readonly settings: ReceiveSettings
  readonly resume: Resume
  readonly reason?: Reason
  /** When the actors before this one crashed, as far as it still counts. */
  readonly crashes?: readonly number[]
  /** A restriction of the network that was still in force when the service stopped. */
  readonly limit?: { readonly reason: Reason; readonly forMs: number; readonly until: number }
}

export interface CredentialContext extends Omit<CredentialInput, 'limit' | 'reason'> {
  readonly crashes: readonly number[]
  /** Why it was where it resumes. */
  readonly resumeReason: Reason | undefined
  readonly reason: Reason | undefined
  readonly limit: CredentialInput['limit'] | undefined
  readonly losses: number
  readonly failedProbes: number
  readonly retryAfterMs: number
  /** After another client took the session it was opened once more; a second time it is left alone. */
  readonly reclaimed: boolean
  /** The network has refused the account, and was asked once more. */
  readonly isDoubted: boolean
  /** The command that asked for the deletion under way. */
  readonly deletion: Command | undefined
}

export const initially = (input: CredentialInput): CredentialContext => ({
  ...input,
  reason: input.reason,
  resumeReason: input.reason,
  crashes: input.crashes ?? [],
  limit: input.limit,
  losses: 0,
  failedProbes: 0,
  retryAfterMs: 0,
  reclaimed: false,
  isDoubted: false,
  deletion: undefined,
})

/** A refusal that may pass is believed when it comes again after this time. */
export const DOUBT_MS = 20_000

const RENEW_AFTER_FAILED_PROBES = 4

export const credential = setup({
  types: {
    input: {} as CredentialInput,
    context: {} as CredentialContext,
    events: {} as CredentialEvent,
    emitted: {} as Reply,
  },
  actors: {
    turn: port.service('turn'),
    session: port.service('session'),
    recovery: port.service('recovery'),
    probe: port.service('probe'),
    deletion: port.service('deletion'),
    signOut: port.service('signOut'),
    deactivation: port.service('deactivation'),
  },
  actions: {
    perform: port.action<PerformOperation>('perform'),
    check: port.action<Command>('check'),
    releaseTurn: port.action('releaseTurn'),
    /** The session belongs to a link before this one. */
    forgetSession: port.action<number>('forgetSession'),
    reply: emit((_, reply: Reply) => reply),
    adopt: assign({ settings: (_, settings: ReceiveSettings) => settings }),
    blame: assign({ reason: (_, reason: Reason) => reason }),
    absolve: assign({ reason: undefined, failedProbes: 0, limit: undefined, isDoubted: false }),
    doubt: assign({ isDoubted: true }),
    countLoss: assign({
      losses: ({ context }) => context.losses + 1,
      failedProbes: 0,
      retryAfterMs: (_, retryAfterMs: number) => retryAfterMs,
    }),
    forgetCrashes: assign({ crashes: [] }),
    recall: assign({ reason: ({ context }) => context.resumeReason }),
    forgetLosses: assign({ losses: 0 }),
    reclaim: assign({ reclaimed: true }),
    forgetReclaim: assign({ reclaimed: false }),
    countFailedProbe: assign({ failedProbes: ({ context }) => context.failedProbes + 1 }),
    restrict: assign({ limit: (_, limit: NonNullable<CredentialInput['limit']>) => limit }),
    keepLimit: assign({
      reason: ({ context }) => context.limit?.reason,
      failedProbes: 0,
      isDoubted: false,
    }),
    awaitDeletion: assign({ deletion: (_, command: Command) => command }),
  },
  guards: {
    ...crashGuards,
    crashedInDeletion: ({ context }) => context.crashes.length > 0 && context.resume === 'deleting',
    resumesAs: ({ context }, state: Resume) => context.resume === state,
    mayReclaim: ({ context }) => !context.reclaimed,
    isDoubtful: ({ context }, mayPass: boolean) => mayPass && !context.isDoubted,
    isOwnStorage: (_, reason: Reason) => reason === 'storage',
    isUnproven: (_, isUnproven: boolean) => isUnproven,
    isLimited: ({ context }) => context.limit !== undefined,
    needsNewSession: ({ context }) => context.failedProbes + 1 >= RENEW_AFTER_FAILED_PROBES,
  },
  delays: {
    backoff: ({ context }) =>
      Math.max(context.retryAfterMs, Math.min(60_000, 500 * 2 ** context.losses)),
    limitEnds: ({ context }) => context.limit?.forMs ?? 0,
    ...crashDelays,
    openingTakes: 60_000,
    probeEvery: 60_000,
    probeAgain: 15_000,
    steady: 60_000,
    settled: 3_600_000,
    deleteAgain: 1_000,
  },
})

/** A round trip came back: what the account may do now. */
export const proven = [
  { guard: 'isLimited' as const, target: '#credential.live.limited' as const },
  { target: '#credential.live.online' as const },
]

/** The inside of a state whose round trip is proved again and again. */
export const probing = credential.createStateConfig({
  initial: 'quiet',
  states: {
    quiet: { after: { probeEvery: { target: 'checking' } } },
    checking: {
      invoke: { src: 'probe' },
      on: {
        'probe.passed': { target: 'quiet' },
        'probe.failed': { target: '#credential.live.deaf', actions: 'countFailedProbe' },
      },
    },
  },
})
