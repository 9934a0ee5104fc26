/** GET /user/usage. */
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { requestRecord } from '../observability/journal-rig.ts'
import { observedServer } from './observability-rig.ts'

const hourMs = 3_600_000
const iso = (at: number) => new Date(at).toISOString()

async function addKeys(database: Database, values: string) {
  await database.query('alter table api_key disable trigger all')
  await database.query(
    `insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
     values ${values}`,
  )
}

t.test('totals and a series without holes, hour by hour', async (t) => {
  const { journal, ask } = await observedServer(t)
  const now = Date.now()
  const hour = now - (now % hourMs)
  journal.record(requestRecord({ at: hour }))
  journal.record(requestRecord({ at: hour, method: 'getMe', status: 401, errorCode: 401 }))
  journal.record(requestRecord({ at: hour - 2 * hourMs, status: 400, errorCode: 400 }))
  journal.record(requestRecord({ userId: 2 }))
  await journal.flush()
  const query = `from=${iso(hour - 2 * hourMs + 1)}&to=${iso(hour + 1)}`
  const { status, body } = await ask(`/user/usage?${query}`)
  t.equal(status, 200)
  const { totals, series, ...range } = body.result
  t.strictSame(range, { from: iso(hour - 2 * hourMs), to: iso(hour + hourMs), step: 'hour' })
  t.strictSame(totals, {
    requests: 3,
    bot_requests: 3,
    management_requests: 0,
    requests_by_method: { sendMessage: 2, getMe: 1 },
    errors: 2,
    errors_by_code: { 400: 1, 401: 1 },
    bot_errors: 2,
    updates_received: 0,
    updates_delivered: 0,
    webhook_attempts: 0,
    webhook_failures: 0,
    bytes_in: 30,
    bytes_out: 60,
  })
  t.match(series, [
    { at: iso(hour - 2 * hourMs), requests: 1, errors_by_code: { 400: 1 } },
    { at: iso(hour - hourMs), requests: 0, bytes_in: 0 },
    { at: iso(hour), requests: 2, requests_by_method: { sendMessage: 1, getMe: 1 } },
  ])
  t.equal(series.length, 3)
})

t.test('what bots are answered with is told apart from what the panel is', async (t) => {
  const { journal, ask } = await observedServer(t)
  const codes = [
    ['getMe', 429],
    ['unknown method', 404],
    ['GET /user', 401],
    ['GET /user', 429],
  ] as const
  for (const [method, errorCode] of codes) {
    journal.record(requestRecord({ method, status: errorCode, errorCode }))
  }
  await journal.flush()
  const { totals } = (await ask('/user/usage')).body.result
  t.match(totals, { bot_requests: 2, management_requests: 2, errors: 4, bot_errors: 2 })
  t.strictSame(totals.errors_by_code, { 401: 1, 404: 1, 429: 2 }, 'of both')
})

t.test('figures of many flushes and of several sources add up', async (t) => {
  const { journal, ask } = await observedServer(t)
  for (let i = 0; i < 3; i++) {
    journal.record(requestRecord())
    journal.count({ userId: 1, credentialId: 10 }, { updatesReceived: 4 })
    journal.count({ userId: 1, credentialId: 10, apiKeyId: 100_001 }, { updatesDelivered: 3 })
    await journal.flush()
  }
  const { totals } = (await ask('/user/usage')).body.result
  t.match(totals, { requests: 3, updates_received: 12, updates_delivered: 9, bytes_in: 30 })
})

t.test('filters narrow by credential and by key', async (t) => {
  const { journal, ask, database } = await observedServer(t)
  await addKeys(database, "(1, 1, 1, 'one', '{}', '', '', 0), (2, 1, 1, 'two', '{}', '', '', 0)")
  journal.record(requestRecord({ credentialId: 1, apiKeyId: 1 }))
  journal.record(requestRecord({ credentialId: 1, apiKeyId: 2 }))
  journal.record(requestRecord({ credentialId: null, apiKeyId: null, method: 'GET /user' }))
  await journal.flush()
  const requests = async (query: string) =>
    (await ask(`/user/usage?${query}`)).body.result.totals.requests
  t.equal(await requests(''), 3)
  t.equal(await requests('credential_id=1'), 2)
  t.equal(await requests('api_key_id=2'), 1)
  t.equal(await requests('credential_id=2'), 0)
  t.equal(await requests('credential_id=1&step=day'), 2)
})

t.test('days start at midnight UTC, whatever the database thinks', async (t) => {
  const { database, ask } = await observedServer(t)
  await database.query(
    `insert into usage_total values
       (1, '2026-03-01T23:00Z', 'request', 'getMe', 5),
       (1, '2026-03-02T00:00Z', 'request', 'getMe', 7)`,
  )
  const { result } = (
    await ask('/user/usage?step=day&from=2026-03-01T05:00:00Z&to=2026-03-02T05:00:00Z')
  ).body
  t.match(result.series, [
    { at: '2026-03-01T00:00:00.000Z', requests: 5 },
    { at: '2026-03-02T00:00:00.000Z', requests: 7 },
  ])
})

