/** Executes one call of the bot API: carries it out here, or passes it on to a network that speaks the bot API itself. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import { type CredentialActor, passOn, perform } from '../../actors/credential/actor.ts'
import { assertRepeatable, repeatFailed } from '../../actors/credential/perform.ts'
import type { AbortLike } from '../../actors/host/actor.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import type { Scope } from '../../machines/api-key/events.ts'
import type { Forwarded } from '../../machines/credential/events.ts'
import { failed, notFound, RequestFailed } from '../../machines/model/failure.ts'
import type { PublicOperation } from '../../machines/model/operation.ts'
import type { Passing } from '../../machines/model/operation-passing.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { Upload } from '../media/media.ts'
import { type Arguments, chatOf, numberIn } from './arguments.ts'
import type { IdempotentCalls } from './idempotency.ts'
import {
  type CallServices,
  canDo,
  heedsIdempotencyKey,
  type Method,
  type Result,
} from './method.ts'
import { methods } from './methods/index.ts'
import { assertParameters, hasTopics, methodRefused } from './parameter-rules.ts'
import { METHODS_BEYOND, methodName } from './reference.ts'

export interface CallExecution {
  readonly credentials: {
    ready(credentialId: number, hasLeft: () => boolean, atLeast?: number): Promise<CredentialActor>
    platformOf(credentialId: number): Promise<Platform>
  }
  readonly world: CallServices
  readonly idempotentCalls: IdempotentCalls
}

export interface BotCall {
  /** The method's name in the caller's spelling. */
  readonly method: string
  readonly key: ApiKeyActor
  readonly args: Arguments
  readonly uploads: ReadonlyMap<string, Upload>
  readonly traceId: string
  /** The value of the header with this name. Read only for calls that would send or spend again if repeated. */
  readonly idempotencyKey?: string | undefined
  /** Absent for a call that came to this node at once. */
  readonly forwarded?: Forwarded | undefined
  /** Milliseconds since its client made it; absent if it did not wait for the owner of its account. */
  readonly age?: number
  /** How the program that calls names itself. */
  readonly client?: string | undefined
  /** Both abort when the client goes away. They are functions because most methods need neither. */
  signal(): AbortSignal
  leaving(): AbortLike
  /** Called with the method's name in the reference's spelling. */
  named?(name: string): void
}

/** How long a repeated call waits for its account: only one that is online again can tell what became of the first try. */
const REPETITION_WAITS_MS = 30_000

export async function execute(received: BotCall, execution: CallExecution): Promise<Result> {
  const run = await prepare(received, execution)
  return run()
}

/** Checks a call. Resolves with a function that executes it; rejects with the reason if the call is refused. */
export async function prepare(
  received: BotCall,
  execution: CallExecution,
): Promise<() => Promise<Result>> {
  const { key, args, uploads, idempotencyKey } = received
  const { credentials, world, idempotentCalls } = execution
  const { apiKeyId, credentialId } = key.facts
  const name = methodName(received.method)
  if (!name) throw failed('not_found', 'method not found')
  received.named?.(name)
  const platform = await credentials.platformOf(credentialId)
  const method = methods.get(name.toLowerCase())
  if (!method || !canDo(platform, method)) {
    await key.admit(undefined)
    throw methodRefused(platform, name)
  }
  if (!method.admitsItself) await key.admit(method.scope, chatToRate(method, args))
  assertParameters(platform, method, args)
  assertHasPlace(method, args, platform)
  const connection = connectionOf(method, args)
  // No getters: each object with some of its own gets a class of its own, which holds on to the whole request until
  // the next collection of the whole heap.
  const call = {
    method: name,
    args,
    uploads,
    key,
    platform,
    signal: received.signal,
    leaving: received.leaving,
    age: received.age ?? 0,
    client: received.client,
    perform: performer(received, credentials, platform, connection),
    world,
  }
  if (idempotencyKey === undefined || !heedsIdempotencyKey(method)) {
    const run = () => method.run(call)
    return method.unlimited ? run : () => key.inFlight(run)
  }
  // The id of the first call with this key, also if another node has forwarded this one.
  const runAs = (forwarded: Forwarded) => {
    const perform = performer({ ...received, forwarded }, credentials, platform, connection)
    return method.run({ ...call, perform })
  }
  const isTold = platform.sends !== 'blind'
  const run = () => idempotentCalls.once(apiKeyId, idempotencyKey, runAs, isTold)
  return method.unlimited ? run : () => key.inFlight(run)
}

