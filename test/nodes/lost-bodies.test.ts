/** A node that loses an account before anything was done for a call gives the call to the next owner, however much of its body has come. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { StartupServer } from '../../src/http/server.ts'
import { ownerLost } from '../../src/nodes/owners.ts'
import { forwardingOf, listenForPeers, misdirect } from '../../src/nodes/peers.ts'
import { until } from '../support/client.ts'
import { freePort } from '../support/ports.ts'
import { CREDENTIAL, KEY, SELF, type Serve, startForwarder } from './forwarder-scene.ts'

const NEXT = 2

/** Node 1, whose routes are `serve`, beside node 2, which answers with the body that it got. */
async function nodeThatLoses(t: Test, serve: Serve) {
  const next = await listenForPeers('https://127.0.0.1:0', KEY)
  t.teardown(() => next.close())
  next.serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    response.end(`the next owner got ${body.length}: ${body.subarray(0, 11)}`)
  })
  const table = { owner: SELF, isRemembered: true, asked: Promise.withResolvers<void>() }
  const place = () => ({ credentialId: CREDENTIAL, owner: table.owner })
  const rows = [SELF, NEXT].map((incarnation) => ({ incarnation, address: next.address }))
  const { server, port } = await startForwarder(t, {
    rows,
    find: async () => place(),
    look: async () => {
      await table.asked.promise
      return place()
    },
    serve,
    owns: () => table.isRemembered && table.owner === SELF,
  })
  const taken = once(server, 'request').then(([request]) => request as IncomingMessage)
  const post = (headers: Readonly<Record<string, string | number>>) => {
    const sent = request({ port, path: '/bot9:secret/sendPhoto', method: 'POST', headers })
    sent.on('error', () => undefined)
    const answer = (async () => {
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return Buffer.concat(await response.toArray()).toString()
    })()
    return { sent, answer }
  }
  return { table, taken, post }
}

/** A node that loses the account after the first piece of a body; how to post to it. */
async function losingAfterTheFirstPiece(t: Test) {
  const scene = await nodeThatLoses(t, async (request) => {
    request.on('data', () => undefined)
    await once(request, 'data')
    scene.table.owner = NEXT
    t.ok(ownerLost(request))
  })
  scene.table.asked.resolve()
  return scene.post
}

t.test('what came of a body while the table was read is in the copy of it', async (t) => {
  const { table, taken, post } = await nodeThatLoses(t, async (request) => {
    await request.toArray()
    table.owner = NEXT
    t.ok(ownerLost(request))
  })
  // The node does not know yet that the account is its own, and asks the table.
  table.isRemembered = false
  const { sent, answer } = post({ 'content-length': 11 })
  sent.end('a short one')
  const request = await taken
  await until(() => request.complete)
  table.asked.resolve()
  t.equal(await answer, 'the next owner got 11: a short one')
})

t.test('a body that has not come whole is waited for', async (t) => {
  const bytes = Buffer.alloc(40_000, 'first half ')
  for (const isRead of [false, true]) {
    const lost = Promise.withResolvers<void>()
    const { table, post } = await nodeThatLoses(t, async (request) => {
      if (isRead) {
        request.on('data', () => undefined)
        await once(request, 'data')
        request.pause()
      }
      table.owner = NEXT
      t.ok(ownerLost(request))
      lost.resolve()
    })
    table.asked.resolve()
    const { sent, answer } = post({ 'content-length': bytes.length })
    sent.write(bytes.subarray(0, 20_000))
    await lost.promise
    sent.end(bytes.subarray(20_000))
    t.equal(await answer, 'the next owner got 40000: first half ')
  }
})

const framings = (bytes: Buffer) => [
  { 'content-length': bytes.length },
  { 'transfer-encoding': 'chunked' },
]

t.test('a longer body goes on whole, also when it was read', async (t) => {
  const bytes = Buffer.alloc(300_000, 'long file  ')
  for (const headers of framings(bytes)) {
    const post = await losingAfterTheFirstPiece(t)
    const { sent, answer } = post(headers)
    sent.write(bytes.subarray(0, 200_000))
    await pause(50)
    sent.end(bytes.subarray(200_000))
    t.equal(await answer, 'the next owner got 300000: long file  ')
  }
})

t.test(
  'one that turns out too long to be kept is refused as one that may be repeated',
  async (t) => {
    const bytes = Buffer.alloc(9 * 2 ** 20, 'long file  ')
    const post = await losingAfterTheFirstPiece(t)
    const { sent, answer } = post({ 'transfer-encoding': 'chunked' })
    sent.end(bytes)
    t.match(JSON.parse(await answer), { error_code: 503, parameters: { retry_after: 1 } })
  },
)

