/** What the hooks record of a request, and what they must not. */
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { metricsRoute } from '../../src/http/health.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { observedServer } from './observability-rig.ts'

const secret = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ'
const jwt = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl'
const phone = '989121234567'
const code = '739154'
const newest = 'select * from request_log order by at desc, id desc'

t.test('a management call is recorded by verb and route pattern', async (t) => {
  const { app, journal, database, authenticate } = await observedServer(t)
  app.post('/api_keys/:id/rotate', { onRequest: authenticate }, async () => ({ ok: true }))
  const reply = await app.inject({
    method: 'POST',
    url: '/api_keys/7/rotate?token=canary',
    headers: { 'x-user': '3', 'user-agent': 'curl/8' },
    payload: { a: 1 },
  })
  await journal.flush()
  const [row] = await database.query(newest)
  t.match(row, {
    request_id: reply.headers['x-request-id'],
    user_id: 3,
    api_key_id: null,
    credential_id: null,
    method: 'POST /api_keys/:id/rotate',
    status: 200,
    error_code: null,
    description: null,
    request_bytes: 7,
    response_bytes: 11,
    ip: '127.0.0.1',
    user_agent: 'curl/8',
  })
})

t.test('a bot call is recorded by its method, with what the route knew', async (t) => {
  const { app, journal, database, metrics } = await observedServer(t)
  app.post('/bot:api_key/:method', async ({ audit }) => {
    Object.assign(audit, { userId: 3, apiKeyId: 5, credentialId: 8, method: 'sendMessage' })
    throw failed('bad_request', 'chat not found')
  })
  await app.inject({ method: 'POST', url: `/bot123456789:${secret}/SENDMESSAGE` })
  await journal.flush()
  const [row] = await database.query(newest)
  t.match(row, {
    user_id: 3,
    api_key_id: 5,
    credential_id: 8,
    method: 'sendMessage',
    status: 400,
    error_code: 400,
    description: 'Bad Request: chat not found',
  })
  const text = await metrics.text()
  t.match(text, 'route="/bot:api_key/:method",status="4xx"} 1')
  t.match(text, 'chapar_bot_method_duration_seconds_count{method="sendMessage"} 1')
})

t.test('refusals before the route are recorded, unknown paths only measured', async (t) => {
  const { app, journal, database, metrics } = await observedServer(t)
  await app.inject('/user/usage')
  await app.inject('/wp-login.php')
  await journal.flush()
  const rows = await database.query(newest)
  t.equal(rows.length, 1)
  t.match(rows[0], { method: 'GET /user/usage', user_id: null, error_code: 401 })
  t.match(await metrics.text(), 'route="unmatched",status="4xx"} 1')
})

t.test('a client that hangs up is recorded once, as gone', async (t) => {
  const { app, journal, database } = await observedServer(t)
  const ended = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  app.get('/slow', async (request, reply) => {
    reply.raw.once('close', () => ended.resolve())
    arrived.resolve()
    await ended.promise
    return { request: request.id }
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const request = httpRequest({ port, path: '/slow' }).on('error', () => undefined)
  request.end()
  await arrived.promise
  request.destroy()
  await ended.promise
  await app.close()
  await journal.flush()
  const rows = await database.query(newest)
  t.equal(rows.length, 1)
  t.match(rows[0], { method: 'GET /slow', status: 499, error_code: 499 })
})

t.test('no secret of a request reaches the tables, the log or the metrics', async (t) => {
  const lines: string[] = []
  const loggerInstance = createLogger({
    level: 'trace',
    destination: { write: (line) => lines.push(line) },
  })
  const { app, journal, database, metrics } = await observedServer(t, { loggerInstance })
  await app.register(metricsRoute, { metrics, isPrivate: true })
  app.post('/bot:api_key/:method', async (request) => {
    request.audit.userId = 1
    request.log.info({ req: request, body: request.body, headers: request.headers }, request.url)
    throw failed('bad_request', `cannot ${request.url} for +${phone}, the code is ${code}`)
  })
  app.post('/auth/login', async (request) => {
    throw new Error(
      `${request.url} ${JSON.stringify(request.body)} ${JSON.stringify(request.headers)}`,
    )
  })
  const headers = {
    authorization: `Bearer ${jwt}`,
    cookie: `session=${jwt}`,
    'user-agent': `bot/1 (/bot123456789:${secret}/)`,
    referer: `https://example.org/bot123456789:${secret}/getMe`,
  }
  const payload = { phone: `+${phone}`, otp: code, token: secret }
  for (const url of [
    `/bot123456789:${secret}/getMe?phone=%2B${phone}&otp=${code}&token=${jwt}`,
    `/bot123456789%3A${secret}/getMe`,
    `/auth/login?otp=${code}`,
    `/unknown/bot123456789:${secret}/getMe?authorization=${jwt}`,
  ]) {
    await app.inject({ method: 'POST', url, headers, payload })
  }
  await journal.flush()
  const rows = await database.query<{ text: string }>(
    'select r::text as text from request_log r union all select u::text from usage_hour u',
  )
  t.ok(rows.length > 3)
  t.ok(lines.length > 3)
  const metricsText = (await app.inject('/metrics')).body
  const places = { rows: rows.map((row) => row.text).join('\n'), log: lines.join(''), metricsText }
  for (const [place, text] of Object.entries(places)) {
    for (const canary of [secret, jwt, 'c2lnbmF0dXJl', phone, code]) {
      t.notMatch(text, canary, `${place}: ${canary}`)
    }
  }
  for (const line of lines) t.ok(JSON.parse(line))
})
