/** The user who makes a request, and the record that its path names. These routes run only after an authenticating hook. */
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
} from 'fastify'
import { Type } from 'typebox'
import { failed, invalidField } from '../../../machines/model/failure.ts'
import type { TokenScope } from '../../accounts/personal-tokens.ts'
import { FairSemaphore } from '../../fair-semaphore.ts'
import { isRange } from '../../security/addresses.ts'
import { goneSignal } from '../gone-signal.ts'
import { callerOf } from '../on-behalf.ts'

export interface Authenticated {
  readonly authenticate: onRequestAsyncHookHandler
}

const reading: readonly unknown[] = ['GET', 'HEAD']

/**
 * Makes every route of this scope need a user, and documents it. A personal access token needs `read` for what reads, and
 * `changes` for the rest, unless the `config` of a route says otherwise. Call it before the first route is added.
 */
export function forUsers(
  app: Pick<FastifyInstance, 'addHook'>,
  authenticate: onRequestAsyncHookHandler,
  changes?: TokenScope,
): void {
  app.addHook('onRequest', authenticate)
  app.addHook('onRoute', (route) => {
    const usual = [route.method].flat().every((verb) => reading.includes(verb)) ? 'read' : changes
    const scope = route.config?.scope ?? usual
    if (scope === undefined) throw new Error(`${route.url} declares no scope`)
    route.config = { ...route.config, scope }
    route.schema = { ...route.schema, security: [{ jwt: [] }, { pat: [scope] }] }
  })
}

export function userOf(request: Pick<FastifyRequest, 'user'>): number {
  const id = request.user?.id
  if (id === undefined) throw failed('unauthorized')
  return id
}

/** Of a list of addresses in a body: from where a key or a token may be used. */
export const GivenIp = Type.String({ minLength: 1, maxLength: 49 })
export const GIVEN_IPS = {
  maxItems: 50,
  description: 'Addresses and networks such as 192.0.2.0/24; empty: from anywhere',
}

/** Each once, in small letters. Rejects what is no address. */
export function rangesOf(given: readonly string[]): string[] {
  const ranges = given.map((range) => range.trim().toLowerCase())
  const wrong = ranges.findIndex((range) => !isRange(range))
  if (wrong === -1) return [...new Set(ranges)]
  const problem = 'must be an IP address or a network such as 192.0.2.0/24'
  throw invalidField(`allowed_ips.${wrong}`, problem, { reason: 'address_form' })
}

/** A path parameter that names a record. */
export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** The path parameter of routes about one record. */
export const IdParams = Type.Object({ id: Id })

/** Of this process, as the connections to the database are: of 20 or 8 these leave most to others. */
const searches = new FairSemaphore({ places: 4, placesPerUser: 2, waitingPerUser: 50 })
const BUSY_SECONDS = 5

/**
 * For work that may keep the database busy for seconds: users take turns, with two at once; one of the staff takes their own,
 * not that of the user they help. A turn ends with the work, also where the client has left before. What has begun an answer
 * waits for each further turn, however many others wait: it can no longer be refused.
 */
export function turnsOf(
  request: Pick<FastifyRequest, 'user'>,
  reply: Pick<FastifyReply, 'raw'>,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const userId = callerOf(request)
  const gone = goneSignal(reply)
  let isBegun = false
  return async (work) => {
    if (!isBegun && searches.isFull(userId)) {
      throw failed('rate_limited', '', { retryAfterSeconds: BUSY_SECONDS })
    }
    const waiting = searches.take(userId, gone)
    if (waiting && !(await waiting)) throw failed('unavailable', 'the client has left')
    isBegun = true
    try {
      return await work()
    } finally {
      searches.release(userId)
    }
  }
}

/** The pieces of a file, each made in a turn of its own: a client that reads slowly keeps none. */
export async function* piecesInTurn(
  request: Pick<FastifyRequest, 'user'>,
  reply: Pick<FastifyReply, 'raw'>,
  pieces: AsyncGenerator<string>,
): AsyncGenerator<string> {
  // Of an answer that is streamed, as many as Node.js takes for usual wait for its end already, and none of them is left.
  reply.raw.setMaxListeners(20)
  const turns = turnsOf(request, reply)
  try {
    for (;;) {
      const { value, done } = await turns(() => pieces.next())
      if (done) return
      yield value
    }
  } finally {
    await pieces.return(undefined)
  }
}

/** Does such work once, and answers with what it finds. */
export const inTurn = <Result>(
  request: Pick<FastifyRequest, 'user'>,
  reply: Pick<FastifyReply, 'raw' | 'sent'>,
  work: () => Promise<Result>,
): Promise<Result> =>
  turnsOf(
    request,
    reply,
  )(async () => {
    // The limit of time may have answered it while it waited.
    if (reply.sent) throw failed('unavailable', 'it was answered meanwhile')
    return await work()
  })
