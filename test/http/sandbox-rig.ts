/** The routes of the sandbox on a server, with everybody let in who says so. */
import type { Test } from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { sandboxRoutes } from '../../src/http/sandbox/routes.ts'
import { validators } from '../../src/http/validation.ts'
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts'
import { ownedSandbox } from '../platforms/sandbox/owned.ts'
import { testDatabase } from '../support/database.ts'
import { fileDesk, fileOwner } from '../support/files.ts'
import { quietLogger } from '../support/logger.ts'
import { bareServer } from './observability-rig.ts'

export async function sandboxServer(t: Test, limits?: SandboxOptions['limits']) {
  const { database: db } = await testDatabase(t)
  const media = await fileDesk(t, db)
  const user = { id: await fileOwner(db) }
  const sandbox = ownedSandbox(
    { db, logger: quietLogger, media, ...(limits && { limits }) },
    user.id,
  )
  const app = bareServer(t)
  app.setValidatorCompiler(validators())
  await app.register(sandboxRoutes, {
    sandbox,
    authenticate: async (request) => {
      if (request.headers['x-user'] !== '1') throw failed('unauthorized')
      Object.assign(request, { user })
    },
  })

  /** Asks as somebody who is let in: `ask('POST /sandbox/people', {…})`. */
  const ask = async (line: string, payload?: object, user = '1') => {
    const [method, url] = line.split(' ') as ['GET' | 'POST', string]
    const headers = { 'x-user': user }
    const reply = await app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: reply.statusCode, body: reply.json() }
  }
  const result = async (line: string, payload?: object) => {
    const { status, body } = await ask(line, payload)
    if (status !== 200) throw new Error(`${line}: ${JSON.stringify(body)}`)
    return body.result
  }
  const person = async (first_name: string, more: object = {}) =>
    result('POST /sandbox/people', { first_name, ...more })

  return { app, sandbox, db, ask, result, person }
}
