/** The account routes on a real server, and requests that are signed in. */
import type { InjectOptions } from 'fastify'
import type { Test } from 'tap'
import type { AccountsOptions } from '../../src/accounts/accounts.ts'
import { authRoutes } from '../../src/http/management/auth.ts'
import { tokenRoutes } from '../../src/http/management/tokens.ts'
import { userRoutes, userSessionRoutes } from '../../src/http/management/user.ts'
import { createServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { accountsRig } from './accounts.ts'

const nowhere = { journal: { record() {} }, metrics: { answered() {}, botCalled() {} } }

export async function accountsServer(
  t: Pick<Test, 'teardown'>,
  options?: Partial<AccountsOptions>,
) {
  const rig = await accountsRig(t, options)
  const logger = createLogger({ level: 'silent' })
  const app = await createServer({ logger, requestLog: nowhere, trustProxy: false })
  t.teardown(() => app.close())
  const { accounts } = rig
  await app.register(authRoutes, { accounts })
  await app.register(userRoutes, { accounts, staff: { roleOf: async () => undefined } })
  await app.register(userSessionRoutes, { accounts })
  await app.register(tokenRoutes, { accounts })

  async function call(request: InjectOptions, authorization?: string) {
    const headers = { ...request.headers, ...(authorization && { authorization }) }
    const reply = await app.inject({ ...request, headers })
    return { status: reply.statusCode, headers: reply.headers, body: reply.json() }
  }
  const post = (url: string, payload: object, authorization?: string) =>
    call({ method: 'POST', url, payload }, authorization)
  const get = (url: string, authorization?: string) => call({ url }, authorization)
  const del = (url: string, authorization?: string) =>
    call({ method: 'DELETE', url }, authorization)
  const signedIn = async (phone?: string) => {
    const session = await rig.signIn(phone)
    return { ...session, bearer: `Bearer ${session.accessToken}` }
  }
  return { ...rig, app, call, post, get, del, signedIn }
}

/** What a failure looks like. */
export const failure = (status: number, description: string | RegExp) => ({
  status,
  body: { ok: false, error_code: status, description },
})
