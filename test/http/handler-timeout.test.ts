/** Handlers that never come to an end, and those that may take as long as they like. */
import t from 'tap'
import { createServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { refused } from '../service/scene.ts'

const LIMIT_MS = 200

const app = await createServer({
  logger: createLogger({ level: 'silent' }),
  requestLog: {
    journal: { record: () => undefined },
    metrics: { answered: () => undefined, botCalled: () => undefined },
  },
  trustProxy: false,
  limits: { handlerTimeout: LIMIT_MS },
})
t.teardown(() => app.close())

const slowly = async () => {
  await new Promise((resolve) => setTimeout(resolve, 5 * LIMIT_MS))
  return { ok: true }
}
app.route({ method: ['GET', 'POST'], url: '/hangs', handler: () => new Promise(() => undefined) })
app.get('/bot:token/*', slowly)
app.get('/stream', (_, reply) => {
  reply.hijack()
  reply.raw.writeHead(200).write('begun')
  setTimeout(() => reply.raw.end(' and ended'), 5 * LIMIT_MS)
})
const address = await app.listen({ host: '127.0.0.1', port: 0 })

t.test('an answer that never comes is 503 in the envelope', async (t) => {
  const answer = await fetch(`${address}/hangs`)
  const found = { status: answer.status, body: await answer.json() }
  t.match(found, refused(503, 'Service Unavailable'))
  t.equal(answer.headers.get('retry-after'), '1')
})

t.test('one that may make something is not to be repeated unseen', async (t) => {
  const body = JSON.stringify({ a: 1 })
  const headers = { 'content-type': 'application/json' }
  for (const more of [{}, { headers, body }]) {
    const answer = await fetch(`${address}/hangs`, { method: 'POST', ...more })
    const found = { status: answer.status, body: await answer.json() }
    t.match(found, refused(504, 'Gateway Timeout: the request took too long'))
    t.equal(answer.headers.get('retry-after'), null)
  }
})

t.test('calls of the bot API and streams have limits of their own', async (t) => {
  const answer = await fetch(`${address}/bot1/getUpdates`)
  t.same(await answer.json(), { ok: true })
  const stream = await fetch(`${address}/stream`)
  t.equal(await stream.text(), 'begun and ended')
})

t.test('routes take as long to come up as a busy start makes them', async (t) => {
  t.equal(app.initialConfig.pluginTimeout, 0)
})
