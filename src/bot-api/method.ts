/** The type of a method of the bot API: its scope, its parameters for the documentation, and its function. */

import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { AbortLike } from '../../actors/host/actor.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import type { Scope } from '../../machines/api-key/events.ts'
import type { ContentName } from '../../machines/model/content.ts'
import { notFound, RequestFailed } from '../../machines/model/failure.ts'
import type { OperationKind, PublicOperation } from '../../machines/model/operation.ts'
import type { Passed } from '../../machines/model/operation-passing.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { Out } from '../credentials/reasons.ts'
import type { FilePaths, MediaService, Upload } from '../media/media.ts'
import type { WebhookEnds } from '../webhooks/record.ts'
import type { Arguments } from './arguments.ts'
import type { FileIds } from './file-id.ts'
import { METHODS_BEYOND } from './reference.ts'

export interface Call {
  readonly method: string
  readonly args: Arguments
  readonly key: ApiKeyActor
  readonly platform: Platform
  /** Uploaded files, by the names of their parts. They are deleted after the answer. */
  readonly uploads: ReadonlyMap<string, Upload>
  /** Aborts when the client goes away. */
  signal(): AbortSignal
  /** The same in a form that takes less memory, for calls of which thousands may wait. */
  leaving(): AbortLike
  /** Milliseconds since its client made it, as far as it has waited for the owner of its account. */
  readonly age: number
  /** How the program that calls names itself. */
  readonly client?: string | undefined
  /** Asks the account to do it; resolves with the reference's JSON. */
  perform(operation: PublicOperation): Promise<Json>
  readonly world: CallServices
}

/** Names, descriptions and commands that the gateway keeps for a bot, because no network keeps them. */
export interface ProfileStore {
  read(credentialId: number, name: string): Promise<Json | undefined>
  write(credentialId: number, name: string, value: Json): Promise<void>
  remove(credentialId: number, name: string): Promise<void>
}

/** The services that methods use besides the account. */
export interface CallServices {
  /** The account as getMe shows it. */
  profile(credentialId: number): Promise<Json>
  readonly profileStore: ProfileStore
  readonly media: Pick<MediaService, 'ingest'>
  readonly paths: Pick<FilePaths, 'issue'>
  readonly fileIds: FileIds
  pendingUpdates(key: ApiKeyActor): Promise<number>
  /** How many updates retention took from a key unread, and when (Unix time in seconds). */
  dropped(apiKeyId: number): Promise<{ readonly updates: number; readonly at: number } | undefined>
  /** When messages of its account were last too many to be caught up with (Unix time in seconds). */
  skipped(apiKeyId: number): Promise<number | undefined>
  /** Why an account receives nothing any more, and since when (milliseconds); undefined while it may receive. */
  whyOut(credentialId: number): Out | undefined
  readonly webhooks: CallWebhooks
  /** Called with the number of updates in an answer. */
  delivered(key: ApiKeyActor, updates: number): void
}

interface CallWebhooks {
  /** Plain http and private addresses may be named. */
  readonly allowPrivate: boolean
  /** Rejects with `rate_limited` when the key sets webhooks too often. */
  pace(apiKeyId: number): void
  ends(apiKeyId: number): Promise<WebhookEnds>
  /** The address to which its host resolves now. */
  address(url: string): Promise<string | undefined>
}

/** `json` is text that goes out as it is; `description` stands beside the result. */
export interface Result {
  readonly json: string
  /** The number of updates in it. */
  readonly count?: number
  readonly description?: string
  /** The answer of a network that the call was passed on to, which goes out in place of all others. */
  readonly passed?: Passed
}

export type ParameterType = 'integer' | 'number' | 'string' | 'boolean' | 'chat' | 'json' | 'file'

export interface Method {
  readonly name: string
  readonly summary: string
  readonly scope: Scope | undefined
  /** The operation that the platform must have; undefined where the gateway answers by itself. */
  readonly operation: OperationKind | undefined
  /** The content that a message of the platform must be able to carry. */
  readonly content?: ContentName
  /** Counts as a message to the chat it names, for the sending rates. */
  readonly sends?: boolean
  /** Sends no message, but spends, posts or creates: a second call would do so again. */
  readonly once?: boolean
  /** The method's own command to the key's actor checks scope and expiry, so `admit` is not asked. */
  readonly admitsItself?: boolean
  /** Does not count towards the calls in flight. */
  readonly unlimited?: boolean
  readonly parameters: Readonly<Record<string, ParameterType>>
  readonly required: readonly string[]
  run(call: Call): Promise<Result>
}

export const onlyOnce = (method: Method): Method => ({ ...method, once: true })

/** What is missing is called as the caller named it: to a network, the id of a private chat is the one of a person. */
export const namingChat = (method: Method): Method => ({
  ...method,
  run: async (call) => {
    try {
      return await method.run(call)
    } catch (cause) {
      const isUser = cause instanceof RequestFailed && cause.failure.reason === 'user_not_found'
      const isNamedAsUser = call.args.has('user_id') && !call.args.has('chat_id')
      throw isUser && !isNamedAsUser ? notFound('chat', { cause }) : cause
    }
  },
})

/** Methods for which a repeated call would do harm. */
export const heedsIdempotencyKey = ({ sends, once }: Pick<Method, 'sends' | 'once'>): boolean =>
  sends === true || once === true

export const canDo = (
  { capabilities }: Pick<Platform, 'capabilities'>,
  { name, operation, content }: Method,
): boolean =>
  (capabilities.passesThrough === true && !METHODS_BEYOND.some((beyond) => beyond === name)) ||
  ((operation === undefined || capabilities.operations.includes(operation)) &&
    (content === undefined || capabilities.content.includes(content)))

export const result = (value: Json): Result => ({ json: JSON.stringify(value) })
