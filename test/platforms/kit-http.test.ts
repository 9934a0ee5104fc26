/** The HTTP client of the kit: whole answers only, exact integers, and certainty about what has no answer. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createGuardedAgent, GuardedConnections } from '../../src/net/guard.ts'
import {
  HttpClient,
  jsonIn,
  Unanswered,
  unansweredFailure,
} from '../../src/platforms/kit/http-client.ts'
import { opensslMissing, selfSigned } from '../support/certificate.ts'
import { until } from '../support/client.ts'
import fc from '../support/fast-check.ts'
import { listen, portOf } from '../support/http-server.ts'
import { Relay } from '../support/relay.ts'

/** A client of a server on this machine, and the requests that reached it. */
async function serving(
  t: Parameters<typeof listen>[0],
  answer: (response: ServerResponse) => void,
  { allowPrivate = true } = {},
) {
  const asked: {
    readonly url?: string | undefined
    readonly authorization?: string | undefined
  }[] = []
  const server = await listen(t, ({ url, headers: { authorization } }, response) => {
    asked.push({ url, authorization })
    answer(response)
  })
  const agent = createGuardedAgent({ allowPrivate })
  t.teardown(() => agent.destroy())
  const root = `http://127.0.0.1:${portOf(server)}/v1/`
  const headers = { authorization: 'Bearer secret' }
  return { asked, client: new HttpClient({ root, agent, headers }) }
}

const question = { verb: 'POST', path: 'send?a=1', body: '{}' } as const
const { signal: patient } = new AbortController()
const howOf = (asking: Promise<unknown>) =>
  asking.then(
    () => assert.fail('there was an answer'),
    (cause) => {
      assert.ok(cause instanceof Unanswered)
      assert.doesNotMatch(`${cause.stack} ${cause.message}`, /secret/)
      return cause.how
    },
  )

t.test('an answer of any status is the answer, and a redirect is not followed', async (t) => {
  const { asked, client } = await serving(t, (response) => {
    response.writeHead(302, { location: '/elsewhere', 'x-more': '1' }).end('{"id":1}')
  })
  const answer = await client.ask(question, { signal: patient })
  t.match(answer, { status: 302, headers: { 'x-more': /^1$/ } })
  t.same(jsonIn(answer), { id: 1 })
  t.same(asked, [{ url: '/v1/send?a=1', authorization: 'Bearer secret' }])
})

t.test('an interim answer and a byte order mark are passed over, in whatever pieces', async (t) => {
  const head = 'HTTP/1.1 100 Continue\r\nx-interim: 1\r\n\r\n'
  const body = '\ufeff{"text":"HTTP/1.1 100 Continue\\r\\n"}'
  const last = `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
  const all = head + head + last
  const cuts = [8, 11, 12, 20, head.length - 2, head.length + 5, 2 * head.length - 1]
  const cutAt = (at: number) => [all.slice(0, at), all.slice(at) + body]
  const twice = [
    all.slice(0, 11),
    all.slice(11, head.length + 11),
    all.slice(head.length + 11),
    body,
  ]
  for (const pieces of [[head + last + body], [head, last, body], ...cuts.map(cutAt), twice]) {
    const { client } = await serving(t, async ({ socket }) => {
      for (const piece of pieces) {
        socket?.write(piece)
        await pause(20)
      }
    })
    for (let again = 0; again < 2; again++) {
      const answer = await client.ask(question, { signal: patient })
      t.match(answer, { status: 200, headers: { 'x-interim': undefined } })
      t.same(jsonIn(answer), { text: 'HTTP/1.1 100 Continue\r\n' })
    }
  }
})

t.test('a body that begins like an interim answer stays as it is', async (t) => {
  const { client } = await serving(t, async ({ socket }) => {
    socket?.write('HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n')
    await pause(50)
    socket?.write('HTTP/1.1 100')
  })
  t.match(await client.ask(question, { signal: patient }), { text: 'HTTP/1.1 100' })
})

t.test('a body stays as it is while the request is still being sent', async (t) => {
  const { promise: isSeen, resolve: see } = Promise.withResolvers<void>()
  const server = await listen(t, async (request, { socket }) => {
    request.resume()
    socket?.write('HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n')
    await isSeen
    await once(request, 'data')
    socket?.write('HTTP/1.1 100')
  })
  const agent = createGuardedAgent({ allowPrivate: true })
  t.teardown(() => agent.destroy())
  async function* body() {
    yield 'one'
    await isSeen
    while (true) {
      yield 'more'
      await pause(20)
    }
  }
  const { statusCode, body: answer } = await agent.request({
    origin: `http://127.0.0.1:${portOf(server)}`,
    ...{ path: '/', method: 'POST', body: Readable.from(body()) },
  })
  see()
  t.equal(statusCode, 200)
  t.equal(await answer.text(), 'HTTP/1.1 100')
})

