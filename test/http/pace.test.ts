/** Uploads may outlast the time of a request, as long as they keep coming. */
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'

const WINDOW_MS = 300

async function serve(windowMs: number): Promise<number> {
  const app = await createServer({
    logger: createLogger({ level: 'silent' }),
    requestLog: {
      journal: { record: () => undefined },
      metrics: { answered: () => undefined, botCalled: () => undefined },
    },
    trustProxy: false,
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
