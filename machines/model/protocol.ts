/** The messages between actors: commands ask, replies answer, failures are data; and JSON values, which they may carry. */
import type { FailureReason, Params } from './reason.ts'

/** Anything that survives `JSON.stringify` unchanged. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

export type FailureCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'rate_limited'
  | 'internal'
  | 'bad_gateway'
  | 'unavailable'
  | 'timeout'

/** Why a request failed, for programs and translators. */
export interface Explanation {
  readonly reason?: FailureReason
  /** The values in the sentence of the reason, such as the scope that is missing. */
  readonly params?: Params
}

export interface Failure extends Explanation {
  readonly code: FailureCode
  /** The error for the caller, without the prefix that the code already says. */
  readonly description: string
  /** The one field at fault; `description` names it, too. */
  readonly field?: { readonly name: string; readonly problem: string }
  /** When another try may help, in seconds from now. */
  readonly retryAfterSeconds?: number
  /** `false` when the network may have carried out the request all the same. */
  readonly certain?: boolean
  readonly migrateToChatId?: number
}

export type Outcome<Result = unknown> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly failure: Failure }

export interface Reply {
  readonly type: 'reply'
  readonly requestId: string
  readonly outcome: Outcome
}

/** Every command carries the id under which its one reply is expected. */
export interface Command {
  readonly requestId: string
}

/** The caller of a command went away; its reply is no longer wanted. */
export interface RequestAbandoned extends Command {
  readonly type: 'request.abandoned'
}

export function accepted({ requestId }: Command, result: unknown = true): Reply {
  return { type: 'reply', requestId, outcome: { ok: true, result } }
}

export function refused({ requestId }: Command, failure: Failure): Reply {
  return { type: 'reply', requestId, outcome: { ok: false, failure } }
}
