/** A file that a network sends in tiny chunks, for a client that does not read: what waits takes little memory. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fastify from 'fastify'
import t from 'tap'
import { fileRoutes } from '../../src/http/files.ts'
import { Downloads } from '../../src/media/downloads.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** More than the system takes for a client that does not read. */
const LARGE = 2 ** 24
/** Twice what waits before the network has to. */
const SIZE = LARGE + 2 ** 17

t.test('a client that does not read holds little of a file in chunks of one byte', async (t) => {
  let sent = 0
  async function* bytes() {
    yield Buffer.alloc(LARGE)
    for (; sent < SIZE - LARGE; sent++) {
      if (sent % 100 === 0) await turn()
      yield Buffer.alloc(1, sent)
    }
  }
  const issued = { path: 'documents/file_1', size: SIZE, file: { native: 'x' } }
  const downloads = new Downloads({
    rows: { find: async () => issued } as never,
    service: {} as never,
    limit: SIZE,
    download: async () => ({ stream: ReadableStream.from(bytes()) }) as never,
  })
  const key = { facts: { userId: 1, credentialId: 1 }, admit: async () => undefined }
  const app = fastify()
  app.addHook('onRequest', async (request) => void Object.assign(request, { audit: {} }))
  await app.register(fileRoutes, {
    gate: { admit: async () => key } as never,
    downloads,
    passFile: async () => undefined,
    downloadBytes: SIZE,
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  const socket = connect(port, '127.0.0.1').pause()
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  collect()
  const before = process.memoryUsage().heapUsed
  socket.write('GET /file/bot1:x/documents/file_1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  // It stands still once all that may wait does. How long that takes is up to the processor; a pause proves nothing where this
  // process stood still itself, so what was due in it goes first.
  for (let last = -1; sent === 0 || sent !== last; ) {
    last = sent
    await pause(500)
    for (let turns = 0; turns < 100; turns++) await turn()
  }
  collect()
  const held = process.memoryUsage().heapUsed - before
  t.ok(sent < SIZE - LARGE, `${sent} bytes were read of the network`)
  t.ok(held < 12_000_000, `${Math.round(held / 1_000)} kB are held`)
  const whole = Buffer.concat(await socket.toArray())
  const body = whole.subarray(whole.indexOf('\r\n\r\n') + 4)
  t.equal(body.length, SIZE)
  t.ok(body.subarray(LARGE).every((byte, at) => byte === at % 256))
})
