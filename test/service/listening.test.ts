/** A start: the service listens first, and says what it can already do while the rest follows. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { startGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { ask, until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { freePort } from '../support/ports.ts'
import { joinTestServer } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { linkedAccount } from './scene.ts'

const logger = createLogger({ level: 'silent' })
const print = () => undefined
const notReady = (why: string) => ({
  status: 503,
  body: { ok: false, description: `Service Unavailable: ${why}`, parameters: { retry_after: 1 } },
})

/** Begins a start, whose end is not waited for. */
async function begin(
  t: Test,
  databaseUrl: string | Promise<string>,
  env: Readonly<Record<string, string>>,
) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const config = readConfig({
    HOST: '127.0.0.1',
    PORT: `${port}`,
    DATA_DIR: t.testdir(),
    LOG_LEVEL: 'fatal',
    DRAIN_SECONDS: '0',
    ...env,
  })
  let hasBegun = false
  const began = performance.now()
  const starting = startGateway({ config, databaseUrl, logger, print }).then((gateway) => {
    hasBegun = true
    return gateway
  })
  t.teardown(async () => (await starting.catch(() => undefined))?.stop({ atOnce: true }))
  const get = (path: string) => ask(url, 'GET', path)
  await until(async () => (await get('/health/live').catch(() => undefined))?.status === 200)
  const listensAfterMs = performance.now() - began
  return { get, listensAfterMs, starting, hasBegun: () => hasBegun }
}

/** Holds what a statement has locked, until it is let go. */
async function held(t: Test, url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let isOver = false
  const letGo = async () => {
    if (isOver) return
    isOver = true
    await client.end()
  }
  t.teardown(letGo)
  await client.query('begin')
  await client.query(statement)
  return letGo
}

t.test('while tables are migrated, calls wait a while and learn when to come again', async (t) => {
  const server = await joinTestServer()
  const name = `chapar_test_listening_${process.pid}`
  await server.client.query(`create database ${name}`)
  t.teardown(async () => {
    await server.client.query(`drop database ${name} with (force)`)
    await server.client.end()
  })
  // Another node migrates.
  const letGo = await held(t, server.url(name), "select pg_advisory_lock(x'6d696772'::int)")
  const { get, starting, hasBegun } = await begin(t, server.url(name), { HOLD_MS: '300' })

  t.match(await get('/health/live'), {
    status: 200,
    body: { ok: true, result: { status: 'live' } },
  })
  t.match(await get('/health/ready'), notReady('the service is starting'))
  const asked = performance.now()
  t.match(await get('/bot1:secret/getMe'), notReady('the service is starting'))
  t.ok(performance.now() - asked >= 250, 'it waited in vain')
  const poll = await get('/bot1:secret/getUpdates?timeout=50')
  t.match(
    poll,
    { status: 200, body: { ok: true, result: { length: 0 } } },
    'a long poll just goes on',
  )
  t.equal(hasBegun(), false)

  await letGo()
  await starting
  t.match(await get('/health/ready'), { status: 200 })
  t.match(await get('/bot1:secret/getMe'), { status: 401 })
})

t.test('what comes before the routes are there is answered by them', async (t) => {
  const { url } = await testDatabase(t)
  const database = Promise.withResolvers<string>()
  const { get, starting, listensAfterMs } = await begin(t, database.promise, { HOLD_MS: '30000' })
  t.ok(listensAfterMs < 2_500, `it listened after ${Math.round(listensAfterMs)} ms`)
  const calls = Array.from({ length: 20 }, () => get('/bot1:secret/getMe'))
  await pause(100)
  database.resolve(url)
  for (const { status } of await Promise.all(calls)) t.equal(status, 401)
  await starting
})

t.test('a start that fails leaves no port taken and nobody waiting', async (t) => {
  const { url } = await testDatabase(t)
  const database = Promise.withResolvers<string>()
  const { get, starting } = await begin(t, database.promise, { HOLD_MS: '30000' })
  const call = get('/bot1:secret/getMe').catch((cause) => cause)
  await pause(100)
  const began = performance.now()
  database.reject(new Error(`no ${url}`))
  await t.rejects(starting, { message: `no ${url}` })
  t.ok((await call) instanceof Error, 'the connection was closed')
  t.ok(performance.now() - began < 5_000)
  await t.rejects(get('/health/live'))
})

t.test('it answers while its accounts are being taken over', async (t) => {
  if (process.env.TEST_NODES === '2') return t.pass('the other node has them meanwhile')
  const service = await startService(t)
  const { credentialId, key } = await linkedAccount(service, 'slowbot')
  const other = await linkedAccount(service, 'otherbot', '+14155550177')
  await service.gateway.stop()
  const { databaseUrl, dataDir } = service
  const row = `select from credential_log where credential_id = ${credentialId} for update`
  const letGo = await held(t, databaseUrl, row)
  const env = { DATA_DIR: dataDir, BASE_URL: 'http://chapar.test', HOLD_MS: '30000' }
  const { get, starting, hasBegun } = await begin(t, databaseUrl, env)

  t.match(
    await until(async () => {
      const ready = await get('/health/ready')
      return !ready.body.description.endsWith('the service is starting') && ready
    }),
    notReady('the accounts are being taken over'),
  )
  t.match(await get('/bot1:secret/getMe'), { status: 401 }, 'a wrong key is told at once')
  const me = await until(async () => {
    const answer = await get(`/bot${other.key}/getMe`)
    return answer.status === 200 && answer
  })
  t.match(me.body.result, { username: 'otherbot' })
  const slow = get(`/bot${key}/getMe`)
  t.equal(hasBegun(), false, 'all that before the accounts are there')

  await letGo()
  await starting
  t.match(await get('/health/ready'), { status: 200 })
  t.equal((await slow).status, 200, 'a call for one of them waited')
  t.match(await get(`/bot${key}/getMe`), { status: 200, body: { result: { username: 'slowbot' } } })
})
