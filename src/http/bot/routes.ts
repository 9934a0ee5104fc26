/** /bot<key>/<method>: every method of the bot API, in every encoding the reference takes. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKeyActor } from '../../../actors/api-key.ts'
import { type Carrier, carryOut } from '../../bot-api/carry-out.ts'
import type { Result } from '../../bot-api/method.ts'
import type { KeyGate } from '../../keys/gate.ts'
import { type Parameters, parametersOf, parseCalls } from './arguments.ts'
import { Departure } from './departure.ts'
import { noUploads, releaseAll, type UploadPlace } from './uploads.ts'

export interface BotRoutesOptions extends Carrier {
  readonly gate: KeyGate
  readonly uploads: UploadPlace
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
      const result = await answerTo(request, reply, options)
      return reply.type('application/json').send(envelope(result))
    },
  })
}

type CallRequest = FastifyRequest<{ Params: { token: string; '*': string } }>

async function answerTo(
  request: CallRequest,
  reply: FastifyReply,
  options: BotRoutesOptions,
): Promise<Result> {
  const key = await options.gate.admit(request.params.token, request.ip)
  const { apiKeyId, userId, credentialId } = key.facts
  Object.assign(request.audit, { userId, apiKeyId, credentialId })
  const parameters = await parametersOf(request, options.uploads, () => goneSignal(reply))
  if (parameters.uploads === noUploads) {
    return await answered(request, reply, key, parameters, options)
  }
  try {
    return await answered(request, reply, key, parameters, options)
  } finally {
    await releaseAll(parameters.uploads)
  }
}

function answered(
  request: CallRequest,
  reply: FastifyReply,
  key: ApiKeyActor,
  { args, uploads }: Parameters,
  carrier: Carrier,
): Promise<Result> {
  const asked = {
    method: request.params['*'] || args.text('method') || '',
    key,
    args,
    uploads,
    traceId: request.id,
    signal: () => goneSignal(reply),
    leaving: () => new Departure(reply.raw),
    named(name: string) {
      request.audit.method = name
    },
  }
  return carryOut(asked, carrier)
}

/** Aborts when the client goes away. Fastify's own signal also aborts once a body was read to its end. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  if (raw.destroyed) return AbortSignal.abort()
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}

/** Text that is JSON already goes out as it is. */
const envelope = ({ json, description }: Result): string =>
  `{"ok":true,"result":${json}${description ? `,"description":${JSON.stringify(description)}` : ''}}`
