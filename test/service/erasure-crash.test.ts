/** An erasure that is cut off goes on by itself, and until it is done nobody signs in with the phone. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import pg from 'pg'
import t, { type Test } from 'tap'
import { ask, Client, until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'

const phone = '+14155550183'

/** The service as a process that can be killed. */
async function start(t: Test, env: NodeJS.ProcessEnv, codes: Map<string, string>) {
  const service = spawn(process.execPath, ['src/main.ts'], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', DRAIN_SECONDS: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => service.kill('SIGKILL'))
  const exit = once(service, 'exit')
  const { promise: url, resolve } = Promise.withResolvers<string>()
  createInterface(service.stdout).on('line', (line) => {
    const [, to, code] = /for (\+\d+): (\d+)/.exec(line) ?? []
    if (to && code) codes.set(to, code)
    const [, address] = /Server listening at ([^"]+)/.exec(line) ?? []
    if (address) resolve(address)
  })
  return {
    url: await url,
    async kill() {
      service.kill('SIGKILL')
      await exit
    },
  }
}

t.test('killed before the last rows go, it ends with the next process', async (t) => {
  const { url: DATABASE_URL, database } = await testDatabase(t)
  const env = { DATABASE_URL, DATA_DIR: t.testdir(), LOG_LEVEL: 'info' }
  const codes = new Map<string, string>()
  const first = await start(t, env, codes)
  const client = await Client.signIn(first.url, phone, codes)
  const { user_id } = await client.result('GET', '/user')
  const owner = `user:${user_id}`
  const credentialId = await client.link(await client.person('Ada'))
  await client.key(credentialId)

  // Whoever holds the row of the user's own key keeps it from being destroyed, for two seconds at most.
  const holder = new pg.Client({ connectionString: DATABASE_URL })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('begin')
  await holder.query('select from data_key where owner = $1 for update', [owner])
  const answer = client.ask('DELETE', '/user').then(
    ({ status }) => status,
    () => 'cut off',
  )
  await until(async () => {
    const rows = await database.query('select from user_session where user_id = $1', [user_id])
    return rows.length === 0
  })
  await first.kill()
  t.equal(await answer, 'cut off')
  await holder.query('rollback')
  t.same(
    await database.query('select from app_user where id = $1 and erasing_at is not null', [
      user_id,
    ]),
    [{}],
    'what tells whose rows are left is still there',
  )

  const second = await start(t, env, codes)
  codes.clear()
  // The first code may have been sent a moment ago.
  await until(async () => (await ask(second.url, 'POST', '/auth/sendOtp', { phone })).body.ok)
  const otp = await until(() => codes.get(phone))
  const early = await ask(second.url, 'POST', '/auth/login', { phone, otp })
  t.match(early, {
    status: 503,
    body: { ok: false, error_code: 503, parameters: { retry_after: 60 } },
  })
  t.equal(
    early.body.description,
    'Service Unavailable: the account with this phone number is being erased',
  )
  t.equal(early.headers.get('retry-after'), '60')

  await until(
    async () =>
      (await database.query('select from app_user where id = $1', [user_id])).length === 0,
    60_000,
  )
  t.same(
    await database.query('select owner from data_key where owner = any ($1)', [
      [owner, `credential:${credentialId}`],
    ]),
    [],
  )
  const again = await Client.signIn(second.url, phone, codes)
  t.not((await again.result('GET', '/user')).user_id, user_id)
})