t.test('without a range: the last day by hours, the last month by days', async (t) => {
  const { ask } = await observedServer(t)
  const points = async (query: string) =>
    (await ask(`/user/usage?${query}`)).body.result.series.length
  t.equal(await points(''), 24)
  t.equal(await points('step=day'), 30)
})

t.test('without sign-in there is nothing to see', async (t) => {
  const { app } = await observedServer(t)
  const reply = await app.inject('/user/usage')
  t.equal(reply.statusCode, 401)
  t.equal(reply.json().description, 'Unauthorized')
})

t.test('bad input is refused by name', async (t) => {
  const { ask } = await observedServer(t)
  const refused = {
    'step=week': /field "step"/,
    'from=yesterday': /field "from"/,
    'to=2026-13-01T00:00:00Z': /field "to"/,
    'from=1998-12-31T23:59:60Z': /field "from" must be a time/,
    'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z': /field "from" must be before/,
    'from=0001-01-01T00:00:00Z': /field "from" must be at most 744 hours/,
    'step=day&from=2020-01-01T00:00:00Z': /field "from" must be at most 366 days/,
    'credential_id=-1': /field "credential_id"/,
    'api_key_id=99999999999999999999': /field "api_key_id"/,
  }
  for (const [query, description] of Object.entries(refused)) {
    const { status, body } = await ask(`/user/usage?${query}`)
    t.equal(status, 400, query)
    t.match(body.description, description)
  }
})

t.test('hours are refused where only days are kept, and days are answered there', async (t) => {
  const { ask: read } = await observedServer(t)
  const dayMs = 24 * hourMs
  const now = Date.now()
  const kept = now - (now % dayMs) - 35 * dayMs
  const ask = (from: number, step: string) =>
    read(`/user/usage?from=${iso(from)}&to=${iso(from + dayMs)}&step=${step}`)
  const refused = await ask(kept - hourMs, 'hour')
  t.equal(refused.status, 400)
  const why = `field "step" must be "day" before ${iso(kept)}: hours are kept for 35 days`
  t.equal(refused.body.description, `Bad Request: ${why}`)
  t.equal((await ask(kept, 'hour')).body.result.series.length, 24)
  t.equal((await ask(kept - 300 * dayMs, 'day')).body.result.series.length, 1)
})

t.test('calls of bots are told from those of the management API', async (t) => {
  const { journal, ask } = await observedServer(t)
  const methods = ['sendMessage', 'file', 'unknown method', 'GET /user', 'DELETE /api_keys/:id']
  for (const method of methods) journal.record(requestRecord({ method }))
  await journal.flush()
  const { totals } = (await ask('/user/usage')).body.result
  t.match(totals, { requests: 5, bot_requests: 3, management_requests: 2 })
})

t.test('of one key, what its account received counts, too', async (t) => {
  const { journal, ask, database } = await observedServer(t)
  await addKeys(
    database,
    "(100001, 1, 10, 'one', '{}', '', '', 0), (100002, 2, 10, 'of another', '{}', '', '', 0)",
  )
  journal.count({ userId: 1, credentialId: 10 }, { updatesReceived: 4 })
  journal.count({ userId: 1, credentialId: 11 }, { updatesReceived: 5 })
  journal.count({ userId: 1, credentialId: 10, apiKeyId: 100_001 }, { updatesDelivered: 3 })
  await journal.flush()
  const figures = async (query: string) => (await ask(`/user/usage?${query}`)).body.result.totals
  const own = { updates_received: 4, updates_delivered: 3 }
  t.match(await figures('api_key_id=100001'), own)
  t.match(await figures('api_key_id=100001&credential_id=11'), {
    updates_received: 0,
    updates_delivered: 0,
  })
  t.match(await figures('api_key_id=100002'), { updates_received: 0 }, "another user's")
})

t.test('a method that does not exist is a call of a bot under one name', async (t) => {
  const { journal, ask, app, authenticate } = await observedServer(t)
  app.post('/bot:token/*', { onRequest: authenticate }, async (_, reply) =>
    reply.code(404).send({}),
  )
  await app.inject({ method: 'POST', url: '/bot1:x/sendNothing', headers: { 'x-user': '1' } })
  await journal.flush()
  const { totals } = (await ask('/user/usage')).body.result
  t.match(totals, { bot_requests: 1, requests_by_method: { 'unknown method': 1 } })
  const { items } = (await ask('/user/logs/api-requests')).body.result
  t.equal(items[0].method, 'unknown method')
})
