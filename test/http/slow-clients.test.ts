/** Thousands of clients that hold their connections with next to nothing, and others beside them that are served. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LEAST_BYTES_PER_SECOND } from '../../src/http/malformed-requests.ts'
import { usualLimits } from '../../src/http/server.ts'
import { until } from '../support/client.ts'

const EACH = 1_000
const AT_ONCE = 100
const DRIP_MS = 500

interface Limits {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly maxConnections: number
}

async function startServer(t: Test, limits: Limits): Promise<number> {
  const file = join(import.meta.dirname, 'slow-clients-server.ts')
  const child = fork(file, [JSON.stringify(limits)], { execArgv: [] })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.disconnect()
    await ended
  })
  const [port] = await once(child, 'message')
  return port
}

interface Slow {
  /** What the server said before it closed the connection. */
  readonly said: string
  readonly tookMs: number
}

/** Says a little now and then, until the server has had enough. */
async function drip(port: number, first: string, then: string): Promise<Slow> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  // A line that is cut while something is on its way ends with an error.
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => chunks.push(chunk))
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const began = performance.now()
  socket.write(first)
  const dripping = setInterval(() => socket.write(then), DRIP_MS)
  await closed
  clearInterval(dripping)
  return { said: Buffer.concat(chunks).toString(), tookMs: performance.now() - began }
}

async function several(port: number, first: string, then: string): Promise<Promise<Slow>[]> {
  const all: Promise<Slow>[] = []
  while (all.length < EACH) {
    for (let count = 0; count < AT_ONCE; count++) all.push(drip(port, first, then))
    await pause(10)
  }
  return all
}

t.test('the limits are the published ones', async (t) => {
  t.match(usualLimits, {
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 1_000,
    maxRequestsPerSocket: 1_000,
    maxHeaderSize: 16_384,
    bodyLimit: 262_144,
    proxyKeepAlive: 72_000,
    keepAlive: 5_000,
    handlerTimeout: 60_000,
  })
  t.equal(LEAST_BYTES_PER_SECOND, 10_000)
  t.ok(usualLimits.maxConnections > 10_000, 'ten thousand polls may wait')
})

t.test('two thousand slow clients keep nobody else waiting, and are let go', async (t) => {
  t.setTimeout(180_000)
  const limits = { headersTimeout: 4_000, requestTimeout: 8_000, maxConnections: 10_000 }
  const port = await startServer(t, limits)
  const head = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const headers = several(port, 'GET /name HTTP/1.1\r\nHost: x\r\n', 'X-More: of it\r\n')
  const bodies = several(port, `${head}Content-Length: 9999\r\n\r\n{"a":"`, 'b')
  let isOver = false
  const slow = Promise.all([headers, bodies]).then(async (both) => {
    const ended = await Promise.all(both.map((all) => Promise.all(all)))
    isOver = true
    return ended
  })
  const waits: number[] = []
  while (!isOver) {
    const began = performance.now()
    const answer = await fetch(`http://127.0.0.1:${port}/name`)
    t.same([answer.status, await answer.json()], [200, { ok: true }])
    waits.push(performance.now() - began)
    await pause(50)
  }
  waits.sort((a, b) => a - b)
  const [middle = 0, longest = 0] = [waits[waits.length >> 1], waits.at(-1)]
  t.comment(`${waits.length} others waited ${middle} ms, at most ${longest} ms`)
  t.ok(waits.length > 20, `${waits.length} others were served meanwhile`)
  t.ok(middle < 500, `${middle} ms`)
  t.ok(longest < limits.requestTimeout, `${longest} ms`)

  const [slowHeaders = [], slowBodies = []] = await slow
  for (const [ended, limit] of [
    [slowHeaders, limits.headersTimeout],
    [slowBodies, limits.requestTimeout],
  ] as const) {
    t.equal(ended.length, EACH)
    const told = ended.filter(({ said }) => said !== '')
    t.ok(told.length > EACH / 2, `${told.length} were told`)
    for (const { said } of told) {
      if (/^HTTP\/1.1 408 /.test(said) && said.endsWith(late)) continue
      t.fail(`one was told ${said}`)
    }
    const tooEarly = ended.filter(({ tookMs }) => tookMs < limit - 1_000)
    t.equal(tooEarly.length, 0, 'nobody was cut before the time was over')
    const longestMs = Math.max(...ended.map(({ tookMs }) => tookMs))
    t.ok(longestMs < limit + 30_000, `the last was let go after ${longestMs} ms`)
  }
})

const late = JSON.stringify({ ok: false, error_code: 408, description: 'Request Timeout' })

t.test('beyond the limit of connections nobody is let in, and somebody again later', async (t) => {
  const limits = { headersTimeout: 60_000, requestTimeout: 60_000, maxConnections: 5 }
  const port = await startServer(t, limits)
  const holding = Array.from({ length: 5 }, () => connect(port, '127.0.0.1'))
  await Promise.all(holding.map((socket) => once(socket, 'connect')))
  const ask = () =>
    fetch(`http://127.0.0.1:${port}/name`).then(
      ({ status }) => status,
      () => undefined,
    )
  await until(async () => (await ask()) === undefined)
  for (const socket of holding) socket.destroy()
  await until(async () => (await ask()) === 200)
})
