/** The service as a node: one process on its database is one node that is up, and a stop is seen. */
import t from 'tap'
import { startService } from '../support/service.ts'

const METRICS_TOKEN = 'a-token-of-operators'

t.test('GET /nodes shows the one node of the service, and the one before a restart', async (t) => {
  const service = await startService(t, { env: { METRICS_TOKEN, NODE_NAME: 'only' } })
  const nodes = async (query = '') => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    const response = await fetch(`${service.url}/nodes${query}`, { headers })
    const { result } = (await response.json()) as { result: Record<string, unknown>[] }
    return result
  }
  const [node, ...others] = await nodes()
  t.match(node, { name: 'only', state: 'up', self: true, connected: true, ended_at: null })
  t.ok(Number(node?.beat_age_seconds) < 3)
  t.match(node?.schema, /^\d{4}-/)
  t.same(others, [])
  await service.restart()
  const all = await nodes('?ended=true')
  t.match(all, [
    { name: 'only', state: 'up', self: true },
    { incarnation: node?.incarnation, state: 'left', self: false, connected: false },
  ])
  t.equal(all.length, 2)
})

t.test('the public port has no such route without a token', async (t) => {
  const service = await startService(t)
  t.equal((await fetch(`${service.url}/nodes`)).status, 404)
})
