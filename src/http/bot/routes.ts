/** /bot<key>/<method>: every method of the bot API, in every encoding the reference takes. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKeyActor } from '../../../actors/api-key.ts'
import type { CredentialActor } from '../../../actors/credential.ts'
import { failed } from '../../../actors/errors.ts'
import type { Json, Platform } from '../../../actors/platform.ts'
import type { PublicOperation } from '../../../machines/operation.ts'
import type { Arguments } from '../../bot-api/arguments.ts'
import type { CallWorld, Method, Result } from '../../bot-api/method.ts'
import { methodName } from '../../bot-api/method-names.ts'
import { methods } from '../../bot-api/methods/index.ts'
import type { KeyGate } from '../../keys/gate.ts'
import { argumentsOf, parseCalls } from './arguments.ts'

export interface BotRoutesOptions {
  readonly gate: KeyGate
  readonly credentials: { find(credentialId: number): Promise<CredentialActor> }
  readonly world: CallWorld
  platformOf(credentialId: number): Promise<Platform>
}

export async function botRoutes(app: FastifyInstance, options: BotRoutesOptions): Promise<void> {
  await parseCalls(app)
  app.route<{ Params: { token: string; '*': string } }>({
    method: ['GET', 'POST'],
    url: '/bot:token/*',
    // A HEAD would carry the call out and throw its answer away.
    exposeHeadRoute: false,
    schema: { hide: true },
    handler: async (request, reply) => {
      const key = await options.gate.admit(request.params.token, request.ip)
      const { apiKeyId, userId, credentialId } = key.facts
      Object.assign(request.audit, { userId, apiKeyId, credentialId })
      const args = await argumentsOf(request)
      const result = await carryOut(request, goneSignal(reply), key, args, options)
      return reply.type('application/json').send(envelope(result))
    },
  })
}

async function carryOut(
  request: FastifyRequest<{ Params: { '*': string } }>,
  signal: AbortSignal,
  key: ApiKeyActor,
  args: Arguments,
  { credentials, world, platformOf }: BotRoutesOptions,
): Promise<Result> {
  const name = methodName(request.params['*'] || args.text('method') || '')
  if (!name) throw failed('not_found', 'method not found')
  request.audit.method = name
  const { apiKeyId, credentialId } = key.facts
  const platform = await platformOf(credentialId)
  const method = methods.get(name.toLowerCase())
  if (!method || !canDo(platform, method)) {
    await key.admit(undefined)
    throw failed('bad_request', `${name} is not supported on ${platform.name}`)
  }
  await key.admit(method.scope, rated(method, args))
  const perform = async (operation: PublicOperation): Promise<Json> => {
    const credential = await credentials.find(credentialId)
    const traceId = request.id
    const now = Date.now()
    return credential.ask({ type: 'operation.perform', operation, apiKeyId, traceId, now })
  }
  const call = { method: name, args, key, platform, signal, perform, world }
  return method.unlimited ? method.run(call) : key.inFlight(() => method.run(call))
}

/** Aborts when the client goes away. Fastify's own signal also aborts once a body was read to its end. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}

const canDo = ({ capabilities }: Platform, { operation }: Method): boolean =>
  operation === undefined || capabilities.operations.includes(operation)

/** The chat whose rate a sending call counts for. Names are not told from each other by their letter case. */
const rated = (method: Method, args: Arguments): string | undefined =>
  method.sends ? args.text('chat_id')?.toLowerCase() : undefined

/** Text that is JSON already goes out as it is. */
const envelope = ({ json, description }: Result): string =>
  `{"ok":true,"result":${json}${description ? `,"description":${JSON.stringify(description)}` : ''}}`
