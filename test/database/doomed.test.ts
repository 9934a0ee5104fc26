/** A server that ends a connection in the moment in which it is handed to its borrower. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { isUnavailable } from '../../src/database/failures.ts'
import { createLogger } from '../../src/observability/logger.ts'

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

const welcome = message('R', Buffer.alloc(4))
const ready = message('Z', Buffer.from('I'))
const end = message(
  'E',
  Buffer.from(
    'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0',
  ),
)

async function doomedServer(t: Test): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    // In one piece: all of it is read before anybody hears of the connection.
    socket.once('data', () => socket.end(Buffer.concat([welcome, ready, end])))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return `postgres://nobody@127.0.0.1:${typeof address === 'object' && address?.port}/nothing`
}

t.test('a connection that ends as it begins fails its transaction and nothing else', async (t) => {
  const logger = createLogger({ level: 'silent' })
  const database = openDatabase({ url: await doomedServer(t), logger })
  t.teardown(() => database.close())
  for (let attempt = 0; attempt < 3; attempt++) {
    const work = database.transaction((tx) => tx.query('select 1'))
    const error = await work.catch((error: unknown) => error)
    t.ok(isUnavailable(error), `${error}`)
  }
  const error = await database.query('select 1').catch((error: unknown) => error)
  t.ok(isUnavailable(error), `${error}`)
})
