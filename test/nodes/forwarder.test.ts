/** What a node remembers, or has read, of the owner of an account may be out of date: it is not served by it. */
import { once } from 'node:events'
import { createServer, get, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type OwnerRecord, ownerLost } from '../../src/nodes/owners.ts'
import { until } from '../support/client.ts'
import { CREDENTIAL, SELF, startForwarder } from './forwarder-scene.ts'

/** A forwarder of node 1 beside node 2, over a table whose answers the test gives. */
async function forwarderOver(t: Test, remembered: OwnerRecord | undefined) {
  const asked: ((place: OwnerRecord | undefined) => void)[] = []
  const rows = [SELF, 2].map((incarnation) => ({ incarnation, address: 'https://127.0.0.1:1' }))
  const { forwarder, server, port } = await startForwarder(t, {
    rows,
    find: async () => remembered,
    look: () => new Promise<OwnerRecord | undefined>((resolve) => asked.push(resolve)),
  })
  const inner = createServer((request, response) => forwarder.receive(request, response))
  await once(inner.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    inner.close()
    inner.closeAllConnections()
  })
  // Not fetch: that repeats a request by itself after 421.
  const passOn = async (): Promise<number> => {
    const { port } = inner.address() as AddressInfo
    const [response] = await once(get(`http://127.0.0.1:${port}/bot9:secret/getMe`), 'response')
    response.resume()
    return response.statusCode
  }
  const call = async () => (await fetch(`http://127.0.0.1:${port}/bot9:secret/getMe`)).text()
  return { forwarder, asked, call, passOn, server, inner }
}

const here: OwnerRecord = { credentialId: CREDENTIAL, owner: SELF }

t.test('a table that was read while the account was given away is read again', async (t) => {
  const { forwarder, asked, call } = await forwarderOver(t, here)
  forwarder.park([CREDENTIAL])
  const answer = call()
  await until(() => asked.length === 1)
  forwarder.unpark([CREDENTIAL])
  asked[0]?.(here)
  await until(() => asked.length === 2)
  asked[1]?.(undefined)
  t.equal(await answer, 'served here', 'only what was read afterwards decides')
})

t.test('what is remembered of an account that this node has lost is not believed', async (t) => {
  const { asked, call } = await forwarderOver(t, here)
  const answer = call()
  await until(() => asked.length === 1)
  asked[0]?.(here)
  t.equal(await answer, 'served here', 'what the table says now is')
})

t.test('nobody gets anything old from a node that cannot look the owner up', async (t) => {
  const lost = () => Promise.reject(new Error('the database does not answer'))
  const { port, forwarder } = await startForwarder(t, {
    rows: [
      { incarnation: SELF, address: null },
      { incarnation: 2, address: 'https://127.0.0.1:9' },
    ],
    find: async () => here,
    look: lost,
    owns: () => false,
    holdMs: 200,
  })
  const ask = (path: string, how?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, how)
  const began = performance.now()
  t.same(await (await ask('/bot7:secret/getUpdates')).json(), { ok: true, result: [] })
  t.ok(performance.now() - began > 190, 'not at once, or bots would ask all the time')
  // It would say that there is no webhook, that a setting stands already, or that a new secret opens nothing.
  const method = 'POST'
  for (const [path, how] of [
    ['/bot7:secret/deleteWebhook', { method }],
    [
      '/bot7:secret/setWebhook',
      { method, body: new URLSearchParams({ url: 'https://a.example' }) },
    ],
    ['/bot7:secret/getWebhookInfo'],
    ['/bot7:secret/sendMessage', { method }],
    ['/bot7:secret/getMe'],
    ['/file/bot7:secret/photos/a.jpg'],
    ['/api_keys/7/webhook', { method }],
    ['/platforms/credentials/7'],
  ] as const) {
    const answer = await ask(path, how)
    t.equal(answer.status, 503, path)
    t.equal(answer.headers.get('retry-after'), '1')
    t.match(await answer.json(), { ok: false, error_code: 503, parameters: { retry_after: 1 } })
  }
  t.equal(await (await ask(`/link-pages/${'a'.repeat(43)}`)).text(), 'served here', 'no account')

  const inner = createServer((request, response) => forwarder.receive(request, response))
  await once(inner.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => inner.close())
  const { port: innerPort } = inner.address() as AddressInfo
  const [passedOn] = await once(
    get(`http://127.0.0.1:${innerPort}/bot7:a/deleteWebhook`),
    'response',
  )
  passedOn.resume()
  t.equal(passedOn.statusCode, 421, 'nor from one to which another passed it on')
})

t.test('nor where no node has an address for others, unless there is no other', async (t) => {
  for (const [others, status] of [
    [[2], 503],
    [[], 200],
  ] as const) {
    const { port } = await startForwarder(t, {
      rows: [SELF, ...others].map((incarnation) => ({ incarnation, address: null })),
      find: async () => here,
      look: () => Promise.reject(new Error('the database does not answer')),
      owns: () => false,
    })
    const method = 'POST'
    const answer = await fetch(`http://127.0.0.1:${port}/bot7:secret/deleteWebhook`, { method })
    t.equal(answer.status, status)
  }
})

