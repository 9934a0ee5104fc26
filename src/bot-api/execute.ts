/** Executes one call of the bot API, made over HTTP or in the answer to a webhook. */

import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { CredentialActor } from '../../actors/credential/actor.ts'
import type { AbortLike } from '../../actors/host/actor.ts'
import type { Json, Platform } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'
import type { PublicOperation } from '../../machines/model/operation.ts'
import type { Upload } from '../media/media.ts'
import { type Arguments, chatOf } from './arguments.ts'
import type { IdempotentCalls } from './idempotency.ts'
import { type CallServices, canDo, type Method, type Result } from './method.ts'
import { methods } from './methods/index.ts'
import { assertParameters, hasTopics, methodRefused } from './parameter-rules.ts'
import { methodName } from './reference.ts'

export interface CallExecution {
  readonly credentials: {
    ready(credentialId: number, hasLeft: () => boolean): Promise<CredentialActor>
    platformOf(credentialId: number): Promise<Platform>
  }
  readonly world: CallServices
  readonly idempotentCalls: IdempotentCalls
}

export interface Asked {
  /** As the caller spelt it. */
  readonly method: string
  readonly key: ApiKeyActor
  readonly args: Arguments
  readonly uploads: ReadonlyMap<string, Upload>
  readonly traceId: string
  /** The value of the header of this name; heeded where a message is sent. */
  readonly idempotencyKey?: string | undefined
  /** Most methods never ask for either of them. */
  signal(): AbortSignal
  leaving(): AbortLike
  /** Told how the method is called. */
  named?(name: string): void
}

export async function execute(asked: Asked, carrier: CallExecution): Promise<Result> {
  const perform = await prepare(asked, carrier)
  return perform()
}

/** Resolves with what carries the call out, once nothing speaks against it. Rejects with what does. */
export async function prepare(
  asked: Asked,
  carrier: CallExecution,
): Promise<() => Promise<Result>> {
  const { key, args, uploads, traceId } = asked
  const { credentials, world, idempotentCalls } = carrier
  const { apiKeyId, credentialId } = key.facts
  const name = methodName(asked.method)
  if (!name) throw failed('not_found', 'method not found')
  asked.named?.(name)
  const platform = await credentials.platformOf(credentialId)
  const method = methods.get(name.toLowerCase())
  if (!method || !canDo(platform, method)) {
    await key.admit(undefined)
    throw methodRefused(platform, name)
  }
  if (!method.admitsItself) await key.admit(method.scope, rated(method, args))
  assertParameters(platform, method, args)
  assertHasPlace(method, args, platform)
  const connection = connectionOf(method, args)
  const perform = async (wanted: PublicOperation): Promise<Json> => {
    const operation: PublicOperation =
      connection === undefined ? wanted : { kind: 'for_business', connection, operation: wanted }
    const credential = await credentials.ready(credentialId, () => asked.leaving().aborted)
    const now = Date.now()
    return credential.ask({ type: 'operation.perform', operation, apiKeyId, traceId, now })
  }
  // No getters: each object with some of its own gets a class of its own, which holds on to the whole request until
  // the next collection of the whole heap.
  const call = {
    method: name,
    args,
    uploads,
    key,
    platform,
    signal: asked.signal,
    leaving: asked.leaving,
    perform,
    world,
  }
  const { idempotencyKey } = asked
  const run =
    idempotencyKey === undefined || !method.sends
      ? () => method.run(call)
      : () => idempotentCalls.once(apiKeyId, idempotencyKey, () => method.run(call))
  return method.unlimited ? run : () => key.inFlight(run)
}

/** The chat whose rate a sending call counts for. */
const rated = (method: Method, args: Arguments): string | undefined =>
  method.sends ? chatOf(args.text('chat_id') ?? args.text('user_id')) : undefined

/** The business on whose behalf the call is made. */
const connectionOf = ({ parameters }: Pick<Method, 'parameters'>, args: Arguments) =>
  'business_connection_id' in parameters ? args.text('business_connection_id') : undefined

const hasBusinesses = ({ capabilities }: Platform) =>
  capabilities.operations.includes('for_business')

/** Accounts act for a business on few networks, and only the groups of some networks have threads. */
function assertHasPlace({ parameters }: Method, args: Arguments, platform: Platform): void {
  if (connectionOf({ parameters }, args) !== undefined && !hasBusinesses(platform)) {
    throw failed('bad_request', 'business connection not found')
  }
  const isThreaded = 'message_thread_id' in parameters && args.messageId('message_thread_id') > 0
  const mayHaveThreads = hasTopics(platform) && !isPrivate(args.text('chat_id'))
  if (isThreaded && !mayHaveThreads) {
    throw failed('bad_request', 'message thread not found')
  }
}

const isPrivate = (chat = '') => /^\d/.test(chat)
