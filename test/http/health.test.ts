/** GET /health/live, /health/ready and /metrics. */
import t, { type Test } from 'tap'
import type { Queryable } from '../../src/database/database.ts'
import { createReadiness, healthRoutes, metricsRoute } from '../../src/http/health.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { bareServer } from './observability-rig.ts'

async function probed(t: Test, database: Queryable, withinMs = 100) {
  const readiness = createReadiness({ database, logger: quietLogger, withinMs })
  const app = bareServer(t)
  await app.register(healthRoutes, { readiness })
  return { app, readiness }
}

const never = () => new Promise<never>(() => undefined)

const notReady = (reason: string) => ({
  ok: false,
  error_code: 503,
  description: `Service Unavailable: ${reason}`,
  parameters: { retry_after: 1 },
})

t.test('a node whose database answers is live and ready', async (t) => {
  // A first connection on a busy machine takes its time.
  const { app } = await probed(t, (await testDatabase(t)).database, 5_000)
  const live = await app.inject('/health/live')
  t.strictSame(live.json(), { ok: true, result: { status: 'live' } })
  const ready = await app.inject('/health/ready')
  t.equal(ready.statusCode, 200)
  t.strictSame(ready.json(), { ok: true, result: { status: 'ready' } })
})

t.test('a database that refuses or stays silent makes it unready, not dead', async (t) => {
  const refusing = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1'))
  for (const query of [refusing, never]) {
    const { app } = await probed(t, { query })
    const ready = await app.inject('/health/ready')
    t.equal(ready.statusCode, 503)
    t.equal(ready.headers['retry-after'], '1')
    t.strictSame(ready.json(), notReady('the database does not answer'))
    t.equal((await app.inject('/health/live')).statusCode, 200)
  }
})

t.test('it is ready again as soon as the database is', async (t) => {
  let isAway = true
  const query = async () => {
    if (isAway) throw new Error('away')
    return []
  }
  const { app } = await probed(t, { query })
  t.equal((await app.inject('/health/ready')).statusCode, 503)
  isAway = false
  t.equal((await app.inject('/health/ready')).statusCode, 200)
})

t.test('probes at the same time ask the database once', async (t) => {
  let asked = 0
  const query = () => {
    asked++
    return never()
  }
  const { app } = await probed(t, { query })
  const replies = await Promise.all([1, 2, 3].map(() => app.inject('/health/ready')))
  t.strictSame(
    replies.map((reply) => reply.statusCode),
    [503, 503, 503],
  )
  t.equal(asked, 1)
})

t.test('each part of the service has a say, and a broken check is a no', async (t) => {
  const { app, readiness } = await probed(t, { query: async () => [] })
  let reason: string | null = 'the credentials are being restored'
  readiness.addCheck(() => reason)
  t.strictSame((await app.inject('/health/ready')).json(), notReady(reason))
  reason = null
  t.equal((await app.inject('/health/ready')).statusCode, 200)
  readiness.addCheck(() => {
    throw new Error('broken')
  })
  t.strictSame((await app.inject('/health/ready')).json(), notReady('a readiness check failed'))
})

t.test('a draining node is live and asks for no more requests', async (t) => {
  const { app, readiness } = await probed(t, { query: async () => [] })
  readiness.drain()
  t.strictSame((await app.inject('/health/ready')).json(), notReady('the service is shutting down'))
  t.equal((await app.inject('/health/live')).statusCode, 200)
})

t.test('metrics need the token', async (t) => {
  const app = bareServer(t)
  await app.register(metricsRoute, { metrics: createMetrics(), token: 'right' })
  for (const authorization of [undefined, 'right', 'Bearer wrong', 'Bearer ', 'Bearer right ']) {
    const headers = authorization === undefined ? {} : { authorization }
    const reply = await app.inject({ url: '/metrics', headers })
    t.equal(reply.statusCode, 401, String(authorization))
    t.equal(reply.json().description, 'Unauthorized')
  }
  const reply = await app.inject({ url: '/metrics', headers: { authorization: 'Bearer right' } })
  t.equal(reply.statusCode, 200)
  t.match(reply.headers['content-type'], /^text\/plain; version=/)
  t.match(reply.body, '# TYPE chapar_http_request_duration_seconds histogram')
})

t.test('without a token there are metrics on a private port only', async (t) => {
  const shared = bareServer(t)
  await shared.register(metricsRoute, { metrics: createMetrics(), token: '' })
  t.equal((await shared.inject('/metrics')).statusCode, 404)
  const own = bareServer(t)
  await own.register(metricsRoute, { metrics: createMetrics(), isPrivate: true })
  t.equal((await own.inject('/metrics')).statusCode, 200)
})
