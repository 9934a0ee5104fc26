/** A server in a process of its own: thousands of connections to it must not use up the test's own. */
import type { AddressInfo } from 'node:net'
import { createServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'

const { headersTimeout, requestTimeout, maxConnections } = JSON.parse(process.argv[2] ?? '{}')

const app = await createServer({
  logger: createLogger({ level: 'silent' }),
  requestLog: {
    journal: { record: () => undefined },
    metrics: { answered: () => undefined, botCalled: () => undefined },
  },
  trustProxy: false,
  limits: { headersTimeout, requestTimeout, maxConnections, connectionsCheckingInterval: 500 },
})
app.get('/name', async () => ({ ok: true }))
app.post('/echo', async ({ body }) => ({ body }))
await app.listen({ host: '127.0.0.1', port: 0 })
// A test that is cut short leaves nothing running.
process.once('disconnect', () => process.exit())
process.send?.((app.server.address() as AddressInfo).port)
