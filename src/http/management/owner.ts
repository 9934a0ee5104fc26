/** The user who makes a request, and the record that its path names. These routes run only after an authenticating hook. */
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'

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

export function userOf(request: FastifyRequest): number {
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
