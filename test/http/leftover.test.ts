/** Bodies that are refused before their end: what is left of them is read away, within bounds. */
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createServer, type ServerOptions } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { until } from '../support/client.ts'

const nowhere = { journal: { record() {} }, metrics: { answered() {}, botCalled() {} } }

/** A client that sends its body in parts, and what it has seen. */
async function client(limits: NonNullable<ServerOptions['limits']>) {
  const logger = createLogger({ level: 'silent' })
  const app = await createServer({ logger, requestLog: nowhere, trustProxy: false, limits })
  t.teardown(() => app.close())
  app.get('/name', async () => ({ ok: true }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const seen = { text: '', isClosed: false }
  socket.on('data', (bytes) => {
    seen.text += bytes
  })
  socket
    .on('error', () => undefined)
    .once('close', () => {
      seen.isClosed = true
    })
  await once(socket, 'connect')
  const begin = (length: number) =>
    socket.write(`POST /nothing HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\nx`)
  const name = () => socket.write('GET /name HTTP/1.1\r\nhost: x\r\n\r\n')
  const answers = () => [...seen.text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)
  return { socket, seen, begin, name, answers }
}

t.test('the next request is served behind the rest of a refused one', async (t) => {
  const { socket, begin, name, answers } = await client({})
  begin(3)
  await until(() => answers().length === 1)
  socket.write('x')
  await pause(50)
  socket.write('x')
  name()
  await until(() => answers().length === 2)
  t.strictSame(answers(), ['404', '200'])
})

t.test('a rest that is too long ends the connection, with no second answer', async (t) => {
  const { socket, seen, begin, answers } = await client({ leftoverBytes: 100_000 })
  begin(1_000_000)
  await until(() => answers().length === 1)
  socket.write(Buffer.alloc(200_000, 'x'))
  await until(() => seen.isClosed)
  t.strictSame(answers(), ['404'])
})

t.test('so does one that does not come', async (t) => {
  const { seen, begin, answers } = await client({ leftoverTimeout: 200 })
  begin(1_000)
  await until(() => seen.isClosed)
  t.strictSame(answers(), ['404'])
})

t.test('one that is late or unreadable is no request of its own', async (t) => {
  const short = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 50 }
  const late = await client(short)
  late.begin(1_000)
  await until(() => late.seen.isClosed)
  t.strictSame(late.answers(), ['404'])

  const { socket, seen, answers } = await client({})
  socket.write('POST /nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n')
  await until(() => answers().length === 1)
  socket.write('no length\r\n')
  await until(() => seen.isClosed)
  t.strictSame(answers(), ['404'])
})
