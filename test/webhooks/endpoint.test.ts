/** Calls in the answers to updates: what fails in them is told in the log, and to nobody else. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { DeliveryLog, listDeliveries } from '../../src/webhooks/delivery-log.ts'
import { Connections, Endpoint } from '../../src/webhooks/endpoint.ts'
import { callIn } from '../../src/webhooks/reply-call.ts'
import type { SigningSecrets } from '../../src/webhooks/secrets.ts'
import { webhookFacts } from '../actors/webhook/rig.ts'
import { until } from '../support/client.ts'
import { only } from '../support/fakes.ts'
import { quietLogger } from '../support/logger.ts'
import { exemptFromReference } from '../support/reference-check.ts'
import { endpointParts } from './parts.ts'
import { Receiver } from './receiver.ts'
import { databaseOfUser } from './user.ts'

// The updates are made up: only their delivery is looked at.
exemptFromReference()

async function endpoint(t: Test, body: string, call: () => Promise<unknown>) {
  const receiver = await Receiver.open(t, (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(body),
  )
  const warned: unknown[] = []
  const made = new Endpoint(
    { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 },
    webhookFacts({ url: receiver.url }),
    endpointParts(t, {
      logger: { ...quietLogger, warn: (...told: unknown[]) => warned.push(told) },
      call,
    }),
  )
  t.teardown(() => made.close())
  const deliver = () => made.deliver({ updateId: 9, body: '{}' }, AbortSignal.timeout(5_000))
  return { deliver, warned, receiver, close: () => made.close() }
}

t.test('a call that fails is told in the log, and the update is delivered', async (t) => {
  const loose: unknown[] = []
  const hear = (cause: unknown) => loose.push(cause)
  process.on('unhandledRejection', hear)
  t.teardown(() => process.off('unhandledRejection', hear))
  const err = new Error('the account is away')
  const body = JSON.stringify({ method: 'sendMessage', chat_id: 7, text: 'hi' })
  const { deliver, warned } = await endpoint(t, body, () => Promise.reject(err))
  t.match(await deliver(), { ok: true, status: 200, error: undefined })
  await until(() => warned.length > 0)
  t.same(warned, [[{ err, apiKeyId: 5 }, 'a call in the answer to a webhook failed']])
  await new Promise(setImmediate)
  t.same(loose, [], 'nothing is left to the process')
})

t.test('an answer that is no call makes none', async (t) => {
  for (const body of ['', '{', '{"chat_id":7}', 'ok']) {
    let calls = 0
    const { deliver, warned } = await endpoint(t, body, async () => calls++)
    t.match(await deliver(), { ok: true }, body)
    await new Promise((resolve) => setTimeout(resolve, 20))
    t.same([calls, warned], [0, []], body)
  }
})

t.test('a call is unpacked however its encoding is spelt', async (t) => {
  const json = JSON.stringify({ method: 'sendMessage', chat_id: 7, text: 'hi' })
  for (const encoding of ['gzip', 'GZIP', 'GZip']) {
    const call = await callIn({ type: 'application/json', encoding, body: gzipSync(json) })
    t.equal(call?.args.text('text'), 'hi', encoding)
  }
})

t.test('an endpoint that is closed keeps no connection', async (t) => {
  const { deliver, receiver, close } = await endpoint(t, '', async () => undefined)
  t.match(await deliver(), { ok: true })
  t.equal(receiver.kept, 1, 'for the next update')
  close()
  await until(() => receiver.kept === 0, 2_000)
})

t.test('a reason that no database takes is told without what it does not take', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () =>
      socket.end('HTTP/1.1 500 a\0b\x1b\tc\r\ncontent-length: 0\r\n\r\n', 'latin1'),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  const { port } = server.address() as AddressInfo
  const key = { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 }
  const made = new Endpoint(
    key,
    webhookFacts({ url: `http://127.0.0.1:${port}/` }),
    endpointParts(t),
  )
  t.teardown(() => made.close())
  const attempt = await made.deliver({ updateId: 9, body: '{}' }, AbortSignal.timeout(5_000))
  t.match(attempt, { status: 500, error: 'Wrong response from the webhook: 500 a b c' })
  // It is written together with the attempts of all other users.
  const { database } = await databaseOfUser(t)
  const log = new DeliveryLog(database, quietLogger, 30)
  const common = { at: Date.now(), attempt: 1, isRepeated: false }
  const rest = { traceId: undefined, nextAttemptAt: undefined }
  log.add({ key, url: 'https://bot.example' }, { ...attempt, ...common, ...rest, updateId: 9 })
  log.add({ key, url: 'https://bot.example' }, { ...attempt, ...common, ...rest, updateId: 10 })
  await log.flush()
  const { deliveries } = await listDeliveries(database, { userId: 1, limit: 5 })
  t.same(
    deliveries.map(({ update_id }) => update_id),
    [10, 9],
  )
})

t.test('a delivery that has ended while its secrets were read posts nothing', async (t) => {
  const receiver = await Receiver.open(t)
  const cut = new AbortController()
  const loaded = Promise.withResolvers<never>()
  const parts = endpointParts(t, {
    connections: new Connections({ deliveries: 1, probes: 0 }),
    secrets: only<SigningSecrets>(t, 'SigningSecrets', {
      known: () => undefined,
      load: () => loaded.promise,
    }),
  })
  const made = new Endpoint(
    { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 },
    webhookFacts({ url: receiver.url }),
    parts,
  )
  t.teardown(() => made.close())
  const delivering = made.deliver({ updateId: 9, body: '{}' }, cut.signal)
  cut.abort()
  loaded.resolve({ found: undefined } as never)
  t.match(await delivering, { ok: false, status: undefined })
  t.same(receiver.received, [])
  t.equal(parts.connections.for(false).take(1, AbortSignal.timeout(1)), undefined)
})

t.test('a delivery that cannot be sent leaves its place to the next one', async (t) => {
  const receiver = await Receiver.open(t)
  let signing: readonly unknown[] = ['no key']
  const made = new Endpoint(
    { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 },
    webhookFacts({ url: receiver.url }),
    endpointParts(t, {
      connections: new Connections({ deliveries: 1, probes: 0 }),
      secrets: only<SigningSecrets>(t, 'SigningSecrets', {
        known: () => ({ found: undefined, signing }) as never,
      }),
    }),
  )
  t.teardown(() => made.close())
  const deliver = () => made.deliver({ updateId: 9, body: '{}' }, AbortSignal.timeout(5_000))
  await t.rejects(deliver(), TypeError)
  signing = []
  t.match(await deliver(), { ok: true })
})
