/** The command that voids every access token at once. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { ask, until } from '../support/client.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)
const client = await service.client()

t.test('tokens end, sign-ins go on', async (t) => {
  t.match(await client.ask('GET', '/user'), { status: 200 })
  const env = { ...process.env, DATABASE_URL: service.databaseUrl }
  const { stdout } = await promisify(execFile)('node', ['src/operator/drop-signing-keys.ts'], {
    env,
  })
  t.match(stdout, /^[1-9]\d* signing keys dropped/)
  // Other processes look again after five seconds.
  await until(async () => (await client.ask('GET', '/user')).status === 401)
  const { body } = await ask(service.url, 'POST', '/auth/refresh', {
    refresh_token: client.refreshToken,
  })
  const authorization = `Bearer ${body.result.access_token}`
  t.match(await ask(service.url, 'GET', '/user', undefined, { authorization }), { status: 200 })
})
