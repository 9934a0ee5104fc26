/** Endpoints that break the protocol on purpose: one attempt ends in time, costs little, and spoils no other. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Endpoint } from '../../src/webhooks/endpoint.ts'
import type { ExchangeResult } from '../../src/webhooks/exchange.ts'
import { until } from '../support/client.ts'
import { flood } from '../support/flood.ts'
import { endpointParts } from './parts.ts'

const LIMIT_MS = 1_000
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

/** Says something for each request that comes, over connections that are its own. */
async function peer(t: Test, say: (socket: Socket, count: number) => void) {
  const sockets = new Set<Socket>()
  let requests = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
    socket.on('data', () => say(socket, ++requests))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { sockets, port: (server.address() as AddressInfo).port }
}

function endpointAt(t: Test, url: string, timeoutMs = LIMIT_MS): Endpoint {
  const target = { ipAddress: undefined, secretToken: undefined, certificate: undefined }
  const sender = new Endpoint(
    { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 },
    { url, maxConnections: 2, ...target },
    endpointParts(t, { timeoutMs }),
  )
  t.teardown(() => sender.close())
  return sender
}

const forever = new AbortController().signal

const post = (endpoint: Endpoint) =>
  new Promise<ExchangeResult>((ended) => endpoint.post('{}', [], forever, ended))

/** What comes of one attempt whose endpoint says this. */
async function attempt(
  t: Test,
  say: (socket: Socket) => void,
  { scheme = 'http', limitMs = LIMIT_MS } = {},
) {
  const { port, sockets } = await peer(t, say)
  const began = performance.now()
  const sent = await post(endpointAt(t, `${scheme}://127.0.0.1:${port}/`, limitMs))
  const tookMs = performance.now() - began
  t.ok(tookMs < 3 * limitMs, `${tookMs} ms`)
  return { ...sent, sockets }
}

t.test('interim answers without end end the attempt', async (t) => {
  for (const head of ['100 Continue', '102 Processing', '103 Early Hints']) {
    const heads = Buffer.from(`HTTP/1.1 ${head}\r\n\r\n`.repeat(2_000))
    let written = () => 0
    const { error, sockets } = await attempt(t, (socket) => {
      written = flood(socket, '', heads)
    })
    t.equal(error, "The header of the webhook's answer is too long", head)
    await until(() => sockets.size === 0)
    t.ok(written() < 20_000_000, `${written()} bytes were written`)
  }
})

t.test('some hundred interim answers are waited through', async (t) => {
  const sent = await attempt(t, (socket) => {
    socket.write(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(500)}HTTP/1.1 204 No Content\r\n\r\n`)
  })
  t.strictSame([sent.status, sent.error], [204, undefined])
})

t.test('what comes without end and brings nothing ends the attempt', async (t) => {
  const piece = Buffer.alloc(65_536, '0')
  const cases: [string, Buffer][] = [
    ['HTTP/1.1 200 ', piece],
    ['', Buffer.from('\r\n'.repeat(32_768))],
    [CHUNKED, piece],
    [`${CHUNKED}1;`, piece],
    [`${CHUNKED}0;`, piece],
  ]
  for (const [head, more] of cases) {
    let written = () => 0
    const pour = (socket: Socket) => {
      written = flood(socket, head, more)
    }
    const { error, sockets } = await attempt(t, pour, { limitMs: 10 * LIMIT_MS })
    t.equal(error, "The webhook's answer is too long", head)
    await until(() => sockets.size === 0)
    t.ok(written() < 20_000_000, `${written()} bytes were written`)
  }
})

t.test('an interim answer is none yet', async (t) => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nretry-after: 60\r\n\r\n'
  const cut = await attempt(t, (socket) => socket.end(interim))
  t.strictSame([cut.status, cut.answer, cut.retryAfterMs], [undefined, undefined, undefined])
  const silent = await attempt(t, (socket) => socket.write(interim))
  t.strictSame([silent.status, silent.error], [undefined, 'Read timeout expired'])
})

t.test('an answer in single bytes takes no more memory than any other', async (t) => {
  const bytes = 50_000
  const sent = await attempt(t, (socket) => socket.write(CHUNKED + '1\r\nx\r\n'.repeat(bytes)))
  t.equal(sent.error, 'Read timeout expired')
  const { chunks = [] } = sent.answer ?? {}
  t.equal(Buffer.concat(chunks).toString(), 'x'.repeat(bytes))
  t.ok(chunks.length < 10, `${chunks.length} pieces`)
})

t.test('a handshake that stands still ends with the attempt', async (t) => {
  const { status, error, sockets } = await attempt(t, () => undefined, { scheme: 'https' })
  t.equal(status, undefined)
  t.match(error, /^(Read timeout expired|Connection timed out)$/)
  await until(() => sockets.size === 0)
})

t.test('an answer that is none is a failure', async (t) => {
  const garbled = "The webhook's answer is not HTTP"
  const cases: [string, string][] = [
    ['200 fine\r\n', garbled],
    ['HTTP/2 200\r\n\r\n', garbled],
    [`${CHUNKED}zz\r\n`, garbled],
    [`${CHUNKED}-1\r\nx`, garbled],
    [`${CHUNKED}ffffffffffffffffff\r\nx`, garbled],
    ['HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx', garbled],
    ['HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n', garbled],
    ['HTTP/1.1 200 OK\r\nx: a\r\n b\0c\r\n\r\n', garbled],
    ['HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n', garbled],
  ]
  for (const [answer, error] of cases) {
    const sent = await attempt(t, (socket) => socket.write(answer))
    t.equal(sent.error, error, JSON.stringify(answer.slice(0, 60)))
  }
})

t.test('an answer that breaks off is no acknowledgement', async (t) => {
  const heads = [
    'HTTP/1.1 20',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab',
  ]
  for (const head of [...heads, `${CHUNKED}5\r\nab`]) {
    const { error } = await attempt(t, (socket) => socket.end(head))
    t.equal(error, 'Connection reset by peer', head)
  }
})

t.test('an answer that nobody asked for is not that of the next attempt', async (t) => {
  const answer = (status: string) => `HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`
  for (const isLater of [false, true]) {
    const { port } = await peer(t, (socket, count) => {
      if (count > 1) return socket.write(answer('202 Accepted'))
      if (!isLater) return socket.write(answer('200 OK') + answer('500 Forged'))
      socket.write(answer('200 OK'))
      setTimeout(() => socket.write(answer('500 Forged')), 50)
    })
    const sender = endpointAt(t, `http://127.0.0.1:${port}/`)
    t.strictSame((await post(sender)).status, 200)
    if (isLater) await new Promise((resolve) => setTimeout(resolve, 200))
    t.strictSame((await post(sender)).status, 202)
  }
})
