/** The user who makes a request, and the record that its path names. These routes run only after an authenticating hook. */
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
} from 'fastify'
import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'
import { FairSemaphore } from '../../fair-semaphore.ts'
import { goneSignal } from '../gone-signal.ts'

export interface Authenticated {
  readonly authenticate: onRequestAsyncHookHandler
}

const security = [{ jwt: [] }, { pat: [] }]

/** Makes every route of this scope need a user, and documents it. Call it before the first route is added. */
export function forUsers(
  app: Pick<FastifyInstance, 'addHook'>,
  authenticate: onRequestAsyncHookHandler,
): void {
  app.addHook('onRequest', authenticate)
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, security }
  })
}

export function userOf(request: Pick<FastifyRequest, 'user'>): number {
  const id = request.user?.id
  if (id === undefined) throw failed('unauthorized')
  return id
}

/** The path parameter of routes about one record. */
export const IdParams = Type.Object({ id: Type.String({ maxLength: 20 }) })

/** The number of a path parameter. Text that is no number is answered like an unknown id. */
export function idOf(text: string): number {
  const id = Number(text)
  if (!/^\d{1,15}$/.test(text) || id === 0) throw failed('not_found')
  return id
}

/** Of this process, as the connections to the database are: of 20 or 8 these leave most to others. */
const searches = new FairSemaphore({ places: 4, placesPerUser: 2, waitingPerUser: 50 })
const BUSY_SECONDS = 5

/**
 * Work that may keep the database busy for seconds: users take turns, with two at once. A turn ends with the work, also where
 * the client has left before.
 */
export async function inTurn<Result>(
  request: Pick<FastifyRequest, 'user'>,
  reply: Pick<FastifyReply, 'raw' | 'sent'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const userId = userOf(request)
  if (searches.isFull(userId)) {
    throw failed('rate_limited', '', { retryAfterSeconds: BUSY_SECONDS })
  }
  const waiting = searches.take(userId, goneSignal(reply))
  if (waiting && !(await waiting)) throw failed('unavailable', 'the client has left')
  try {
    // The limit of time may have answered it while it waited.
    if (reply.sent) throw failed('unavailable', 'it was answered meanwhile')
    return await work()
  } finally {
    searches.release(userId)
  }
}
