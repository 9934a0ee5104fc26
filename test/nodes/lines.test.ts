/** Calls of one node at another: they share a connection, and are as independent of each other as if each had its own. */
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setImmediate as endOfTurn, setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { forwardingOf, listenForPeers, PROTOCOL } from '../../src/nodes/peers.ts'
import { until } from '../support/client.ts'
import { Relay } from '../support/relay.ts'
import { CREDENTIAL, KEY, startForwarder } from './forwarder-scene.ts'

const place = { credentialId: CREDENTIAL, owner: 2 }

/** Node 1 with a line to node 2, which holds everything until the test answers it. */
async function held(t: Test, protocol = PROTOCOL) {
  const owner = await listenForPeers('https://127.0.0.1:0', KEY)
  const line = await Relay.start(() => Number(new URL(owner.address).port))
  const waiting = new Map<string, ServerResponse>()
  const repeated = new Map<string, boolean | undefined>()
  owner.serve((request, response) => {
    request.resume()
    const name = request.url?.split('?')[1] ?? ''
    repeated.set(name, forwardingOf(request)?.call.isRepeated)
    waiting.set(name, response)
    response.once('close', () => waiting.delete(name))
  })
  const address = `https://127.0.0.1:${line.port}`
  const rows = [1, 2].map((incarnation) => ({ incarnation, address, protocol }))
  const { port } = await startForwarder(t, {
    rows,
    find: async () => place,
    look: async () => place,
  })
  t.teardown(async () => {
    await line.stop()
    await owner.close()
  })
  const call = (name: string, method = 'sendMessage') => {
    const sent = request({ port, path: `/bot9:secret/${method}?${name}`, method: 'POST' }).end()
    sent.on('error', () => undefined)
    const response = once(sent, 'response').then(([response]) => response as IncomingMessage)
    response.catch(() => undefined)
    return { sent, response }
  }
  const poll = (name: string) => call(name, 'getUpdates')
  const text = async ({ response }: ReturnType<typeof call>) =>
    Buffer.concat(await (await response).toArray()).toString()
  return { line, waiting, repeated, call, poll, text }
}

const names = Array.from({ length: 20 }, (_, at) => `poll-${at}`)

const both = (name: string) => [name, `${name}-too`]

t.test('they share one connection, and each gets its own answer', async (t) => {
  const { line, waiting, call, poll, text } = await held(t)
  for (const round of ['first', 'second']) {
    const calls = names.flatMap((name) => [poll(name), call(`${name}-too`)])
    await until(() => waiting.size === calls.length)
    t.equal(line.connections, 1, round)
    for (const [name, response] of waiting) response.end(`for ${name}`)
    t.strictSame(
      await Promise.all(calls.map(text)),
      names.flatMap(both).map((name) => `for ${name}`),
    )
    await until(() => waiting.size === 0)
  }
})

t.test('at a node of the version before each has a connection of its own', async (t) => {
  const { line, waiting, call, poll, text } = await held(t, PROTOCOL - 1)
  const calls = names.flatMap((name) => [poll(name), call(`${name}-too`)])
  await until(() => waiting.size === calls.length)
  t.equal(line.connections, calls.length)
  for (const [name, response] of waiting) response.end(`for ${name}`)
  t.strictSame(
    await Promise.all(calls.map(text)),
    names.flatMap(both).map((name) => `for ${name}`),
  )
})

t.test('one whose client reads nothing keeps no other one waiting', async (t) => {
  const { waiting, poll, text } = await held(t)
  const lazy = Array.from({ length: 3 }, (_, at) => poll(`lazy-${at}`))
  await until(() => waiting.size === lazy.length)
  const long = Buffer.alloc(32 * 2 ** 20, 'a')
  for (const response of waiting.values()) response.end(long)
  for (const { response } of lazy) (await response).pause()
  const other = poll('other')
  await until(() => waiting.has('other'))
  waiting.get('other')?.end('answered')
  t.equal(await text(other), 'answered')
  t.equal(waiting.size, lazy.length, 'the long answers stand still')
  for (const one of lazy) t.equal((await text(one)).length, long.length, 'and go on')
})

