/** What one node sees of a call to another: a short body whole, a short answer whole or not at all, a long one as it comes. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createServer } from '../../src/http/server.ts'
import { forwardingOf, listenForPeers, Peer } from '../../src/nodes/peers.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { until } from '../support/client.ts'
import { askPeer } from './ask-peer.ts'
import { CREDENTIAL, KEY, SELF, type Serve, startForwarder } from './forwarder-scene.ts'

const place = { credentialId: CREDENTIAL, owner: 2 }

/** Node 1, which passes all requests on to node 2, whose routes are `serve`. */
async function edgeOf(
  t: Test,
  serve: Serve,
  isSlow = false,
): Promise<{ port: number; taken(): number }> {
  const owner = await listenForPeers('https://127.0.0.1:0', KEY)
  t.teardown(() => owner.close())
  owner.serve(serve)
  let taken = 0
  let newest: IncomingMessage | undefined
  const rows = [1, 2].map((incarnation) => ({ incarnation, address: owner.address }))
  const { server, port } = await startForwarder(t, {
    rows,
    // The table may answer when all of a body has come.
    find: async () => {
      await until(() => !isSlow || newest?.complete === true)
      return place
    },
    look: async () => place,
  })
  server.on('request', (request) => {
    taken++
    newest = request
  })
  return { port, taken: () => taken }
}

/** A call with a body of `length` bytes. */
function call(port: number, length = 11) {
  const headers = { 'content-length': length }
  const sent = request({ port, path: '/bot9:secret/sendMessage', method: 'POST', headers })
  sent.on('error', () => undefined)
  const response = once(sent, 'response').then(([response]) => response as IncomingMessage)
  return { sent, response }
}

t.test('a short answer that breaks off is asked for again, marked as a repetition', async (t) => {
  const seen: unknown[] = []
  const ids = new Set<string>()
  const { port } = await edgeOf(t, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { id = '', isRepeated } = forwardingOf(request)?.call ?? {}
    ids.add(id)
    seen.push({ body, isRepeated })
    if (seen.length > 1) return void response.end('the whole answer')
    response.writeHead(200, { 'content-length': 100 }).write('a half', () => response.destroy())
  })
  const { sent, response } = call(port)
  sent.end('a short one')
  const { statusCode, headers } = await response
  t.equal(statusCode, 200)
  t.equal(headers.connection, 'keep-alive')
  t.equal(Buffer.concat(await (await response).toArray()).toString(), 'the whole answer')
  const body = 'a short one'
  t.same(seen, [
    { body, isRepeated: false },
    { body, isRepeated: true },
  ])
  t.equal(ids.size, 1, 'under the same id')
})

t.test('each byte, header and status of a short answer arrives', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 1024 }, (_, at) => at % 256))
  const { port } = await edgeOf(t, (request, response) => {
    request.resume()
    response.writeHead(409, {
      'content-length': bytes.length,
      'content-type': 'application/json',
      'set-cookie': ['a=1', 'b=2'],
    })
    response.write(bytes.subarray(0, 200))
    setImmediate(() => response.end(bytes.subarray(200)))
  })
  const { sent, response } = call(port)
  sent.end('a short one')
  const { statusCode, headers } = await response
  t.equal(statusCode, 409)
  t.equal(headers['content-type'], 'application/json')
  t.same(headers['set-cookie'], ['a=1', 'b=2'])
  t.same(Buffer.concat(await (await response).toArray()), bytes)
})

