/** A client that leaves is nobody's defect: it is told at debug, and as 499; a defect is told as one all the same. */
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { createServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'
import type { RequestRecord } from '../../src/observability/usage.ts'
import { until } from '../support/client.ts'

const lines: { level: string; msg: string }[] = []
const logger = createLogger({
  level: 'debug',
  destination: { write: (line) => void lines.push(JSON.parse(line)) },
})
const records: RequestRecord[] = []
const app = await createServer({
  logger,
  trustProxy: false,
  requestLog: {
    journal: { record: (record) => void records.push(record) },
    metrics: { answered() {}, botCalled() {} },
  },
})
t.teardown(() => app.close())
const begun = new EventTarget()
const rejectingWith = (cause: Error) => (_: unknown, reply: { raw: NodeJS.EventEmitter }) =>
  new Promise((_resolve, reject) => {
    reply.raw.once('close', () => reject(cause))
    begun.dispatchEvent(new Event('begun'))
  })
app.get('/abort', rejectingWith(new DOMException('This operation was aborted', 'AbortError')))
app.get('/defect', rejectingWith(new TypeError('x is not a function')))
await app.listen({ host: '127.0.0.1', port: 0 })

async function leave(path: string) {
  lines.length = records.length = 0
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const hasBegun = once(begun, 'begun')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
  await hasBegun
  socket.destroy()
  const line = await until(() => lines.find(({ msg }) => /left|failed/.test(msg)))
  return { line, record: await until(() => records[0]) }
}

t.test('what ends with its client is told at debug', async (t) => {
  const { line, record } = await leave('/abort')
  t.match(line, { level: 'debug', msg: 'the client left' })
  t.match(record, { status: 499 })
})

t.test('a defect is an error, whether or not the client is there', async (t) => {
  const { line } = await leave('/defect')
  t.match(line, { level: 'error', msg: 'request failed' })
})