t.test(
  'those that leave, however many at once, end at the other node, and no other does',
  async (t) => {
    const { line, waiting, poll, text } = await held(t)
    const stays = poll('stays')
    for (let round = 0; round < 3; round++) {
      const polls = Array.from({ length: 700 }, (_, at) => poll(`${round}-${at}`))
      await until(() => waiting.size === polls.length + 1)
      for (const { sent } of polls) sent.destroy()
      await until(() => waiting.size === 1)
    }
    waiting.get('stays')?.end('answered')
    t.equal(await text(stays), 'answered')
    t.equal(line.connections, 1)
  },
)

t.test('all end with their connection, and the next one has another', async (t) => {
  const { line, waiting, poll, text } = await held(t)
  const polls = names.map((name) => poll(name))
  await until(() => waiting.size === names.length)
  line.cut()
  for (const one of polls) t.equal(await text(one), '{"ok":true,"result":[]}')
  await until(() => waiting.size === 0)
  const next = poll('next')
  await until(() => waiting.has('next'))
  waiting.get('next')?.end('answered')
  t.equal(await text(next), 'answered')
})

t.test('one whose line breaks under it may have been carried out, and says so', async (t) => {
  for (const protocol of [PROTOCOL, PROTOCOL - 1]) {
    const { line, waiting, repeated, call, text } = await held(t, protocol)
    const sent = call('sent')
    await until(() => waiting.has('sent'))
    const first = waiting.get('sent')
    t.equal(repeated.get('sent'), false)
    line.breakEncryption()
    await until(() => ![undefined, first].includes(waiting.get('sent')))
    t.equal(repeated.get('sent'), true)
    waiting.get('sent')?.end('answered')
    t.equal(await text(sent), 'answered')
  }
})

t.test('one whose line ends while it connects goes by the next line', async (t) => {
  const { line, waiting, poll, text } = await held(t)
  poll('before')
  await until(() => waiting.has('before'))
  line.silence()
  const during = poll('during')
  await pause(200)
  line.cut()
  line.unsilence()
  await until(() => waiting.has('during'))
  waiting.get('during')?.end('answered')
  t.equal(await text(during), 'answered')
})

t.test('one that connects while its process stands still keeps its line', async (t) => {
  const { line, waiting, poll, text } = await held(t)
  poll('before')
  await until(() => waiting.has('before'))
  line.silence('requests')
  const during = poll('during')
  await pause(200)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
  line.unsilence()
  await until(() => waiting.has('during'))
  waiting.get('during')?.end('answered')
  t.equal(await text(during), 'answered')
  t.equal(line.connections, 1)
})

t.test('one that gets no new connection is left to those that it has', async (t) => {
  const { line, waiting, poll, text } = await held(t)
  const before = poll('before')
  await until(() => waiting.has('before'))
  line.silence()
  const after = poll('after')
  await until(() => waiting.has('after'))
  t.equal(line.connections, 2)
  waiting.get('after')?.end('answered')
  t.equal(await text(after), 'answered')
  waiting.get('before')?.end('late')
  line.unsilence()
  t.equal(await text(before), 'late')
})

t.test('so is one that says nothing for five seconds', { timeout: 60_000 }, async (t) => {
  const { line, waiting, call, text } = await held(t)
  const ready = [call('one'), call('two')]
  await until(() => waiting.size === 2)
  for (const response of waiting.values()) response.end('answered')
  for (const one of ready) t.equal(await text(one), 'answered')
  line.silence()
  // This one has a connection within it already, and so would the next one.
  const lost = call('lost')
  await pause(5_500)
  t.notOk(waiting.has('lost'))
  const next = call('next')
  await until(() => waiting.has('next'))
  t.equal(line.connections, 2)
  waiting.get('next')?.end('answered')
  t.equal(await text(next), 'answered')
  line.unsilence()
  await until(() => waiting.has('lost'))
  waiting.get('lost')?.end('late')
  t.equal(await text(lost), 'late')
  await until(() => line.connections === 1)
})

t.test('a thousand at once at a peer that says nothing go by the next line', async (t) => {
  const { line, waiting, call, text } = await held(t)
  const calls = Array.from({ length: 1_000 }, (_, at) => call(`${at}`))
  while (line.connections === 0) await endOfTurn()
  line.silence()
  const answering = setInterval(() => {
    for (const [name, response] of waiting) response.end(`for ${name}`)
  }, 10)
  t.teardown(() => clearInterval(answering))
  t.strictSame(
    await Promise.all(calls.map(text)),
    calls.map((_, at) => `for ${at}`),
  )
})
