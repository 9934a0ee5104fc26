/** Uploads may outlast the time of a request, as long as they keep coming. */
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createServer, type ServerOptions } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { until } from '../support/client.ts'

const WINDOW_MS = 300

async function serve(windowMs: number, forwarder?: ServerOptions['forwarder']): Promise<number> {
  const app = await createServer({
    logger: createLogger({ level: 'silent' }),
    requestLog: {
      journal: { record: () => undefined },
      metrics: { answered: () => undefined, botCalled: () => undefined },
    },
    trustProxy: false,
    ...(forwarder && { forwarder }),
    limits: { headersTimeout: 100, requestTimeout: windowMs, connectionsCheckingInterval: 50 },
  })
  app.addContentTypeParser('*', (_, __, done) => done(null))
  app.post('/bot1/upload', async (asked) => {
    let bytes = 0
    for await (const chunk of asked.raw) bytes += chunk.length
    return { bytes }
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return (app.server.address() as AddressInfo).port
}

const usualPort = await serve(WINDOW_MS)

/** Sends a piece at each interval; resolves with the status and how long it took. */
async function upload(
  pieces: number,
  bytes: number,
  everyMs: number,
  type: string,
  port = usualPort,
) {
  const began = performance.now()
  const headers = { 'content-type': type }
  const asked = request({ port, path: '/bot1/upload', method: 'POST', headers })
  const answered = new Promise<number | undefined>((resolve) => {
    asked.on('response', (answer) => resolve(answer.resume().statusCode))
    asked.on('error', () => resolve(undefined))
  })
  let status: number | undefined
  answered.then((code) => {
    status = code
  })
  for (let sent = 0; sent < pieces && status === undefined; sent++) {
    asked.write(Buffer.alloc(bytes))
    await pause(everyMs)
  }
  asked.end()
  return { status: await answered, tookMs: performance.now() - began }
}

const multipart = 'multipart/form-data; boundary=x'

t.test('an upload that keeps coming is received to its end', async (t) => {
  const { status, tookMs } = await upload(25, 20_000, 50, multipart)
  t.equal(status, 200)
  t.ok(tookMs > 3 * WINDOW_MS, 'it took longer than other requests may')
})

t.test('so is one that another node answers', async (t) => {
  const port = await serve(WINDOW_MS, {
    serveOn: (server) =>
      void server.on('request', async (asked, answer) => {
        answer.end(`${(await asked.toArray()).length}`)
      }),
  })
  const { status, tookMs } = await upload(25, 20_000, 50, multipart, port)
  t.equal(status, 200)
  t.ok(tookMs > 3 * WINDOW_MS, `${tookMs} ms`)
})

t.test('one that drips is 408 soon, and so is any other slow body', async (t) => {
  for (const type of [multipart, 'application/json']) {
    const { status, tookMs } = await upload(200, 1, 50, type)
    t.equal(status, 408, type)
    t.ok(tookMs < 5_000, `${type} took ${tookMs}`)
  }
})

t.test('what counts is how much comes in a while, not how it is spread', async (t) => {
  const windowMs = 2_000
  const port = await serve(windowMs)
  // 40 kB a second, and then 4 kB: four times the least, and less than half of it.
  const enough = upload(80, 4_000, 100, multipart, port)
  const tooLittle = upload(200, 400, 100, multipart, port)
  const [through, cut] = await Promise.all([enough, tooLittle])
  t.equal(through.status, 200)
  t.ok(through.tookMs > 3 * windowMs, `${through.tookMs} ms`)
  t.equal(cut.status, 408)
  t.ok(cut.tookMs > windowMs && cut.tookMs < 15_000, `${cut.tookMs} ms`)
})

const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * WINDOW_MS)

/** A connection whose answers are seen. */
async function connection(t: Test) {
  const socket = connect(await serve(WINDOW_MS), '127.0.0.1').on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  let seen = ''
  socket.on('data', (bytes) => {
    seen += bytes
  })
  const answers = () => [...seen.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)
  return { socket, answers }
}

t.test('a process that stood still reads what came before it calls it late', async (t) => {
  const { socket, answers } = await connection(t)
  for (const count of [1, 2]) {
    // The first one on a new connection, and one behind an answer.
    socket.write('POST /bot1/upload HTTP/1.1\r\nhost: x\r\n')
    if (count === 2) await pause(20)
    socket.write('content-length: 2\r\n\r\nxx')
    standStill()
    await until(() => answers().length === count)
  }
  // Longer than a rest is waited for.
  await pause(1_500)
  t.same(answers(), ['200', '200'])
})

t.test('an upload whose beginning was read late goes on while it keeps coming', async (t) => {
  const { socket, answers } = await connection(t)
  const [pieces, bytes] = [40, 20_000]
  socket.write('POST /bot1/upload HTTP/1.1\r\nhost: x\r\n')
  socket.write(`content-type: ${multipart}\r\ncontent-length: ${pieces * bytes}\r\n\r\n`)
  standStill()
  for (let sent = 0; sent < pieces && answers().length === 0; sent++) {
    socket.write(Buffer.alloc(bytes))
    await pause(50)
  }
  await until(() => answers().length > 0)
  t.same(answers(), ['200'])
})
