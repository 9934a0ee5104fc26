/** One attempt at an endpoint, whatever the endpoint does. */
import type { ServerOptions } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import type { WebhookTarget } from '../../machines/webhook/terms.ts'
import { type Resolve, resolveAnything } from '../../src/net/resolver.ts'
import { Endpoint, type EndpointParts } from '../../src/webhooks/endpoint.ts'
import type { ExchangeResult } from '../../src/webhooks/exchange.ts'
import { callIn } from '../../src/webhooks/reply-call.ts'
import { until } from '../support/client.ts'
import { exemptFromReference } from '../support/reference-check.ts'
import { expired, good, otherHost } from './certificates.ts'
import { endpointParts } from './parts.ts'
import { type Answering, Receiver } from './receiver.ts'

// The updates are made up: only their delivery is looked at.
exemptFromReference()

const LIMIT_MS = 400

interface SenderOptions extends Pick<EndpointParts, 'keepsExchange'> {
  readonly allowPrivate: boolean
  readonly resolve: Resolve
  readonly timeoutMs: number
}

interface More extends Partial<WebhookTarget>, Partial<SenderOptions> {
  readonly tls?: ServerOptions
}

/** One attempt, and how long it took. */
async function attempt(t: Test, answer: Answering, more: More = {}) {
  const { tls, ...rest } = more
  const receiver = await Receiver.open(t, answer, tls)
  const sender = senderTo(t, { url: receiver.url, ...rest })
  const began = performance.now()
  const sent = await post(sender)
  return { ...sent, receiver, sender, tookMs: performance.now() - began }
}

function senderTo(t: Test, more: Partial<WebhookTarget> & Partial<SenderOptions>): Endpoint {
  const { allowPrivate = true, timeoutMs = LIMIT_MS, resolve = resolveAnything, ...rest } = more
  const { keepsExchange = () => false, ...target } = rest
  const sender = new Endpoint(
    { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 },
    {
      url: '',
      ipAddress: undefined,
      maxConnections: 2,
      secretToken: undefined,
      certificate: undefined,
      ...target,
    },
    endpointParts(t, { guard: { allowPrivate, resolve }, timeoutMs, keepsExchange }),
  )
  t.teardown(() => sender.close())
  return sender
}

const post = (sender: Endpoint, signal = new AbortController().signal) =>
  new Promise<ExchangeResult>((ended) => sender.post('{}', [], signal, ended))

const status =
  (code: number, headers: Record<string, string> = {}): Answering =>
  (_, response) =>
    response.writeHead(code, headers).end()

t.test('every 2xx is an acknowledgement', async (t) => {
  for (const code of [200, 201, 202, 204, 299]) {
    t.match(await attempt(t, status(code)), { status: code, error: undefined })
  }
})

t.test('anything else is a failure with its code and reason', async (t) => {
  const reasons: [number, string][] = [
    [300, 'Multiple Choices'],
    [400, 'Bad Request'],
    [401, 'Unauthorized'],
    [410, 'Gone'],
    [500, 'Internal Server Error'],
  ]
  for (const [code, reason] of reasons) {
    const error = `Wrong response from the webhook: ${code} ${reason}`
    t.match(await attempt(t, status(code)), { status: code, error })
  }
})

t.test('what an endpoint says of its failure is cut', async (t) => {
  const chatty: Answering = (_, response) => response.writeHead(500, 'no'.repeat(4_000)).end()
  const { status, error = '' } = await attempt(t, chatty)
  t.equal(status, 500)
  t.match(error, /^Wrong response from the webhook: 500 nono/)
  t.equal(error.length, 256)
})

t.test('redirects are failures, and nobody follows them', async (t) => {
  const target = await Receiver.open(t)
  for (const code of [301, 302, 303, 307, 308]) {
    const sent = await attempt(t, status(code, { location: target.url, refresh: '0' }))
    t.match(sent, { status: code, error: /Wrong response/ })
  }
  t.equal(target.received.length, 0)
})

t.test('Retry-After counts in seconds and as a date, up to an hour', async (t) => {
  const rest = async (value: string) =>
    (await attempt(t, status(429, { 'retry-after': value }))).retryAfterMs
  t.equal(await rest('7'), 7_000)
  t.equal(await rest('999999'), 3_600_000)
  t.equal(await rest('soon'), undefined)
  const inMs = await rest(new Date(Date.now() + 60_000).toUTCString())
  t.ok(inMs !== undefined && inMs > 50_000 && inMs <= 60_000, `${inMs}`)
})