t.test('a call for an account of a node without an address is refused at once', async (t) => {
  let asked = 0
  const { port } = await startForwarder(t, {
    rows: [SELF, 2].map((incarnation) => ({ incarnation, address: null })),
    find: async () => ({ credentialId: CREDENTIAL, owner: 2 }),
    look: async () => {
      asked += 1
      return { credentialId: CREDENTIAL, owner: 2 }
    },
    serve(request, response) {
      if (!ownerLost(request)) response.end('served here')
    },
    holdMs: 1_000,
  })
  for (const method of ['getMe', 'getUpdates']) {
    const answer = await fetch(`http://127.0.0.1:${port}/bot7:secret/${method}`)
    t.equal(answer.status, 503)
    t.match(
      await answer.json(),
      { description: 'Service Unavailable: another node owns the credential' },
      method,
    )
  }
  t.equal(asked, 2, 'one look for each')
})

t.test('where no call can be passed on, an account without an owner is taken here', async (t) => {
  const place = async () => ({ credentialId: CREDENTIAL, owner: null })
  const rows = [SELF, 2].map((incarnation) => ({ incarnation, address: null }))
  const { port } = await startForwarder(t, { rows, find: place, look: place, holdMs: 0 })
  const answer = await fetch(`http://127.0.0.1:${port}/bot7:secret/getMe`)
  t.equal(await answer.text(), 'served here')
})

t.test('a node that passed a call on is told to look again', async (t) => {
  const { forwarder, asked, passOn } = await forwarderOver(t, here)
  forwarder.park([CREDENTIAL])
  const answer = passOn()
  await until(() => asked.length === 1)
  forwarder.unpark([CREDENTIAL])
  asked[0]?.(here)
  t.equal(await answer, 421)
  const next = passOn()
  await until(() => asked.length === 2)
  asked[1]?.(here)
  t.equal(await next, 200, 'what was read afterwards is believed')
})

t.test('a caller who leaves while the owner is looked up is not waited for', async (t) => {
  const { forwarder, asked, server, inner } = await forwarderOver(t, here)
  for (const [count, entrance] of [server, inner].entries()) {
    const left = once(entrance, 'request').then(async ([request]) => once(request.socket, 'close'))
    const { port } = entrance.address() as AddressInfo
    const call = get(`http://127.0.0.1:${port}/bot9:secret/getMe`).on('error', () => undefined)
    await until(() => asked.length > count)
    call.destroy()
    await left
    asked.at(-1)?.(here)
    await setImmediate()
    const idle = forwarder.idle([CREDENTIAL]).then(() => 'idle')
    t.equal(await Promise.race([idle, pause(2_000)]), 'idle')
  }
})

/** A node without an address for others, beside one that has it; it reads the body of what it serves. */
async function readingBodies(t: Parameters<typeof startForwarder>[0]) {
  const bodies: string[] = []
  const { port } = await startForwarder(t, {
    rows: [
      { incarnation: SELF, address: null },
      { incarnation: 2, address: 'https://127.0.0.1:1' },
    ],
    find: async () => here,
    look: async () => here,
    owns: () => true,
    async serve(request, response) {
      bodies.push(await text(request))
      response.end('served here')
    },
  })
  return { port, bodies }
}

t.test(
  'a node without an address for others answers what names its account in the body',
  async (t) => {
    const { port, bodies } = await readingBodies(t)
    // The longest that is looked at: Node.js has to take it in without a reader.
    const body = JSON.stringify({ credential_id: CREDENTIAL }).padEnd(65_536)
    for (const path of ['/api_keys', '/platforms/sandbox/link/start']) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })
      t.equal(await answer.text(), 'served here', path)
    }
    t.strictSame(bodies, [body, body], 'the body is there for the route')

    // In two pieces, the second of which is late.
    const slow = request({
      port,
      path: '/api_keys',
      method: 'POST',
      headers: { 'content-length': 4 },
    })
    slow.write('{ ')
    await pause(50)
    t.equal(bodies.length, 2, 'nothing is decided before the body has come')
    slow.end(' }')
    const [response] = await once(slow, 'response')
    t.equal(await text(response), 'served here')
    t.equal(bodies.at(-1), '{  }')
  },
)

t.test('a body that names its account is looked at in whatever shape it comes', async (t) => {
  const { port, bodies } = await readingBodies(t)
  const body = JSON.stringify({ credential_id: CREDENTIAL })
  const head = (headers: string) => `POST /api_keys HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`
  const sized = head(`content-length: ${body.length}`)
  const chunked = `${head('transfer-encoding: chunked')}5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`
  const open = () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    t.teardown(() => socket.destroy())
    return socket
  }

  // Three requests at once, the second without a body, the third in pieces of its own.
  open().write(sized + body + head('content-length: 0') + chunked)
  await until(() => bodies.length === 3)
  t.strictSame(bodies.splice(0), [body, '', body])

  // The client asks before it sends.
  const polite = open()
  polite.write(head(`content-length: ${body.length}\r\nexpect: 100-continue`))
  const [answer] = await once(polite, 'data')
  t.match(`${answer}`, /^HTTP\/1.1 100 /)
  polite.write(body)
  await until(() => bodies.length === 1)
  t.strictSame(bodies.splice(0), [body])

  // The length is a lie, and the client leaves.
  const lying = open().resume()
  lying.end(head(`content-length: ${body.length + 1}`) + body)
  await once(lying, 'close')
  open().write(sized + body)
  await until(() => bodies.length === 1)
  t.strictSame(bodies, [body], 'what never came whole is not served')
})
