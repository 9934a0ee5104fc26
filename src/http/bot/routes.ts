/** /bot<key>/<method>: every method of the bot API, in every encoding the reference takes. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ApiKeyActor } from '../../../actors/api-key/actor.ts'
import { type Carrier, carryOut, prepare } from '../../bot-api/carry-out.ts'
import type { CallWorld, Result } from '../../bot-api/method.ts'
import type { KeyGate } from '../../keys/gate.ts'
import { goneSignal } from '../gone-signal.ts'
import { openToEveryOrigin } from '../headers.ts'
import { ofKey } from '../request-log.ts'
import { type CallRequest, parametersOf, parseCalls } from './arguments.ts'
import { Departure } from './departure.ts'
import { unitsAfter, unitsAhead } from './units.ts'
import { noUploads, releaseAll, type UploadPlace } from './uploads.ts'

export interface BotRoutesOptions extends Carrier {
  readonly gate: KeyGate
  readonly uploads: UploadPlace
}

export async function botRoutes(app: FastifyInstance, options: BotRoutesOptions): Promise<void> {
  openToEveryOrigin(app)
  await parseCalls(app)
  app.route<{ Params: { token: string; '*': string } }>({
    method: ['GET', 'POST'],
    url: '/bot:token/*',
    // A HEAD would carry the call out and throw its answer away.
    exposeHeadRoute: false,
    schema: { hide: true },
    handler(request, reply) {
      begun(request, reply, options)
        .then(({ key, run }) => answerWith(run(), reply, key, options.world))
        .catch((error) => void reply.send(error))
    },
  })
}

interface Call {
  readonly key: ApiKeyActor
  run(): Promise<Result>
}

async function begun(
  request: CallRequest,
  reply: FastifyReply,
  options: BotRoutesOptions,
): Promise<Call> {
  const { gate, uploads: place } = options
  const { headers, ip, params } = request
  const key = await gate.admit(params.token, ip, ofKey(request), unitsAhead(headers))
  const { args, uploads } = await parametersOf(request, place, {
    signal: () => goneSignal(reply),
    count: (length) => gate.spend(key.facts.apiKeyId, unitsAfter(headers, length)),
  })
  const asked = {
    method: request.params['*'] || args.text('method') || '',
    key,
    args,
    uploads,
    traceId: request.id,
    signal: () => goneSignal(reply),
    leaving: () => new Departure(reply),
    named(name: string) {
      request.audit.method = name
    },
  }
  if (uploads === noUploads) return { key, run: await prepare(asked, options) }
  const run = async () => {
    try {
      return await carryOut(asked, options)
    } finally {
      await releaseAll(uploads)
    }
  }
  return { key, run }
}

/** All that is kept of a call while its result is waited for, which may take minutes. */
function answerWith(
  result: Promise<Result>,
  reply: FastifyReply,
  key: ApiKeyActor,
  world: CallWorld,
): void {
  const fail = (error: unknown) => void reply.send(error)
  const send = (result: Result) => {
    try {
      if (result.count !== undefined) world.delivered(key, result.count)
      reply.type('application/json').send(envelope(result))
    } catch (error) {
      fail(error)
    }
  }
  result.then(send, fail)
}

/** Text that is JSON already goes out as it is. */
const envelope = ({ json, description }: Result): string =>
  `{"ok":true,"result":${json}${description ? `,"description":${JSON.stringify(description)}` : ''}}`