t.test('the whole attempt has one time limit', async (t) => {
  const never = await attempt(t, () => undefined)
  t.match(never, { status: undefined, error: 'Read timeout expired' })
  const drip = await attempt(t, (_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 50)
    response.once('close', () => clearInterval(timer))
  })
  t.match(drip, { error: 'Read timeout expired' })
  const continuing = await attempt(t, (_, response) => {
    const timer = setInterval(() => response.writeProcessing(), 50)
    response.once('close', () => clearInterval(timer))
  })
  t.match(continuing, { error: 'Read timeout expired' })
  for (const { tookMs } of [never, drip, continuing]) {
    t.ok(tookMs > LIMIT_MS - 50 && tookMs < 4 * LIMIT_MS, `${tookMs} ms`)
  }
})

t.test('attempts that end in any order leave no timer', async (t) => {
  const waiting: (() => void)[] = []
  const receiver = await Receiver.open(t, (_, response) => {
    waiting.push(() => response.end())
  })
  const sender = senderTo(t, { url: receiver.url, maxConnections: 4 })
  const sent = Array.from({ length: 4 }, () => post(sender))
  await until(() => waiting.length === 4)
  for (const place of [1, 3, 0, 2]) {
    waiting[place]?.()
    await pause(5)
  }
  await Promise.all(sent)
  const timers = t.capture(globalThis, 'setTimeout', globalThis.setTimeout)
  await pause(2 * LIMIT_MS)
  const set = timers().length
  // One that is kept in the list after its end is past its time for ever.
  t.ok(set < 20, `${set}`)
})

t.test('a delivery that fails as it is told of rejects', async (t) => {
  const receiver = await Receiver.open(t, (_, response) => response.end())
  const keepsExchange = () => {
    throw new Error('boom')
  }
  const sender = senderTo(t, { url: receiver.url, keepsExchange })
  const { signal } = new AbortController()
  for (let places = 0; places < 3; places++) {
    await t.rejects(sender.deliver({ updateId: 9, body: '{}' }, signal), { message: 'boom' })
  }
})

t.test('broken connections are told apart in words', async (t) => {
  const reset = await attempt(t, (_, { socket }) => socket?.resetAndDestroy())
  t.match(reset, { status: undefined, error: 'Connection reset by peer' })
  await reset.receiver.close()
  const again = await post(reset.sender)
  t.match(again, { status: undefined, error: 'Connection refused' })
})

t.test('more than 64 KiB of an answer is not read', async (t) => {
  let written = 0
  const sent = await attempt(t, (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384
    }
    response.on('drain', more).on('error', () => undefined)
    more()
  })
  t.match(sent, { status: 200, error: undefined, reply: undefined })
  t.ok(written < 50_000_000, `${written} bytes were written`)
})

t.test('a bomb is not inflated', async (t) => {
  const bomb = gzipSync(`{"method":"sendMessage","text":"${'a'.repeat(30_000_000)}"}`)
  t.ok(bomb.length < 65_536)
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
  const { reply } = await attempt(t, (_, response) => response.writeHead(200, headers).end(bomb))
  t.equal(reply && (await callIn(reply)), undefined)
})

