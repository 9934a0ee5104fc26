/** Calls that a network which speaks the bot API itself carries out: only what concerns the key is decided here. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import { passOn } from '../../actors/credential/actor.ts'
import type { AbortLike } from '../../actors/host/actor.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import type { Scope } from '../../machines/api-key/events.ts'
import { failed, RequestFailed } from '../../machines/model/failure.ts'
import type { Passing } from '../../machines/model/operation-passing.ts'
import { chatOf } from './arguments.ts'
import type { CallExecution } from './execute.ts'
import type { Result } from './method.ts'
import { methods } from './methods/index.ts'
import { METHODS_BEYOND, methodName } from './reference.ts'

/** Methods about receiving: a key has its own place among the updates, and its own webhook. */
const RECEIVING = ['getUpdates', 'setWebhook', 'deleteWebhook', 'getWebhookInfo', 'logOut', 'close']

const ours: ReadonlySet<string> = new Set(
  [...RECEIVING, ...METHODS_BEYOND].map((name) => name.toLowerCase()),
)

export const passes = ({ capabilities }: Platform, method: string): boolean =>
  capabilities.passesThrough === true && !ours.has(method.toLowerCase())

/** One call as it came. */
interface ReceivedCall extends Pick<Passing, 'verb' | 'method' | 'query' | 'body'> {
  readonly key: ApiKeyActor
  readonly traceId: string
  readonly idempotencyKey?: string | undefined
  /** The value of a parameter, if it stands before all files. */
  parameter(name: string): string | undefined
  leaving(): AbortLike
  /** Told how the method is called. */
  named?(name: string): void
}

const NAME = /^[a-z0-9]{1,64}$/i

/** Resolves with what passes the call on, once nothing speaks against it. Rejects with what does. */
export async function preparePass(
  received: ReceivedCall,
  { credentials, idempotentCalls }: Pick<CallExecution, 'credentials' | 'idempotentCalls'>,
): Promise<() => Promise<Result>> {
  const { key, method, idempotencyKey, traceId } = received
  if (!NAME.test(method)) throw failed('not_found', 'method not found')
  const known = methodName(method)
  if (known) received.named?.(known)
  const isSending = sends(method)
  const chat = received.parameter('chat_id') ?? received.parameter('user_id')
  await key.admit(scopeOf(method), isSending ? chatOf(chat) : undefined)
  const { apiKeyId, credentialId } = key.facts
  const call = callOf(received)
  const run = async (): Promise<Result> => {
    const credential = await credentials.ready(credentialId, () => received.leaving().aborted)
    const requestId = crypto.randomUUID()
    const passed = await passOn(credential, { call, requestId, apiKeyId, traceId })
    // A name that the network knows is one of few.
    if (!known && passed.status !== 404) received.named?.(method.toLowerCase())
    return { json: '', passed }
  }
  if (idempotencyKey === undefined || !isSending) return () => key.inFlight(run)
  const settled = async (): Promise<Result> => {
    const { passed } = await run()
    if (passed?.failure) throw new RequestFailed(passed.failure)
    return { json: passed?.result() ?? 'true' }
  }
  return () => key.inFlight(() => idempotentCalls.once(apiKeyId, idempotencyKey, settled))
}

/** Methods that this version does not carry out anywhere go by their names. */
function scopeOf(method: string): Scope | undefined {
  const known = methods.get(method.toLowerCase())
  if (known) return known.scope
  // Whoever has a token may do everything.
  return /^get(?!\w*token)/i.test(method) ? undefined : 'bot:send'
}

function sends(method: string): boolean {
  const known = methods.get(method.toLowerCase())
  if (known) return known.sends === true
  return /^(send|forward|copy)(?!\w*draft)/i.test(method)
}

function callOf(received: ReceivedCall): Passing {
  const { verb, method, query, body } = received
  const deletes = /^deletemessages?$/i.test(method) && deletedBy(received)
  return { kind: 'pass', verb, method, query, ...(body && { body }), ...(deletes && { deletes }) }
}

/** A chat that is named is not known by its number here: its deletions are not told to other keys. */
function deletedBy({ parameter }: ReceivedCall): Passing['deletes'] | false {
  const [chat, ids] = [Number(parameter('chat_id')), list(parameter('message_ids'))]
  const id = Number(parameter('message_id'))
  const messages = ids ?? [id]
  return Number.isSafeInteger(chat) && messages.every(Number.isSafeInteger) && { chat, messages }
}

function list(text: string | undefined): number[] | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return Array.isArray(value) ? value.map(Number) : undefined
  } catch {
    return undefined
  }
}
