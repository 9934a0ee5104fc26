/** A node that loses an account before anything was done for a call gives the call to the next owner, however much of its body has come. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import t, { type Test } from 'tap'
import { listenForPeers, ownerLost } from '../../src/nodes/peers.ts'
import { until } from '../support/client.ts'
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

t.test('a body that is not kept goes on only if nobody has read any of it', async (t) => {
  const bytes = Buffer.alloc(300_000, 'long file  ')
  const kinds = [{ 'content-length': bytes.length }, { 'transfer-encoding': 'chunked' }]
  for (const headers of kinds) {
    const unread = await nodeThatLoses(t, (request) => {
      unread.table.owner = NEXT
      t.ok(ownerLost(request))
    })
    unread.table.asked.resolve()
    const { sent, answer } = unread.post(headers)
    sent.end(bytes)
    t.equal(await answer, 'the next owner got 300000: long file  ')

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
