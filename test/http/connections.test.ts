/** What becomes of connections when there are too many: who gives way, who is still served, and who is told. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type ConnectionLimits, limitConnections, withReserve } from '../../src/http/connections.ts'
import { createServer, StartupServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { addressCheck } from '../../src/security/addresses.ts'
import { until } from '../support/client.ts'
import { freePort } from '../support/ports.ts'

const nowhere = { journal: { record() {} }, metrics: { answered() {}, botCalled() {} } }

async function serve(t: Test, limits: ConnectionLimits, proxies: string[] | false = false) {
  const logger = createLogger({ level: 'silent' })
  const requestLog = nowhere
  const maxConnections = withReserve(limits)
  const app = await createServer({
    logger,
    requestLog,
    trustProxy: false,
    limits: { maxConnections },
  })
  t.teardown(() => app.close())
  const refused: string[] = []
  const lines: string[] = []
  let open = () => 0
  limitConnections(app, {
    limits,
    isProxy: addressCheck(proxies),
    logger: { warn: (_facts: object, text: string) => void lines.push(text) } as never,
    metrics: {
      connectionRefused: (reason) => void refused.push(reason),
      openConnections: (read) => {
        open = read
      },
    },
  })
  app.get('/health/live', async () => ({ ok: true }))
  app.get('/bot/getMe', async () => ({ ok: true }))
  let stalled = 0
  app.get('/stalled', (_, reply) => {
    reply.hijack()
    reply.raw.setTimeout(200, () => {
      stalled++
      reply.raw.destroy()
    })
    reply.raw.end(Buffer.alloc(20_000_000))
  })
  app.get('/platforms/credentials/events', async () => ({ ok: true }))
  let polls = 0
  app.get('/bot/getUpdates', async () => {
    polls++
    await pause(60_000, undefined, { ref: false })
    return { ok: true }
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  const client = async () => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined).setEncoding('utf8')
    const seen = { text: '', isClosed: false }
    socket.on('data', (text) => {
      seen.text += text
    })
    socket.once('close', () => {
      seen.isClosed = true
    })
    await once(socket, 'connect')
    const ask = (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    return { socket, seen, ask }
  }
  const several = (count: number) => Promise.all(Array.from({ length: count }, client))
  const busy = async (count: number) => {
    const clients = await several(count)
    for (const { ask } of clients) ask('/bot/getUpdates')
    await until(() => polls === count)
    return clients
  }
  return { client, several, busy, refused, lines, open: () => open(), stalled: () => stalled }
}

t.test('who is idle for longest gives way to who comes', async (t) => {
  const { client, several, refused, lines, open } = await serve(t, { most: 3, perAddress: 100 })
  const [first, second, third] = await several(3)
  first!.ask('/health/live')
  await until(() => first!.seen.text.includes('ok'))
  const fourth = await client()
  fourth.ask('/bot/getMe')
  await until(() => fourth.seen.text.includes('200 OK'))
  await until(() => second!.seen.isClosed)
  t.notOk(first!.seen.isClosed, 'who has asked since stays')
  t.notOk(third!.seen.isClosed)
  t.strictSame(refused, ['idle'])
  t.strictSame(lines, ['connections were turned away'])
  t.equal(open(), 3)
})

t.test('when all are busy, health is answered and bots are told to come back', async (t) => {
  const { client, several, busy, refused } = await serve(t, { most: 20, perAddress: 100 })
  await busy(20)
  const bot = await client()
  bot.ask('/bot/getMe')
  await until(() => bot.seen.isClosed)
  t.match(bot.seen.text, /^HTTP\/1.1 503 .*connection: close.*"retry_after":1/is)
  const events = await client()
  events.ask('/platforms/credentials/events')
  await until(() => events.seen.isClosed)
  t.match(events.seen.text, /^HTTP\/1.1 503 /, 'a stream would hold the place')
  const unfinished = await client()
  unfinished.socket.write('POST /bot/getMe HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nx')
  await pause(2_500)
  unfinished.socket.write('12345678')
  await until(() => unfinished.seen.isClosed)
  const health = await client()
  health.ask('/health/live')
  await until(() => health.seen.isClosed)
  t.match(health.seen.text, /^HTTP\/1.1 200 .*connection: close/is, 'and its place is free again')
  const silent = await client()
  await until(() => silent.seen.isClosed)
  t.equal(silent.seen.text, '', 'who does not ask does not hold the place')

  const more = await several(1)
  more[0]!.ask('/bot/getUpdates')
  await until(() => more[0]!.seen.isClosed)
  t.strictSame(refused, [])
})

t.test('who sent several requests at once is not idle before the last is answered', async (t) => {
  const { client, refused } = await serve(t, { most: 1, perAddress: 100 })
  const first = await client()
  first.ask('/health/live')
  first.ask('/bot/getUpdates')
  await until(() => first.seen.text.includes('ok'))
  await pause(50)
  const second = await client()
  second.ask('/health/live')
  await until(() => second.seen.text.includes('200 OK'))
  t.notOk(first.seen.isClosed)
  t.strictSame(refused, [])
})

t.test('who writes letters that are not escaped is one connection, and busy', async (t) => {
  const { client, several, open, stalled } = await serve(t, { most: 2, perAddress: 2 })
  const busy = await client()
  busy.ask('/bot/getUpdates?é')
  await until(() => busy.socket.bytesWritten > 0 && open() === 1)
  await pause(100)
  t.equal(open(), 1)
  const second = await client()
  second.ask('/health/live?é')
  await until(() => second.seen.isClosed)
  t.match(second.seen.text, /^HTTP\/1.1 200 .*"ok":true/is)
  await until(() => open() === 1)
  const [third] = await several(1)
  t.notOk(busy.seen.isClosed, 'who waits for an answer gives way to nobody')
  third!.socket.destroy()
  await until(() => open() === 1)
  const idle = await client()
  idle.socket.pause()
  idle.ask('/stalled?é')
  await until(() => stalled() === 1)
  await until(() => open() === 1)
  busy.socket.destroy()
  await until(() => open() === 0)
})

t.test('beyond the reserve it is counted, too', async (t) => {
  const { client, busy, refused } = await serve(t, { most: 20, perAddress: 100 })
  await busy(20)
  const [held, dropped] = [await client(), await client()]
  await until(() => dropped.seen.isClosed)
  t.strictSame(refused, ['full'])
  held.ask('/health/live')
  await until(() => held.seen.text.includes('200 OK'))
})

t.test('one address has its share, and a proxy has that of everybody', async (t) => {
  const { client, several, refused } = await serve(t, { most: 100, perAddress: 2 })
  const [first] = await several(2)
  const third = await client()
  await until(() => third.seen.isClosed)
  t.strictSame(refused, ['address'])
  first!.socket.destroy()
  await until(async () => {
    const next = await client()
    next.ask('/health/live')
    await pause(50)
    return next.seen.text.includes('200 OK')
  })

  const behind = await serve(t, { most: 100, perAddress: 2 }, ['127.0.0.0/8'])
  for (const { ask } of await behind.several(5)) ask('/health/live')
  await pause(100)
  t.strictSame(behind.refused, [])
})

t.test('at a start a poll is held for a second where calls are not held at all', async (t) => {
  const at = { host: '127.0.0.1', port: await freePort() }
  const door = await StartupServer.open(
    { ...at, trustProxy: false, timing: { holdFor: 0 } } as never,
    createLogger({ level: 'silent' }),
  )
  t.teardown(() => door.close())
  const began = performance.now()
  const ask = async (method: string) => {
    const answer = await fetch(`http://127.0.0.1:${at.port}/bot1:key/${method}`)
    const { ok } = (await answer.json()) as { ok: boolean }
    return { ok, status: answer.status, after: performance.now() - began }
  }
  const [poll, call] = await Promise.all([ask('getUpdates?timeout=30'), ask('getMe')])
  t.strictSame([call.ok, call.status], [false, 503])
  t.strictSame([poll.ok, poll.status], [true, 200])
  t.ok(poll.after >= 990, 'or a bot would ask again and again')
})

t.test('what is written before the routes are there is read like later', async (t) => {
  const logger = createLogger({ level: 'silent' })
  const at = { host: '127.0.0.1', port: await freePort() }
  const door = await StartupServer.open(
    { ...at, trustProxy: false, timing: { holdFor: 20_000 } } as never,
    logger,
  )
  const talk = (request: string) => {
    const socket = connect(at.port, at.host)
    const seen = { text: '', isClosed: false }
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      seen.text += text
    })
    socket.on('close', () => {
      seen.isClosed = true
    })
    socket.write(request)
    t.teardown(() => socket.destroy())
    return seen
  }
  const unescaped = talk('GET /said?text=\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n')
  const malformed = talk('GET /said HTTP/9.1\r\n\r\n')
  const proxying = talk('CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => malformed.isClosed && proxying.isClosed)
  t.match(malformed.text, /^HTTP\/1.1 505 .*"ok":false/is)
  t.match(proxying.text, /^HTTP\/1.1 405 .*"ok":false/is)
  t.same(unescaped, { text: '', isClosed: false }, 'it waits for the routes')

  const app = await createServer({
    logger,
    requestLog: nowhere,
    trustProxy: false,
    startupServer: door,
  })
  t.teardown(() => app.close())
  let open = () => 0
  limitConnections(app, {
    limits: { most: 10, perAddress: 10 },
    isProxy: addressCheck(false),
    logger: { warn() {} } as never,
    metrics: {
      connectionRefused: (reason) => t.fail(reason),
      openConnections: (read) => {
        open = read
      },
    },
  })
  app.get('/said', async ({ query }) => {
    // It is one connection; those that were refused may still be closing.
    await until(() => open() === 1)
    return query
  })
  await app.listen(at)
  await until(() => unescaped.isClosed)
  t.match(unescaped.text, /^HTTP\/1.1 200 .*\{"text":"\xc3\xa9"\}$/is)
  const later = talk('GET /said?text=\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => later.isClosed)
  t.match(later.text, /^HTTP\/1.1 200 /)
  const proxyingLater = talk('CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => proxyingLater.isClosed)
  t.equal(proxyingLater.text.split('HTTP/1.1 405').length, 2, 'it is answered once')
})
