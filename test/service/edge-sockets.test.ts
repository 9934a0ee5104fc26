/** What a server of ours answers to bytes that are no request, and how its connections end. */

import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { createServer, type ServerOptions } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { until } from '../support/client.ts'

/** Ends the wait of each request that waits. */
const waiting: (() => void)[] = []
const nowhere = { journal: { record() {} }, metrics: { answered() {}, botCalled() {} } }

async function serve(limits: ServerOptions['limits'] = {}): Promise<number> {
  const logger = createLogger({ level: 'silent' })
  const app = await createServer({ logger, requestLog: nowhere, trustProxy: false, limits })
  t.teardown(() => app.close())
  app.post('/echo', async ({ body }) => ({ body }))
  app.get('/stream', (_, reply) => {
    reply.hijack()
    reply.raw.writeHead(200).write('begun')
  })
  app.get('/waiting', async () => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return { waited: true }
  })
  app.get('/name', async () => ({ ok: true }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** All that comes back until the server closes the connection. */
async function exchange(port: number, bytes: string, more?: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  if (more !== undefined) {
    await once(socket, 'readable')
    socket.write(more)
  }
  return Buffer.concat(await socket.toArray()).toString()
}

function isRefusal(t: Test, text: string, status: number, description: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  t.match(head, new RegExp(`^HTTP/1.1 ${status} `))
  t.match(head, /^x-request-id: [\w-]{22}$/im)
  t.match(head, /^content-security-policy: default-src 'none'/im)
  t.match(head, /^cache-control: no-store/im)
  t.match(head, /^connection: close/im)
  t.match(head, /^date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/im)
  t.same(JSON.parse(body), { ok: false, error_code: status, description })
}

const port = await serve()
const unreadable = "Bad Request: can't parse the request"
const host = 'Host: localhost\r\n'

t.test('what is no HTTP is 400 in the envelope', async (t) => {
  isRefusal(t, await exchange(port, 'garbage\r\n\r\n'), 400, unreadable)
  isRefusal(t, await exchange(port, `GET /name HTTP/1.1\r\n${host}a b: c\r\n\r\n`), 400, unreadable)
  const json = `${host}Content-Type: application/json\r\n`
  const chunked = `POST /echo HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n`
  isRefusal(t, await exchange(port, `${chunked}not a length\r\n`), 400, unreadable)
  const both = `POST /echo HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n`
  isRefusal(t, await exchange(port, `${both}0\r\n\r\n`), 400, unreadable)
})

t.test('a version of HTTP other than 1.0 and 1.1 is 505', async (t) => {
  for (const version of ['0.9', '1.2', '2.0', '9.9', '1', '1.10']) {
    const text = await exchange(port, `GET /name HTTP/${version}\r\n${host}\r\n`)
    isRefusal(t, text, 505, 'HTTP Version Not Supported')
  }
  for (const line of ['GET /name', 'GET http://a/', 'PRI * HTTP/2.0'])
    isRefusal(
      t,
      await exchange(port, `${line}\r\n\r\nSM\r\n\r\n`),
      505,
      'HTTP Version Not Supported',
    )
})

t.test('headers that are too large are 431', async (t) => {
  const large = `GET /name HTTP/1.1\r\n${host}x: ${'y'.repeat(60_000)}\r\n\r\n`
  isRefusal(t, await exchange(port, large), 431, 'Request Header Fields Too Large')
})

t.test('slow headers and slow bodies are 408', async (t) => {
  const limits = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 50 }
  const impatient = await serve(limits)
  const late = 'Request Timeout'
  isRefusal(t, await exchange(impatient, 'GET /name HTT'), 408, late)
  const body = `POST /echo HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a"`
  isRefusal(t, await exchange(impatient, body), 408, late)
})

t.test('a request of HTTP/1.1 names its host once, one of HTTP/1.0 need not', async (t) => {
  const missing = 'GET /name HTTP/1.1\r\nConnection: close\r\n\r\n'
  isRefusal(t, await exchange(port, missing), 400, 'Bad Request: the header Host is missing')
  const twice = `GET /name HTTP/1.1\r\n${host}hOST: other\r\nConnection: close\r\n\r\n`
  isRefusal(t, await exchange(port, twice), 400, 'Bad Request: the header Host is there twice')
  t.match(await exchange(port, 'GET /name HTTP/1.0\r\n\r\n'), /^HTTP\/1.1 200 /)
})

t.test('a Host that names no host is refused', async (t) => {
  const named = (name: string) =>
    exchange(port, `GET /name HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
  for (const name of ['###', 'a b', 'a/b', 'user@a', 'a:b', 'a:80:80', '[::1', 'a%2', 'é', '<b>']) {
    isRefusal(t, await named(name), 400, 'Bad Request: the header Host names no host')
  }
  for (const name of ['', 'a_b.example.', 'a:', 'a%2e', '[::1]:8080', '127.0.0.1:80', 'xn--e1a']) {
    t.match(await named(name), /^HTTP\/1.1 200 /, name)
  }
})

t.test('nothing is written into the middle of an answer', async (t) => {
  const text = await exchange(port, `GET /stream HTTP/1.1\r\n${host}\r\n`, 'garbage\r\n\r\n')
  t.match(text, /^HTTP\/1.1 200 /)
  t.notMatch(text, /HTTP\/1.1 400/)
})

t.test('one request gets no answer to another', async (t) => {
  t.match(await exchange(port, `GET /name?é HTTP/1.1\r\n${host}\r\n`), /"ok":true/, 'by itself')
  const first = `GET /waiting HTTP/1.1\r\n${host}\r\n`
  const close = `GET /waiting HTTP/1.1\r\n${host}Connection: close\r\n\r\n`
  for (const [begun, unreadable] of [
    [first, `GET /name?é HTTP/1.1\r\n${host}\r\n`],
    [first, 'garbage\r\n\r\n'],
    [`${first}GET /name HTTP/1.1\r\n${host}\r\n`, 'garbage\r\n\r\n'],
    [close, 'garbage\r\n\r\n'],
  ] as const) {
    const socket = connect(port, '127.0.0.1')
    // In packets of their own, while the first one waits.
    for (const [at, bytes] of [begun, unreadable, 'more'].entries()) {
      socket.write(bytes)
      if (at === 0) await until(() => waiting.length === 1)
      else await new Promise((resolve) => setTimeout(resolve, 20))
    }
    t.equal(socket.bytesRead, 0)
    waiting.pop()?.()
    const text = Buffer.concat(await socket.toArray()).toString()
    t.match(text, /^HTTP\/1.1 200 .*"waited":true/s, unreadable)
    t.notMatch(text, /HTTP\/1.1 4/)
    t.equal(text.split('HTTP/1.1 200').length, begun.split('GET').length, 'each is answered')
  }
})

t.test('a request that breaks off is refused after the answers to those before it', async (t) => {
  const first = `GET /waiting HTTP/1.1\r\n${host}\r\n`
  const post = `POST /echo HTTP/1.1\r\n${host}Content-Type: application/json\r\n`
  for (const begun of [
    `${post}Transfer-Encoding: chunked\r\n\r\nno length\r\n`,
    `${post}Transfer-Encoding: identity\r\n\r\n`,
  ]) {
    const answered = exchange(port, first + begun)
    await until(() => waiting.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    waiting.pop()?.()
    const [, one = '', two = '', ...more] = (await answered).split('HTTP/1.1 ')
    t.match(one, /^200 .*"waited":true/s, begun)
    t.match(two, /^400 /, begun)
    t.strictSame(more, [])
  }
})

t.test(
  'what follows a request that breaks off is not kept until the answers are there',
  async (t) => {
    const warnings: Error[] = []
    const warn = (warning: Error) => warnings.push(warning)
    process.on('warning', warn)
    t.teardown(() => process.off('warning', warn))
    const socket = connect(port, '127.0.0.1')
    const post = `POST /echo HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: identity\r\n\r\n`
    socket.write(`GET /waiting HTTP/1.1\r\n${host}\r\n${post}`)
    await until(() => waiting.length === 1)
    for (let piece = 0; piece < 30; piece++) {
      socket.write('garbage\r\n'.repeat(1_000))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    t.strictSame(warnings, [], 'nothing gathers')
    waiting.pop()?.()
    const [, one = '', two = '', ...more] = Buffer.concat(await socket.toArray())
      .toString()
      .split('HTTP/1.1 ')
    t.match([one, two, ...more], [/^200 /, /^400 /])
  },
)

t.test('the answer of a request is not lost to a late one behind it', async (t) => {
  const limits = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 50 }
  const impatient = await serve(limits)
  const late = `GET /waiting HTTP/1.1\r\n${host}\r\nGET /name HTT`
  const answered = exchange(impatient, late)
  await until(() => waiting.length === 1)
  await new Promise((resolve) => setTimeout(resolve, 500))
  waiting.pop()?.()
  const text = await answered
  t.match(text, /^HTTP\/1.1 200 .*"waited":true/s)
  t.notMatch(text, /HTTP\/1.1 4/)
})

t.test('a connection serves so many requests, and the last answer says so', async (t) => {
  const short = await serve({ maxRequestsPerSocket: 3 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const connections: (string | undefined)[] = []
  for (let n = 0; n < 7; n++) {
    const sent = request({ port: short, path: '/name', agent }).end()
    const [response] = await once(sent, 'response')
    response.resume()
    await once(response, 'end')
    t.equal(response.statusCode, 200)
    connections.push(response.headers.connection)
  }
  const [open, last] = ['keep-alive', 'close']
  t.same(connections, [open, open, last, open, open, last, open])
})
