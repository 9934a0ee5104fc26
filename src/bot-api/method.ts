/** What a method of the bot API is: its scope, its parameters for the documentation, and what it does. */
import type { ApiKeyActor } from '../../actors/api-key.ts'
import type { Json, Platform } from '../../actors/platform.ts'
import type { Scope } from '../../machines/api-key-events.ts'
import type { OperationKind, PublicOperation } from '../../machines/operation.ts'
import type { Arguments } from './arguments.ts'

export interface Call {
  readonly method: string
  readonly args: Arguments
  readonly key: ApiKeyActor
  readonly platform: Platform
  readonly signal: AbortSignal
  /** Asks the account to do it; resolves with the reference's JSON. */
  perform(operation: PublicOperation): Promise<Json>
  readonly world: CallWorld
}

/** What methods need that is not the account itself. */
export interface CallWorld {
  /** The account as getMe shows it. */
  profile(credentialId: number): Promise<Json>
  pendingUpdates(key: ApiKeyActor): Promise<number>
  /** How many updates retention took from a key unread, and when (Unix time in seconds). */
  dropped(apiKeyId: number): Promise<{ readonly updates: number; readonly at: number } | undefined>
  /** Told how many updates an answer carries. */
  delivered(key: ApiKeyActor, updates: number): void
}

/** `json` is text that goes out as it is; `description` stands beside the result. */
export interface Result {
  readonly json: string
  readonly description?: string
}

export type ParameterType = 'integer' | 'string' | 'boolean' | 'chat' | 'json'

export interface Method {
  readonly name: string
  readonly summary: string
  readonly scope: Scope | undefined
  /** What the platform must be able to do; undefined where the gateway answers by itself. */
  readonly operation: OperationKind | undefined
  /** Counts as a message to the chat it names, for the sending rates. */
  readonly sends?: boolean
  /** Does not count towards the calls in flight. */
  readonly unlimited?: boolean
  readonly parameters: Readonly<Record<string, ParameterType>>
  readonly required: readonly string[]
  run(call: Call): Promise<Result>
}

export const result = (value: Json): Result => ({ json: JSON.stringify(value) })