t.test('a body that is on its way to an owner goes on to the next one', async (t) => {
  for (const how of ['dies', 'is no owner any more']) {
    for (const size of [300_000, 9 * 2 ** 20]) {
      const bytes = Buffer.alloc(size, 'long file  ')
      for (const headers of framings(bytes)) {
        const answered = await throughAnOwnerThat(how, bytes, headers, t)
        const isRepeated = how === 'dies'
        const expected = size < 2 ** 20 ? `got ${size}, repeated: ${isRepeated}` : undefined
        if (expected) t.equal(answered, expected)
        else t.match(JSON.parse(answered), { error_code: isRepeated ? 504 : 503 })
      }
    }
  }
})

/** Resolves with the answer to a call whose owner, node 2, ends while it reads the body, and whose next one is node 3. */
async function throughAnOwnerThat(how: string, bytes: Buffer, headers: object, t: Test) {
  const [owner, next] = await Promise.all(
    [1, 2].map(() => listenForPeers('https://127.0.0.1:0', KEY)),
  )
  if (!owner || !next) throw new Error('nobody listens')
  t.teardown(() => Promise.all([owner.close(), next.close()]))
  const table = { owner: 2 }
  owner.serve(async (request, response) => {
    await once(request, 'data')
    table.owner = 3
    if (how === 'dies') request.socket.destroy()
    else misdirect(response)
  })
  next.serve(async (request, response) => {
    const { length } = Buffer.concat(await request.toArray())
    response.end(`got ${length}, repeated: ${forwardingOf(request)?.call.isRepeated}`)
  })
  const place = async () => ({ credentialId: CREDENTIAL, owner: table.owner })
  const rows = [
    { incarnation: SELF, address: null },
    { incarnation: 2, address: owner.address },
    { incarnation: 3, address: next.address },
  ]
  const { port } = await startForwarder(t, { rows, find: place, look: place })
  const sent = request({
    port,
    path: '/bot9:secret/sendPhoto',
    method: 'POST',
    headers: { ...headers },
  })
  sent.on('error', () => undefined)
  sent.write(bytes.subarray(0, bytes.length / 2))
  const answering = once(sent, 'response')
  await until(() => table.owner === 3)
  sent.end(bytes.subarray(bytes.length / 2))
  const [response] = (await answering) as [IncomingMessage]
  return Buffer.concat(await response.toArray()).toString()
}

t.test('a body that is not kept goes on only if nobody has read any of it', async (t) => {
  const bytes = Buffer.alloc(9 * 2 ** 20, 'long file  ')
  // Of one of unknown length it shows only with the time that it is too long.
  for (const headers of framings(bytes).slice(0, 1)) {
    const unread = await nodeThatLoses(t, (request) => {
      unread.table.owner = NEXT
      t.ok(ownerLost(request))
    })
    unread.table.asked.resolve()
    const { sent, answer } = unread.post(headers)
    sent.end(bytes)
    t.equal(await answer, `the next owner got ${bytes.length}: long file  `)

    const read = await nodeThatLoses(t, async (request, response) => {
      await once(request, 'data')
      t.notOk(ownerLost(request))
      response.end('refused here')
    })
    const second = read.post(headers)
    second.sent.end(bytes)
    t.equal(await second.answer, 'refused here')
  }
})

t.test('a client that leaves before its body has come takes the call with it', async (t) => {
  const { table, taken, post } = await nodeThatLoses(t, (request) => {
    table.owner = NEXT
    t.ok(ownerLost(request))
  })
  table.asked.resolve()
  const { sent, answer } = post({ 'content-length': 20 })
  answer.catch(() => undefined)
  sent.write('half')
  const request = await taken
  sent.destroy()
  await until(() => request.destroyed && request.socket.destroyed)
  await t.rejects(answer)
})

t.test('a body that came while the node was starting goes to the owner', async (t) => {
  const next = await listenForPeers('https://127.0.0.1:0', KEY)
  t.teardown(() => next.close())
  next.serve(async (request, response) => {
    response.end(`the owner got ${Buffer.concat(await request.toArray())}`)
  })
  const place = async () => ({ credentialId: CREDENTIAL, owner: NEXT })
  const rows = [SELF, NEXT].map((incarnation) => ({ incarnation, address: next.address }))
  const { forwarder } = await startForwarder(t, { rows, find: place, look: place })
  const at = { host: '127.0.0.1', port: await freePort(), trustProxy: false as const }
  const logger = pino({ level: 'silent' })
  const door = await StartupServer.open({ ...at, timing: { holdFor: 20_000 } } as never, logger)
  const server = door.give((server) =>
    forwarder.serveOn(server, (_, response) => void response.end('served here')),
  )
  t.teardown(() => door.close())
  const url = `http://127.0.0.1:${at.port}/bot9:secret/sendMessage`
  const answers = [
    fetch(url, { method: 'POST', body: 'hello' }),
    // Nobody has told how long this one is.
    fetch(url, { method: 'POST', body: new Blob(['hel', 'lo']).stream(), duplex: 'half' } as never),
  ]
  await pause(300)
  server?.listen()
  for (const answer of answers) t.equal(await (await answer).text(), 'the owner got hello')
})