/** Hands the operations of a call to the account, for `connection` if it is given. Each has the same id at every try. */
function performer(
  { key, traceId, forwarded, leaving }: Pick<BotCall, 'key' | 'traceId' | 'forwarded' | 'leaving'>,
  credentials: CallExecution['credentials'],
  platform: Platform,
  connection: string | undefined,
): (wanted: PublicOperation) => Promise<Json> {
  const { apiKeyId, credentialId } = key.facts
  const isRepeated = forwarded?.isRepeated === true
  let operations = 0
  return async (wanted) => {
    if (isRepeated) assertRepeatable(wanted.kind, platform)
    const callId = forwarded && `${forwarded.id}.${operations++}`
    const operation: PublicOperation =
      connection === undefined ? wanted : { kind: 'for_business', connection, operation: wanted }
    try {
      const least = isRepeated ? REPETITION_WAITS_MS : undefined
      const credential = await credentials.ready(credentialId, () => leaving().aborted, least)
      return await perform(credential, {
        type: 'operation.perform',
        operation,
        apiKeyId,
        traceId,
        now: Date.now(),
        ...(callId && { callId }),
        ...(isRepeated && { isRepeated }),
      })
    } catch (cause) {
      throw isRepeated ? repeatFailed(wanted.kind, cause) : cause
    }
  }
}

/** The chat whose rate a sending call counts for. */
const chatToRate = (method: Method, args: Arguments): string | undefined =>
  method.sends ? chatOf(args.text('chat_id') ?? args.text('user_id')) : undefined

/** The business on whose behalf the call is made. */
const connectionOf = ({ parameters }: Pick<Method, 'parameters'>, args: Arguments) =>
  'business_connection_id' in parameters ? args.text('business_connection_id') : undefined

const hasBusinesses = ({ capabilities }: Platform) =>
  capabilities.operations.includes('for_business')

/** Accounts act for a business on few networks, and only the groups of some networks have threads. */
function assertHasPlace({ parameters }: Method, args: Arguments, platform: Platform): void {
  if (connectionOf({ parameters }, args) !== undefined && !hasBusinesses(platform)) {
    throw notFound('business connection')
  }
  const isThreaded = 'message_thread_id' in parameters && args.messageId('message_thread_id') > 0
  const mayHaveThreads = hasTopics(platform) && !isPrivate(args.text('chat_id'))
  if (isThreaded && !mayHaveThreads) {
    throw notFound('message thread')
  }
}

const isPrivate = (chat = '') => /^\d/.test(chat)

/** Each key has its own cursor and webhook here. */
const RECEIVING = ['getUpdates', 'setWebhook', 'deleteWebhook', 'getWebhookInfo', 'logOut', 'close']

const NEVER_PASSED_ON: ReadonlySet<string> = new Set(
  [...RECEIVING, ...METHODS_BEYOND].map((name) => name.toLowerCase()),
)

export const isPassedOn = ({ capabilities }: Platform, method: string): boolean =>
  capabilities.passesThrough === true && !NEVER_PASSED_ON.has(method.toLowerCase())

/** A call that is to be passed on, as it came. */
interface ReceivedCall extends Pick<Passing, 'verb' | 'method' | 'query'> {
  readonly body?: Passing['body'] | undefined
  readonly key: ApiKeyActor
  readonly traceId: string
  readonly idempotencyKey?: string | undefined
  readonly forwarded?: Forwarded | undefined
  /** The value of a parameter, if it stands before all files. */
  parameter(name: string): string | undefined
  leaving(): AbortLike
  /** Called with the method's name in the reference's spelling. */
  named?(name: string): void
}