t.test('an integer that a number cannot hold keeps its digits', async (t) => {
  const json = (text: string) => jsonIn({ status: 200, text })
  const text =
    '{"id":12345678901234567890,"low":[-9007199254740993],"safe":9007199254740991,"part":0.1234567890123456789,' +
    '"big":1e1234567890123456,"12345678901234567":"1234567890123456789","odd\\"9007199254740993":7}'
  t.same(json(text), {
    ...JSON.parse(text),
    id: '12345678901234567890',
    low: ['-9007199254740993'],
  })
  t.throws(() => json('{"secret": 1234567890123456789'), {
    how: 'garbage',
    message: 'an answer with the status 200 is not JSON',
    cause: undefined,
  })
  const keepsDigits = fc.property(fc.bigInt(), fc.string(), (number, other) => {
    const read = json(`{${JSON.stringify(other)}: [${number} , ${JSON.stringify(other)}]}`)
    const [value] = Object.values(read as Readonly<Record<string, readonly unknown[]>>)[0] ?? []
    assert.equal(String(value), `${number}`)
    assert.equal(typeof value, Number.isSafeInteger(Number(number)) ? 'number' : 'string')
  })
  t.doesNotThrow(() => fc.assert(keepsDigits))
})

t.test('a request without an answer says whether it may have been carried out', async (t) => {
  const options = { signal: patient }
  const cut = await serving(t, (response) => {
    response.writeHead(200, { 'content-length': 10 }).write('abc')
    setTimeout(() => response.destroy(), 20)
  })
  t.equal(await howOf(cut.client.ask(question, options)), 'broken', 'shorter than announced')
  const endless = await serving(t, (response) => {
    Readable.from(endlessText())
      .on('error', () => undefined)
      .pipe(response)
  })
  t.equal(await howOf(endless.client.ask(question, options)), 'garbage', 'too long')
  for (const words of ['fine\r\n', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n']) {
    const garbled = await serving(t, ({ socket }) => socket?.end(words))
    t.equal(await howOf(garbled.client.ask(question, options)), 'garbage', words)
  }
  const silent = await serving(t, () => undefined)
  t.equal(await howOf(silent.client.ask(question, { ...options, milliseconds: 50 })), 'silent')
  t.equal(await howOf(silent.client.ask(question, { signal: AbortSignal.timeout(50) })), 'silent')
  const closed = await serving(t, () => undefined, { allowPrivate: false })
  t.equal(await howOf(closed.client.ask(question, options)), 'unreachable', 'a private address')
  t.same(closed.asked, [])

  const certainty = (how: Unanswered['how']) =>
    unansweredFailure(new Unanswered(how, ''), 'Example').failure.certain
  t.same(
    ['unreachable', 'silent', 'broken', 'garbage'].map((how) => certainty(how as 'silent')),
    [undefined, false, false, false],
  )
})

function* endlessText() {
  for (const piece = 'x'.repeat(1024 * 1024); ; ) yield piece
}

t.test('a client that has ended waits for nothing and asks nothing more', async (t) => {
  const came = Promise.withResolvers<void>()
  const { asked, client } = await serving(t, () => came.resolve())
  // Only the end of the client can end this one: it has no time limit.
  const unlimited = { signal: patient, milliseconds: Number.POSITIVE_INFINITY }
  const waiting = howOf(client.ask(question, unlimited))
  await came.promise
  client.end()
  t.equal(await waiting, 'silent')
  t.equal(await howOf(client.ask(question, { signal: patient })), 'silent')
  t.equal(asked.length, 1)
})

t.test('thousands that wait for a connection and are cut keep nobody waiting', async (t) => {
  const held: ServerResponse[] = []
  let isHeld = true
  const server = await listen(t, (request, response) => {
    request.resume()
    if (isHeld) held.push(response)
    else response.end('{}')
  })
  const root = `http://127.0.0.1:${portOf(server)}`
  const connections = new GuardedConnections(root, { allowPrivate: true, connections: 1 })
  t.teardown(() => connections.close())
  const client = new HttpClient({ root, agent: connections })
  const first = client.ask(question, { signal: patient })
  await until(() => held.length === 1)
  const leaving = new AbortController()
  const waiting = (signal: AbortSignal) =>
    Array.from({ length: 10_000 }, () => howOf(client.ask(question, { signal })))
  const cut = waiting(leaving.signal)
  leaving.abort()
  t.same(new Set(await Promise.all(cut)), new Set(['silent']))
  isHeld = false
  held[0]?.end('{}')
  t.equal((await first).status, 200)
  t.equal((await client.ask(question, { signal: patient })).status, 200)
  isHeld = true
  const last = waiting(patient)
  await until(() => held.length === 2)
  connections.close()
  t.same(new Set(await Promise.all(last)), new Set(['broken']))
})

t.test(
  'a connection whose encryption breaks under a request may have carried it out',
  { skip: opensslMissing ?? false },
  async (t) => {
    const { key, cert } = selfSigned('server.test')
    const asked: string[] = []
    const server = createServer({ key, cert }, ({ method = '' }) => {
      asked.push(method)
      // The server hears no complaint, and so does not close.
      relay.silence('requests')
      relay.breakEncryption()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const relay = await Relay.start(() => portOf(server))
    const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }]
    const trusting = createGuardedAgent({ allowPrivate: true, ca: cert, resolve })
    const other = createGuardedAgent({ allowPrivate: true, resolve })
    t.teardown(async () => {
      await Promise.all([trusting.destroy(), other.destroy()])
      await relay.stop()
      server.close()
    })
    const root = `https://server.test:${relay.port}/`
    const ask = (agent: typeof other) =>
      howOf(new HttpClient({ root, agent }).ask(question, { signal: patient }))
    t.equal(await ask(trusting), 'broken')
    t.equal(await ask(other), 'unreachable')
    t.same(asked, ['POST'])
  },
)