t.test('endless headers are refused', async (t) => {
  const sent = await attempt(t, (_, { socket }) => {
    socket?.write(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(1_000_000)}\r\n\r\n`)
  })
  t.match(sent, { error: "The header of the webhook's answer is too long" })
})

t.test('connections are used again', async (t) => {
  const { sender, receiver } = await attempt(t, status(200))
  for (let count = 0; count < 5; count++) {
    await post(sender)
  }
  t.equal(receiver.received.length, 6)
  t.ok(receiver.connections <= 2, `${receiver.connections} connections`)
})

t.test('a connection whose answer was cut is not used again', async (t) => {
  const long = 'x'.repeat(70_000)
  const receiver = await Receiver.open(t, (_, response) => response.end(long))
  const sender = senderTo(t, { url: receiver.url })
  const { signal } = new AbortController()
  t.match(await post(sender, signal), { status: 200 })
  receiver.answer = (_, response) => response.end()
  t.match(await post(sender, signal), { status: 200 })
  t.match(await post(sender, signal), { status: 200 })
  t.equal(receiver.connections, 2)
  await until(() => receiver.kept === 1)
})

t.test('a dial that was cut keeps nobody waiting', async (t) => {
  const receiver = await Receiver.open(t)
  let dials = 0
  const resolve: Resolve = () =>
    dials++ === 0 ? new Promise(() => undefined) : resolveAnything('127.0.0.1')
  const url = receiver.url.replace('127.0.0.1', 'bot.example')
  const sender = senderTo(t, { url, maxConnections: 1, timeoutMs: 60_000, resolve })
  const cut = new AbortController()
  const posting = post(sender, cut.signal)
  await until(() => dials === 1)
  cut.abort()
  t.match(await posting, { status: undefined })
  const began = performance.now()
  t.match(await post(sender), { status: 200 })
  t.ok(performance.now() - began < 4_000, 'the first dial would be given up after five seconds')
})

t.test('no more connections than the webhook allows, and none after the end', async (t) => {
  const receiver = await Receiver.open(t, () => new Promise(() => undefined))
  const sender = senderTo(t, { url: receiver.url, timeoutMs: 60_000 })
  const cut = new AbortController()
  const forever = new AbortController().signal
  const posting = [forever, forever, cut.signal, forever].map((signal) => post(sender, signal))
  await receiver.count(2)
  cut.abort()
  t.match(await posting[2], { status: undefined, error: 'Read timeout expired' })
  sender.close()
  for (const sent of await Promise.all(posting)) t.equal(sent.status, undefined)
  t.match(await post(sender, forever), { status: undefined })
  t.equal(receiver.connections, 2)
  t.equal(receiver.received.length, 2)
})

t.test('who waits for a connection gets the next one that is free', async (t) => {
  const held: (() => void)[] = []
  const receiver = await Receiver.open(t, (_, response) => held.push(() => response.end()))
  const sender = senderTo(t, { url: receiver.url, timeoutMs: 60_000 })
  const cut = new AbortController()
  const forever = new AbortController().signal
  const posting = [forever, cut.signal, forever, cut.signal, forever].map((signal) =>
    post(sender, signal),
  )
  await receiver.count(2)
  // One of them has a connection, which is lost with it, and one waits.
  cut.abort()
  await receiver.count(3)
  held.shift()?.()
  t.match(await posting[0], { status: 200 })
  await receiver.count(4)
  for (const answer of held) answer()
  t.match(await Promise.all([posting[2], posting[4]]), [{ status: 200 }, { status: 200 }])
  t.equal(receiver.connections, 3)
})

t.test('certificates have to be valid, unless one was handed over', async (t) => {
  const ok = status(200)
  t.match(await attempt(t, ok, { tls: good }), { error: /^SSL error \{/ })
  t.match(await attempt(t, ok, { tls: good, certificate: good.cert }), { error: undefined })
  t.match(await attempt(t, ok, { tls: good, certificate: otherHost.cert }), { error: /^SSL/ })
  t.match(await attempt(t, ok, { tls: otherHost, certificate: otherHost.cert }), {
    error: /^SSL error \{.*altnames/s,
  })
  t.match(await attempt(t, ok, { tls: expired, certificate: expired.cert }), {
    error: /^SSL error \{.*expired/s,
  })
  const old = { ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const
  t.match(await attempt(t, ok, { tls: old, certificate: good.cert }), { status: undefined })
})

t.test('a pinned address is dialled, under the name of the host', async (t) => {
  const receiver = await Receiver.open(t, status(200), otherHost)
  const { port } = receiver
  const sender = senderTo(t, {
    url: `https://other.example:${port}/hook`,
    ipAddress: '127.0.0.1',
    certificate: otherHost.cert,
  })
  const sent = await post(sender)
  t.match(sent, { status: 200, error: undefined })
  t.equal(receiver.received[0]?.headers.host, `other.example:${port}`)
})

t.test('addresses that are not public are refused at every attempt', async (t) => {
  const receiver = await Receiver.open(t)
  const { port } = receiver
  const names = ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', 'inner.example']
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  for (const name of names) {
    const sender = senderTo(t, { url: `http://${name}:${port}/`, allowPrivate: false, resolve })
    const sent = await post(sender)
    t.match(sent, { status: undefined, error: 'IP address is reserved' }, name)
  }
  t.equal(receiver.connections, 0)
})

t.test('user info that is no valid escape is taken as it is', async (t) => {
  const receiver = await Receiver.open(t)
  const sender = senderTo(t, { url: `http://us%zer:p%20w@127.0.0.1:${receiver.port}/` })
  await post(sender)
  const expected = `Basic ${Buffer.from('us%zer:p w').toString('base64')}`
  t.equal(receiver.received[0]?.headers.authorization, expected)
})
