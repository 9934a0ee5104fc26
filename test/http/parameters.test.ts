/** Compressed bodies are read up to a limit, and nothing that unpacks one outlives it; no call pays for files that it does not have. */
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Readable, type Transform } from 'node:stream'
import { createGunzip, deflateSync, gzipSync } from 'node:zlib'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import t from 'tap'
import { parseCalls, wholeBody } from '../../src/http/bot/parameters.ts'
import { failureOf } from '../support/accounts.ts'

const LIMIT = 100_000
const small = Buffer.from('{"text":"hi"}')
const bomb = Buffer.alloc(50 * LIMIT)

/** What gunzips and inflates have in common. */
const unpacking: Transform = [1, 2, 3].reduce(
  (it: Transform) => Object.getPrototypeOf(it),
  createGunzip(),
)
const destroyed = t.capture(unpacking, '_destroy', unpacking._destroy)

function read(encoding: string, body: Buffer): Promise<Buffer> {
  const request = { headers: { 'content-encoding': encoding }, raw: Readable.from([body]) }
  return wholeBody(request as unknown as FastifyRequest, LIMIT)
}

const notValid = (encoding: string) => ({
  code: 'bad_request',
  description: `can't parse the request body: it is not valid ${encoding}`,
})

for (const [encoding, pack] of [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
] as const) {
  t.test(encoding, async (t) => {
    destroyed()
    t.same(await read(encoding, pack(small)), small)
    t.match(await failureOf(read(encoding, pack(bomb))), { statusCode: 413 })
    t.strictSame(await failureOf(read(encoding, pack(small).subarray(0, -6))), notValid(encoding))
    t.strictSame(await failureOf(read(encoding, small)), notValid(encoding))
    t.equal(destroyed().length, 4, 'none of the four is left')
  })
}

t.test('a body whose length says that it is too long is not waited for', async (t) => {
  const raw = new Readable({ read: () => undefined })
  const request = { headers: { 'content-length': `${LIMIT + 1}` }, raw }
  const refusal = failureOf(wholeBody(request as unknown as FastifyRequest, LIMIT))
  raw.push(small)
  t.match(await refusal, { statusCode: 413 })
})

t.test('the parser of forms listens to no answer, and hears of each form', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const handler = (request: FastifyRequest, { raw }: FastifyReply) => ({
    listeners: raw.listenerCount('close') + raw.listenerCount('finish'),
    isForm: request.isMultipart(),
  })
  app.post('/plain', (request, { raw }) => {
    request.raw.resume()
    return { listeners: raw.listenerCount('close') + raw.listenerCount('finish') }
  })
  await app.register(async (scope) => {
    await parseCalls(scope)
    scope.post('/call', handler)
  })
  const ask = async (url: string, headers = {}) =>
    (await app.inject({ method: 'POST', url, headers })).json()
  const { listeners } = await ask('/plain')
  t.strictSame(await ask('/call', { 'content-type': 'application/json' }), {
    listeners,
    isForm: false,
  })
  const form = { 'content-type': 'multipart/form-data; boundary=x' }
  t.strictSame(await ask('/call', form), { listeners, isForm: true })
})

t.test('nobody listens for a body that has come with its head', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const listened: unknown[] = []
  await app.register(async (scope) => {
    await parseCalls(scope)
    scope.post('/call', async (request) => {
      const { raw } = request
      const on = raw.on.bind(raw)
      raw.on = (name, listener) => {
        listened.push(name)
        return on(name, listener)
      }
      // The key is admitted first.
      await undefined
      return wholeBody(request, LIMIT)
    })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const call = `POST /call HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${small.length}\r\n\r\n${small}`
  // The second one shows that the first was read to its end.
  for (const _ of [1, 2]) {
    socket.write(call)
    const [answer] = await once(socket, 'data')
    t.ok(`${answer}`.endsWith(`${small}`), `${answer}`)
  }
  t.strictSame(listened, [])
})