t.test(
  'what every answer has does not cross between nodes, and its client gets it all the same',
  async (t) => {
    const app = await createServer({
      logger: createLogger({ level: 'silent' }),
      requestLog: { journal: { record() {} }, metrics: { answered() {}, botCalled() {} } },
      trustProxy: false,
    })
    t.teardown(() => app.close())
    app.get('/api_keys/9', async (_, reply) => reply.header('cache-control', 'private').send({}))
    const direct = await fetch(`${await app.listen({ port: 0 })}/api_keys/9`)
    const { port } = await edgeOf(t, (request, response) => app.routing(request, response))
    const forwarded = await fetch(`http://127.0.0.1:${port}/api_keys/9`)
    const always = (headers: Headers) => {
      const { date, 'x-request-id': _, 'keep-alive': __, ...rest } = Object.fromEntries(headers)
      return { ...rest, date: Number.isNaN(Date.parse(date ?? '')) }
    }
    t.same(always(forwarded.headers), always(direct.headers))
    t.equal(forwarded.headers.get('cache-control'), 'private', 'a route has its own')

    const owner = await listenForPeers('https://127.0.0.1:0', KEY)
    const peer = new Peer(owner.address, KEY)
    t.teardown(() => {
      peer.destroy()
      return owner.close()
    })
    owner.serve((request, response) => app.routing(request, response))
    const between = async (headers: Record<string, string>) => {
      const asked = { method: 'GET', path: '/api_keys/9', headers } as const
      const answer = await askPeer(peer.connections('short'), asked)
      return Object.keys(answer.headers).sort()
    }
    const few = ['cache-control', 'content-length', 'content-type', 'x-request-id']
    t.same(await between({ 'x-chapar-completes': '1' }), few)
    const old = await between({})
    t.ok(old.includes('x-content-type-options'), 'a node of before does not add them')
  },
)

t.test('answers without a body keep their heads', async (t) => {
  const { port } = await edgeOf(t, (request, response) => {
    request.resume()
    const isHead = request.method === 'HEAD'
    response.writeHead(isHead ? 200 : 204, isHead ? { 'content-length': 1234 } : {}).end()
  })
  for (const [method, status, length] of [
    ['HEAD', 200, '1234'],
    ['DELETE', 204, undefined],
  ] as const) {
    const sent = request({ port, path: '/api_keys/9', method }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    t.equal(response.statusCode, status)
    t.equal(response.headers['content-length'], length)
    t.equal((await response.toArray()).length, 0)
  }
})

t.test('the head of an answer of unknown length goes out before its body comes', async (t) => {
  const end = Promise.withResolvers<void>()
  const { port } = await edgeOf(t, async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    await end.promise
    response.end('data: one\n\n')
  })
  const { sent, response } = call(port)
  sent.end('a short one')
  t.equal((await response).headers['content-type'], 'text/event-stream')
  end.resolve()
  t.equal(Buffer.concat(await (await response).toArray()).toString(), 'data: one\n\n')
})

t.test('a client that reads slowly holds a long answer up', async (t) => {
  const total = 64 * 2 ** 20
  let written = 0
  function* pieces() {
    const piece = Buffer.alloc(2 ** 18)
    for (; written < total; written += piece.length) yield piece
  }
  const { port } = await edgeOf(t, (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-length': total })
    Readable.from(pieces()).pipe(response)
  })
  const { sent, response } = call(port)
  sent.end('a short one')
  const answer = await response
  let before = -1
  // It stands still once the buffers on the way are full.
  while (before !== written) {
    before = written
    await pause(300)
  }
  t.ok(written < total / 2, `${written} bytes were written`)
  let read = 0
  for await (const chunk of answer) read += (chunk as Buffer).length
  t.equal(read, total)
})

t.test('a client that leaves ends its request at the other node', async (t) => {
  let [begun, left] = [0, 0]
  const { port } = await edgeOf(
    t,
    (request, response) => {
      request.resume()
      begun++
      response.once('close', () => left++)
    },
    true,
  )
  for (const [at, length] of [2, 65_536].entries()) {
    const { sent, response } = call(port, length)
    response.catch(() => undefined)
    sent.end(Buffer.alloc(length))
    await until(() => begun === at + 1)
    sent.destroy()
    await until(() => left === at + 1)
  }
  t.equal(begun, 2, 'and it is not repeated')
})

t.test('a short body goes out whole, and its connection takes the next call', async (t) => {
  const { port, taken } = await edgeOf(t, async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    response.end(`${body.length} ${body.toString().replaceAll(/(.)\1*/g, '$1')}`)
  })
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  t.teardown(() => socket.destroy())
  let received = ''
  socket.on('data', (text: string) => {
    received += text
  })
  for (const [at, length] of [60_000, 2, 0, 65_536].entries()) {
    received = ''
    const head = `POST /bot9:secret/sendMessage HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`
    const half = length / 2
    socket.write(head + 'a'.repeat(half))
    // The other half comes when the first one has been taken.
    await until(() => taken() > at)
    socket.write('b'.repeat(half))
    const expected = `\r\n\r\n${length} ${length > 0 ? 'ab' : ''}`
    await until(() => received.endsWith(expected))
    t.match(received, /^HTTP\/1.1 200 /, `call ${at}`)
  }
})

