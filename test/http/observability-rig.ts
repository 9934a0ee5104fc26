/** A server with the observing hooks, a user who is let in by a header, and a database behind it. */
import fastify, { type FastifyServerOptions, type onRequestAsyncHookHandler } from 'fastify'
import type { Test } from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { replyWithFailure } from '../../src/http/failure.ts'
import { requestIds, setSecurityHeaders } from '../../src/http/headers.ts'
import { logRoutes, usageRoutes } from '../../src/http/management/usage.ts'
import { recordRequests } from '../../src/http/request-log.ts'
import { refuseHugeNumbers } from '../../src/http/validation.ts'
import { journalRig } from '../observability/journal-rig.ts'

/** Lets `x-user: 7` in as user 7. */
const authenticate: onRequestAsyncHookHandler = async (request) => {
  const id = Number(request.headers['x-user'])
  if (!id) throw failed('unauthorized')
  request.audit.userId = id
  Object.assign(request, { user: { id } })
}

export function bareServer(t: Pick<Test, 'teardown'>, options: FastifyServerOptions = {}) {
  const app = fastify({ ...requestIds, ...options })
  t.teardown(() => app.close())
  app.setErrorHandler(replyWithFailure)
  app.setNotFoundHandler(() => {
    throw failed('not_found')
  })
  setSecurityHeaders(app)
  app.addHook('preHandler', refuseHugeNumbers)
  return app
}

/** Of these requests nothing is kept. */
export const noVault = {
  open: () => Promise.reject(new Error('there is nothing to open')),
}

export async function observedServer(t: Pick<Test, 'teardown'>, options?: FastifyServerOptions) {
  const rig = await journalRig(t)
  const app = bareServer(t, options)
  recordRequests(app, rig)
  const { database } = rig
  await app.register(logRoutes, { database, authenticate, vault: noVault, callLog: undefined })
  await app.register(usageRoutes, { database: rig.database, authenticate })

  /** Asks as a user, and unwraps the envelope. */
  const ask = async (url: string, user = 1) => {
    const reply = await app.inject({ url, headers: { 'x-user': String(user) } })
    return { status: reply.statusCode, body: reply.json() }
  }
  return { ...rig, app, ask, authenticate }
}
