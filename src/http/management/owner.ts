/** Whose request this is. The routes below are only reached through an authenticating hook. */
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { failed } from '../../../machines/model/failure.ts'

export interface Authenticated {
  readonly authenticate: onRequestAsyncHookHandler
}

const security = [{ jwt: [] }, { pat: [] }]

/** Every route of this scope needs a user, and its documentation says so. Call it before the first. */
export function forUsers(
  app: Pick<FastifyInstance, 'addHook'>,
  authenticate: onRequestAsyncHookHandler,
): void {
  app.addHook('onRequest', authenticate)
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, security }
  })
}

export function userOf(request: FastifyRequest): number {
  const id = request.user?.id
  if (id === undefined) throw failed('unauthorized')
  return id
}

/** The number of a path parameter; what is no number is nobody's resource. */
export function idOf(text: string): number {
  const id = Number(text)
  if (!/^\d{1,15}$/.test(text) || id === 0) throw failed('not_found')
  return id
}