t.test('a client that leaves amid its body is not passed on', async (t) => {
  const bodies: string[] = []
  const { port, taken } = await edgeOf(t, async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString())
    response.end()
  })
  const { sent, response } = call(port)
  response.catch(() => undefined)
  sent.write('half')
  await until(() => taken() === 1)
  sent.destroy()
  const next = call(port)
  next.sent.end('a short one')
  t.equal((await next.response).statusCode, 200)
  t.same(bodies, ['a short one'])
})

t.test('an answer that comes before the body lets the rest of it come', async (t) => {
  const { port } = await edgeOf(t, (_, response) => {
    response.writeHead(413, { 'content-length': 2 }).end('no')
  })
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  t.teardown(() => socket.destroy())
  let received = ''
  socket.on('data', (text: string) => {
    received += text
  })
  const length = 20 * 2 ** 20
  const head = (bytes: number) =>
    `POST /bot9:secret/sendDocument HTTP/1.1\r\nhost: a\r\ncontent-length: ${bytes}\r\n\r\n`
  socket.write(head(length))
  // Most clients read nothing before they have sent all.
  const isSent = new Promise((resolve) => socket.write(Buffer.alloc(length), resolve))
  await until(() => received.includes('413'))
  await isSent
  received = ''
  socket.write(head(0))
  await until(() => received.includes('413'))
})

t.test('a request with two hosts is refused where it came', async (t) => {
  let passed = 0
  const { port } = await edgeOf(t, (_, response) => {
    passed++
    response.end()
  })
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  t.teardown(() => socket.destroy())
  socket.write('GET /bot9:secret/getMe HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n')
  t.match((await socket.toArray()).join(''), /served here/)
  t.equal(passed, 0)
})

t.test('callers that know the service by several names share a connection', async (t) => {
  const connections = new Set<unknown>()
  const { port } = await edgeOf(t, async (request, response) => {
    connections.add(request.socket)
    await request.toArray()
    response.end(request.headers.host)
  })
  for (const host of ['a.example', 'b.example:8080', '127.0.0.1', 'a.example']) {
    const path = '/bot9:secret/sendMessage'
    const sent = request({ port, path, method: 'POST', headers: { host } })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    t.equal(Buffer.concat(await response.toArray()).toString(), host, 'and the owner learns it')
  }
  t.equal(connections.size, 1)
})

t.test(
  'a call that still waits for a connection when its node ends is not taken for sent',
  async (t) => {
    const owner = await listenForPeers('https://127.0.0.1:0', KEY)
    t.teardown(() => owner.close())
    let arrived = 0
    owner.serve((request) => {
      request.resume()
      arrived++
    })
    const rows = [SELF, 2].map((incarnation) => ({ incarnation, address: owner.address }))
    const places = { owner: 2 }
    let membersChanged: () => void = () => undefined
    const { server, port } = await startForwarder(t, {
      rows,
      find: async () => ({ credentialId: CREDENTIAL, owner: 2 }),
      look: async () => ({ credentialId: CREDENTIAL, ...places }),
      onMembersChanged: (changed) => {
        membersChanged = changed
      },
    })
    let taken = 0
    server.on('request', () => taken++)
    const ask = async (path: string) => {
      const sent = request({ port, path, method: 'POST', agent: false }).end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return `${Buffer.concat(await response.toArray())}`
    }
    const AT_ONCE = 64
    const others = Array.from({ length: AT_ONCE }, () => ask('/api_keys/9/webhook'))
    await until(() => arrived === AT_ONCE)
    const waiting = ['/api_keys/9/webhook', '/bot9:secret/sendMessage'].map(ask)
    await until(() => taken === AT_ONCE + waiting.length)
    places.owner = SELF
    rows.splice(1)
    membersChanged()
    t.same(await Promise.all(waiting), ['served here', 'served here'])
    for (const answer of await Promise.all(others)) t.match(answer, /may have been sent/)
    t.equal(arrived, AT_ONCE)
  },
)
