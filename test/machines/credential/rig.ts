/** Credentials to walk through their states: where they are, and what they can be told. */

import type { CredentialEvent, PerformOperation } from '../../../machines/credential/events.ts'
import { credentialMachine } from '../../../machines/credential/machine.ts'
import type { CredentialInput } from '../../../machines/credential/setup.ts'
import type { ReceiveSettings } from '../../../machines/model/happening.ts'
import { Walk } from '../walk.ts'

export const nothing: ReceiveSettings = {
  includeSelfUpdates: false,
  includeChannelUpdates: false,
  includeChannelUpdateRecovery: false,
  includeDeletedUpdates: false,
}

export const granted: CredentialEvent = { type: 'turn.granted' }
export const opened: CredentialEvent = { type: 'session.opened' }
export const passed: CredentialEvent = { type: 'probe.passed' }
export const probeFailed: CredentialEvent = { type: 'probe.failed' }
export const lost: CredentialEvent = { type: 'session.lost', reason: 'network' }
export const lostToStorage: CredentialEvent = { type: 'session.lost', reason: 'storage' }
export const replaced: CredentialEvent = { type: 'session.replaced' }
export const revoked: CredentialEvent = { type: 'session.revoked', reason: 'session_revoked' }
export const invalid: CredentialEvent = { type: 'session.invalid', reason: 'account_banned' }
export const stored: CredentialEvent = { type: 'deletion.stored' }
export const signedOut: CredentialEvent = { type: 'signout.finished' }
export const wiped: CredentialEvent = { type: 'deactivation.finished' }

export const limited = (forMs: number, until: number): CredentialEvent => ({
  type: 'session.limited',
  reason: 'flood_wait',
  forMs,
  until,
})

export const perform = (requestId = 'p1', now = 0): PerformOperation => ({
  type: 'operation.perform',
  requestId,
  operation: { kind: 'describe', chat: 1 },
  now,
})

export const command = (
  what: 'restart' | 'relinked' | 'delete' | 'check',
  requestId: string = what,
): CredentialEvent =>
  what === 'relinked'
    ? { type: 'credential.relinked', requestId, link: 1 }
    : { type: `credential.${what}`, requestId }

export const begin = (input: Partial<CredentialInput> = {}): Walk<CredentialEvent> =>
  new Walk(credentialMachine, { credentialId: 1, settings: nothing, resume: 'queued', ...input })

export const online = (): Walk<CredentialEvent> => begin().send(granted, opened, passed)

/** A walk to each place where a credential can stay. */
export const places = {
  queued: () => begin(),
  'live.starting.opening': () => begin().send(granted),
  'live.starting.verifying': () => begin().send(granted, opened),
  'live.online.quiet': online,
  'live.online.checking': () => online().elapse('probeEvery'),
  'live.deaf.pausing': () => begin().send(granted, opened, probeFailed),
  'live.deaf.checking': () => begin().send(granted, opened, probeFailed).elapse('probeAgain'),
  'live.limited.quiet': () => online().send(limited(30_000, 30_000)),
  'live.limited.checking': () => online().send(limited(30_000, 30_000)).elapse('probeEvery'),
  'live.leaving.noting': () => online().send(command('delete')),
  'live.leaving.pausing': () => online().send(command('delete'), { type: 'deletion.failed' }),
  'live.leaving.signingOut': () => online().send(command('delete'), stored),
  'live.leaving.returning': () => begin({ resume: 'deleting' }),
  waiting: () => online().send(lost),
  crashed: () => begin({ crashes: [0] }),
  stalled: () => begin().send(granted, lostToStorage),
  replaced: () => online().send(replaced),
  signedOut: () => online().send(revoked),
  invalid: () => online().send(invalid),
  failed: () => begin({ resume: 'failed', reason: 'crash_loop' }),
  'deactivating.noting': () => begin().send(command('delete')),
  'deactivating.wiping': () => begin().send(command('delete'), stored),
  'deactivating.crashed': () => begin({ resume: 'deleting', crashes: [0] }),
  'deactivating.pausing': () =>
    begin().send(command('delete'), stored, { type: 'deactivation.failed' }),
  deactivated: () => begin().send(command('delete'), stored, wiped),
} satisfies Record<string, () => Walk<CredentialEvent>>

export type Place = keyof typeof places

export const stopped = ['replaced', 'signedOut', 'invalid', 'failed'] as const