const NAME = /^[a-z0-9]{1,64}$/i

/** Checks a call. Resolves with a function that passes it on; rejects with the reason if the call is refused. */
export async function preparePass(
  received: ReceivedCall,
  { credentials, idempotentCalls }: Pick<CallExecution, 'credentials' | 'idempotentCalls'>,
): Promise<() => Promise<Result>> {
  const { key, method, idempotencyKey, traceId } = received
  if (!NAME.test(method)) throw failed('not_found', 'method not found')
  const known = methodName(method)
  if (known) received.named?.(known)
  await key.admit(scopeOf(method), sends(method) ? chatToCount(received) : undefined)
  const { apiKeyId, credentialId } = key.facts
  const call = callOf(received)
  // A call that only reads is never marked as repeated.
  if (received.forwarded?.isRepeated) assertRepeatable('pass', { sends: 'blind' })
  const run = async (): Promise<Result> => {
    const credential = await credentials.ready(credentialId, () => received.leaving().aborted)
    const requestId = crypto.randomUUID()
    const passed = await passOn(credential, { call, requestId, apiKeyId, traceId })
    // Only names that the network knows become labels of metrics: these are few.
    if (!known && passed.status !== 404) received.named?.(method.toLowerCase())
    return { json: '', passed }
  }
  if (idempotencyKey === undefined || !isCarriedOutOnce(method)) return () => key.inFlight(run)
  const settled = async (): Promise<Result> => {
    const { passed } = await run()
    if (passed?.failure) throw new RequestFailed(passed.failure)
    return { json: passed?.result() ?? 'true' }
  }
  return () => key.inFlight(() => idempotentCalls.once(apiKeyId, idempotencyKey, settled))
}

/** Empty for a chat that stands behind a file, and is not known yet. */
function chatToCount({ parameter }: Pick<ReceivedCall, 'parameter'>): string {
  const chat = parameter('chat_id') ?? parameter('user_id')
  return chat === undefined ? '' : chatOf(chat)
}

/** Methods that this version does not know are named as the caller spells them. */
function scopeOf(method: string): Scope | undefined {
  const known = methods.get(method.toLowerCase())
  if (known) return known.scope
  // The network lets a bot's token do everything, so any other unknown method needs the scope for sending.
  return /^get(?!\w*token)/i.test(method) ? undefined : 'bot:send'
}

function sends(method: string): boolean {
  const known = methods.get(method.toLowerCase())
  if (known) return known.sends === true
  return /^(send|forward|copy)(?!\w*draft)/i.test(method)
}

function isCarriedOutOnce(method: string): boolean {
  const known = methods.get(method.toLowerCase())
  if (known) return heedsIdempotencyKey(known)
  return (
    sends(method) ||
    /^(add|approve|convert|create|gift|post|refund|repost|transfer|upgrade)/i.test(method)
  )
}

function callOf(received: ReceivedCall): Passing {
  const { verb, method, query, body } = received
  const deletes = /^deletemessages?$/i.test(method) ? deletedBy(received) : undefined
  return { kind: 'pass', verb, method, query, ...(body && { body }), ...(deletes && { deletes }) }
}

/** Undefined for a chat given by its public name: its id is not known here, so other keys do not see the deletion. */
function deletedBy({ parameter }: ReceivedCall): Passing['deletes'] {
  const chat = Number(parameter('chat_id'))
  const messages = list(parameter('message_ids')) ?? [Number(parameter('message_id'))]
  return [chat, ...messages].every(Number.isSafeInteger) ? { chat, messages } : undefined
}

function list(text: string | undefined): number[] | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return Array.isArray(value) ? value.map(numberIn) : undefined
  } catch {
    return undefined
  }
}
