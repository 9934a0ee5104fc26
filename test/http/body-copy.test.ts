/** A body that is kept for another node, whatever its reader does with the pieces. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { BodyCopy } from '../../src/http/nodes/body-copy.ts'
import { giveBackLent, lend } from '../../src/media/give-back.ts'

/** Sends the body in pieces; resolves with the copy once the reader, which frees each piece, has had all of them. */
async function copyOf(t: Test, pieces: readonly Buffer[]): Promise<BodyCopy> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => undefined)
  t.teardown(() => {
    client.destroy()
    server.close()
  })
  const taken = Promise.withResolvers<BodyCopy>()
  server.on('request', async (request, response) => {
    const copy = BodyCopy.of(request, response)
    for await (const piece of request as AsyncIterable<Buffer>) {
      lend(piece)
      giveBackLent(piece)
    }
    taken.resolve(copy)
  })
  client.write('POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n')
  for (const piece of pieces) {
    client.write(
      Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
    )
  }
  client.write('0\r\n\r\n')
  return taken.promise
}

t.test('its reader may free the pieces', async (t) => {
  const pieces = Array.from({ length: 20 }, (_, place) => Buffer.alloc(100_000, place))
  const copy = await copyOf(t, pieces)
  t.ok(Buffer.concat(pieces).equals((await copy.whole())!))
})

t.test('one in very many pieces is not kept, because each of them takes memory', async (t) => {
  const copy = await copyOf(t, Array<Buffer>(70_000).fill(Buffer.from('1')))
  t.equal(copy.isKept, false)
  t.equal(await copy.whole(), undefined)
})
