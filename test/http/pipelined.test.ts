/** Requests that a client sends at once over one connection: each of them hears when the connection has closed. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { onClosed } from '../../src/http/gone-signal.ts'
import { followAnswers } from '../../src/http/malformed-requests.ts'
import { until } from '../support/client.ts'

const server = createServer()
followAnswers(server)
const asked: { readonly url: string | undefined; readonly response: ServerResponse }[] = []
const closed: (string | undefined)[] = []
server.on('request', ({ url }, response) => {
  asked.push({ url, response })
  onClosed(response, () => closed.push(url))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
t.beforeEach(() => {
  asked.length = 0
  closed.length = 0
})

async function askFor(...paths: readonly string[]) {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => undefined).resume()
  for (const path of paths) client.write(`GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`)
  await until(() => asked.length === paths.length)
  return client
}

t.test('the client leaves while the first one waits', async (t) => {
  const client = await askFor('/1', '/2', '/3')
  client.destroy()
  await until(() => closed.length === 3)
  t.same([...closed].sort(), ['/1', '/2', '/3'])
  for (const { response } of asked) t.ok(response.destroyed)
})

t.test('each is answered in its turn, and closes once', async (t) => {
  const client = await askFor('/1', '/2', '/3')
  for (const { response } of asked.toReversed()) response.end('here')
  await until(() => closed.length === 3)
  t.same(closed, ['/1', '/2', '/3'])
  client.destroy()
  await once(client, 'close')
  t.equal(closed.length, 3)
})
