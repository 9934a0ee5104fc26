/** The events of a credential's machine: commands of callers, reports of its session, results of its effects. */

import type { ReceiveSettings } from '../model/happening.ts'
import type { PublicOperation } from '../model/operation.ts'
import type { Command, Reply, RequestAbandoned } from '../model/protocol.ts'
import type { Reason } from '../model/reason.ts'

/** A call that came through another node, which may have forwarded it to a node before this one. */
export interface Forwarded {
  /** The same for each try. */
  readonly id: string
  /** An earlier try may have been carried out. */
  readonly isRepeated: boolean
}

/** Asks the account to do something; `apiKeyId` is the key that asks, `now` its time in milliseconds. */
export interface PerformOperation extends Command {
  readonly type: 'operation.perform'
  /** Under which the network knows it, if not under the id of the request. */
  readonly callId?: string | undefined
  /** Another node may have carried it out under this `callId`. */
  readonly isRepeated?: boolean
  readonly operation: PublicOperation
  readonly apiKeyId?: number
  readonly traceId?: string
  readonly now: number
}

interface ChangeSettings extends Command {
  readonly type: 'credential.settings'
  readonly settings: ReceiveSettings
}

/** Reconnects a credential that stopped by itself, or one that is stuck. */
interface RestartCredential extends Command {
  readonly type: 'credential.restart'
}

/** The account was linked again: its stored secrets are new. */
interface CredentialRelinked extends Command {
  readonly type: 'credential.relinked'
  /** The number of the new link. */
  readonly link: number
}

/** Asks for a round trip now; the reply is its latency in milliseconds. */
interface CheckCredential extends Command {
  readonly type: 'credential.check'
}

interface DeleteCredential extends Command {
  readonly type: 'credential.delete'
}

type CredentialCommand =
  | PerformOperation
  | ChangeSettings
  | RestartCredential
  | CredentialRelinked
  | CheckCredential
  | DeleteCredential
  | RequestAbandoned

type SessionEvent =
  /** `isProven`: the network has just answered over the connection. */
  | { readonly type: 'session.opened'; readonly isProven?: boolean }
  | { readonly type: 'session.lost'; readonly reason: Reason; readonly retryAfterMs?: number }
  | {
      readonly type: 'session.limited'
      readonly reason: Reason
      readonly forMs: number
      readonly until: number
    }
  /** The network, or the session, could not list everything that was missed. */
  | { readonly type: 'messages.skipped' }
  | { readonly type: 'changes.skipped' }
  /** The session was away, and the network has no archive that would show whether messages are missing. */
  | { readonly type: 'archive.missing' }
  /** The network refused to keep the account's rooms for its other devices. */
  | { readonly type: 'rooms.unshared' }
  /** `kind` is the network's word for updates that cannot be shown here. */
  | { readonly type: 'updates.skipped'; readonly kind: string }
  | { readonly type: 'session.replaced' }
  /** `mayPass`: the network may say so also while something of its own is out of order. */
  | { readonly type: 'session.revoked'; readonly reason: Reason; readonly mayPass?: boolean }
  | { readonly type: 'session.invalid'; readonly reason: Reason }

type EffectEvent =
  | { readonly type: 'turn.granted' }
  /** The database takes writes again, or may do so. */
  | { readonly type: 'storage.recovered' }
  | { readonly type: 'probe.passed' }
  | { readonly type: 'probe.failed' }
  | { readonly type: 'deletion.stored' }
  | { readonly type: 'deletion.failed' }
  | { readonly type: 'signout.finished' }
  | { readonly type: 'deactivation.finished' }
  | { readonly type: 'deactivation.failed' }
  | { readonly type: 'request.settled'; readonly reply: Reply }

export type CredentialEvent = CredentialCommand | SessionEvent | EffectEvent
