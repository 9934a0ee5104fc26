/** What an answer keeps while it is waited for, of which there may be many thousands. */
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { createServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'

const logger = createLogger({ level: 'silent' })

async function observed(t: Test) {
  const recorded = Promise.withResolvers<{ status: number; durationMs: number }>()
  const requestLog = {
    journal: { record: recorded.resolve },
    metrics: { answered() {}, botCalled() {} },
  }
  const app = await createServer({ logger, requestLog, trustProxy: false })
  t.teardown(() => app.close())
  const ask = async () => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const [response] = await once(request({ port, path: '/bot/asked' }).end(), 'response')
    response.resume()
    await once(response, 'end')
  }
  return { app, ask, recorded: recorded.promise }
}

t.test('the request log is the only one of ours that listens to an answer', async (t) => {
  const { app, ask, recorded } = await observed(t)
  const counts: Record<string, number> = {}
  app.get('/bot/asked', async (_, { raw }) => {
    for (const event of ['close', 'finish', 'error']) counts[event] = raw.listenerCount(event)
    return {}
  })
  await ask()
  t.same(counts, { close: 1, finish: 1, error: 1 }, 'Node.js listens to the finish')
  const { status, durationMs } = await recorded
  t.equal(status, 200)
  t.ok(durationMs > 0)
})

t.test('bytes after the end of an answer end nothing', async (t) => {
  const { app, ask, recorded } = await observed(t)
  app.get('/bot/asked', (_, reply) => {
    reply.hijack()
    reply.raw.end('{}')
    reply.raw.write('more')
  })
  await ask()
  t.match(await recorded, { status: 200 })
})
