/** The headers of every answer. */
import t from 'tap'
import { bareServer } from './observability-rig.ts'

t.test('every answer tells browsers to do nothing with it', async (t) => {
  const app = bareServer(t)
  app.get('/thing', async () => ({ ok: true }))
  app.get('/defect', async () => {
    throw new Error('defect')
  })
  for (const [url, status] of [
    ['/thing', 200],
    ['/nothing', 404],
    ['/defect', 500],
  ] as const) {
    const { headers, statusCode } = await app.inject(url)
    t.equal(statusCode, status)
    t.match(headers, {
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': /camera=\(\)/,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    t.notOk(headers.server ?? headers['x-powered-by'])
  }
})

t.test('a route may loosen what it must', async (t) => {
  const app = bareServer(t)
  app.get('/file', (_request, reply) => reply.header('content-security-policy', 'sandbox').send(''))
  t.equal((await app.inject('/file')).headers['content-security-policy'], 'sandbox')
})

t.test('each request has an id of its own, whatever the client says', async (t) => {
  const app = bareServer(t)
  app.get('/thing', async (request) => request.id)
  const ids = new Set<string>()
  for (let i = 0; i < 600; i++) {
    const reply = await app.inject({
      url: '/thing',
      headers: { 'x-request-id': 'mine', 'request-id': 'mine' },
    })
    t.match(reply.headers['x-request-id'], /^[\w-]{22}$/)
    t.equal(reply.body, reply.headers['x-request-id'])
    ids.add(reply.body)
  }
  t.equal(ids.size, 600)
  t.match((await app.inject('/nothing')).headers['x-request-id'], /^[\w-]{22}$/)
})

t.test('only answers over TLS ask for TLS', async (t) => {
  const app = bareServer(t, { trustProxy: '127.0.0.1' })
  app.get('/thing', async () => 'thing')
  t.notOk((await app.inject('/thing')).headers['strict-transport-security'])
  const reply = await app.inject({ url: '/thing', headers: { 'x-forwarded-proto': 'https' } })
  t.equal(reply.headers['strict-transport-security'], 'max-age=63072000; includeSubDomains')
})
