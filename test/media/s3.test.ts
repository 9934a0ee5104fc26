/** Files with a storage service: signed, encrypted before they leave, read by range, removed. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import { S3Store } from '../../src/media/object-store.ts'
import { refused } from '../actors/refused.ts'
import { until } from '../support/client.ts'
import { flood } from '../support/flood.ts'
import { listen, portOf } from '../support/http-server.ts'
import { s3Secrets, startS3 } from '../support/s3-server.ts'
import { collect, forever, rig } from './rig.ts'

const mime = 'application/octet-stream'

t.test('files go there and come back, whole and in part', async (t) => {
  const s3 = await startS3(t)
  const { blobs, user, file, stored } = await rig(t, { objects: new S3Store(s3.options) })
  const userId = await user()
  for (const size of [0, 1, 65_536, 1_000_000]) {
    const bytes = randomBytes(size)
    const { blob } = await blobs.add({ userId, path: await file(bytes), mime }, forever)
    t.ok(bytes.equals(await collect((await blobs.open(blob)).stream)), `${size} bytes`)
    const range = { offset: 65_530, length: 70_000 }
    const part = await collect((await blobs.open(blob, range)).stream)
    t.ok(bytes.subarray(65_530, 135_530).equals(part))
  }
  t.equal(s3.objects.size, 4)
  t.same(await stored('tmp'), [], 'nothing stays on this machine')
})

t.test('what leaves is encrypted, and what nobody needs is removed', async (t) => {
  const s3 = await startS3(t)
  const { blobs, user, file, database } = await rig(t, { objects: new S3Store(s3.options) })
  const secret = 'nobody but the account may read this'
  const { blob } = await blobs.add(
    { userId: await user(), path: await file(secret), mime },
    forever,
  )
  const [[name = '', object] = []] = s3.objects
  t.match(name, /^\/files\/[\da-f-]{36}$/)
  t.notOk(object?.includes(secret))
  await database.query(`update media_blob set expires_at = now() - interval '1 second'`)
  await blobs.sweep()
  t.equal(s3.objects.size, 0)
  await refused(t, blobs.open(blob), { code: 'not_found' })
})

t.test('an object that is gone is a file that is not there', async (t) => {
  const s3 = await startS3(t)
  const { blobs, user, file } = await rig(t, { objects: new S3Store(s3.options) })
  const { blob } = await blobs.add({ userId: await user(), path: await file('x'), mime }, forever)
  s3.objects.clear()
  await refused(t, blobs.open(blob), { code: 'not_found' })
})

t.test(
  'a service that is away takes no file for missing, and one to be kept is to be sent again',
  async (t) => {
    const s3 = await startS3(t)
    const objects = new S3Store(s3.options)
    const { blobs, user, file } = await rig(t, { objects })
    const userId = await user()
    const { blob } = await blobs.add({ userId, path: await file('x'), mime }, forever)
    const later = { code: 'unavailable', retryAfterSeconds: 5 } as const
    const others = [
      { status: 404, body: '<html>404 page not found</html>' },
      { status: 404, body: '<Error><Code>NoSuchBucket</Code></Error>' },
      { status: 502, body: '' },
      { status: 503, body: '<Error><Code>SlowDown</Code></Error>' },
      { status: 302, body: '' },
    ]
    for (const other of others) {
      s3.answer(other)
      await refused(t, blobs.open(blob), later)
      await refused(t, blobs.add({ userId, path: await file(other.body), mime }, forever), later)
    }
    s3.answer(undefined)
    t.equal(`${await collect((await blobs.open(blob)).stream)}`, 'x')
    const nowhere = new S3Store({ ...s3.options, endpoint: 'http://127.0.0.1:9' })
    const { blobs: away, user: another, file: other } = await rig(t, { objects: nowhere })
    const sent = { userId: await another(), path: await other('x'), mime }
    await refused(t, away.add(sent, forever), later)
  },
)

/** A store whose service answers as the listener does. */
async function storeAt(t: Test, listener: RequestListener): Promise<S3Store> {
  const server = await listen(t, listener)
  const endpoint = `http://127.0.0.1:${portOf(server)}`
  return new S3Store({ ...s3Secrets, endpoint, bucket: 'files', region: 'eu-test-1' })
}

t.test('of an answer without end the beginning is read, whatever was asked for', async (t) => {
  let isOpen = true
  let sent = 0
  const store = await storeAt(t, (request, response) => {
    request.resume()
    response.writeHead(request.method === 'GET' ? 403 : 200)
    const more = () => {
      sent += 65_536
      response.write(Buffer.alloc(65_536, 'x'), () => setImmediate(() => isOpen && more()))
    }
    more()
    response.on('close', () => {
      isOpen = false
    })
  })
  const { file } = await rig(t)
  const name = randomUUID()
  const path = await file('x')
  const calls = {
    put: () => store.put(name, path, forever),
    delete: () => store.delete(name),
    read: () => t.rejects(store.read(name, { from: 0, length: 1 })),
  }
  for (const [what, call] of Object.entries(calls)) {
    isOpen = true
    sent = 0
    await call()
    await until(() => !isOpen)
    t.ok(sent < 10_000_000, `${what}: ${sent} bytes were sent`)
  }
})

t.test('interim answers that nobody asked for break nothing, and flood nothing', async (t) => {
  let sent = () => 0
  let isHostile = false
  const store = await storeAt(t, (request, response) => {
    request.resume()
    if (isHostile) {
      const early = 'HTTP/1.1 103 Early Hints\r\n\r\n'
      if (response.socket) sent = flood(response.socket, early, Buffer.from(early.repeat(1_000)))
      return
    }
    response.writeContinue()
    response.end('x')
  })
  const { file } = await rig(t)
  const name = randomUUID()
  await store.put(name, await file('x'), forever)
  const range = { from: 0, length: 1 }
  t.equal(`${await collect(await store.read(name, range))}`, 'x')
  isHostile = true
  await refused(t, store.read(name, range), { code: 'unavailable', retryAfterSeconds: 5 })
  t.ok(sent() > 0 && sent() < 20_000_000, `${sent()} bytes were sent`)
})

t.test('the status tells what was done, whatever becomes of the rest of the answer', async (t) => {
  let status = 200
  let rest: 'cut' | 'stalled' | 'none' = 'cut'
  const open = new Set<object>()
  const store = await storeAt(t, (request, response) => {
    open.add(response)
    response.on('close', () => open.delete(response))
    request.resume()
    if (rest === 'none') return
    response.writeHead(status, { 'content-length': 100 })
    response.write('<Error>', () => rest === 'cut' && response.destroy())
  })
  const { file } = await rig(t)
  const put = async (signal = forever) => store.put(randomUUID(), await file('x'), signal)
  const remove = () => store.delete(randomUUID())
  await Promise.all([put(), remove()])
  rest = 'stalled'
  const began = performance.now()
  await Promise.all([put(), remove()])
  t.ok(performance.now() - began < 10_000)
  rest = 'cut'
  status = 503
  const later = { code: 'unavailable', retryAfterSeconds: 5 } as const
  await refused(t, put(), later)
  await refused(t, store.read(randomUUID(), { from: 0, length: 1 }), later)
  rest = 'none'
  await t.rejects(put(AbortSignal.timeout(200)))
  await until(() => open.size === 0)
})

t.test('with the wrong secret nothing is stored and nothing is promised', async (t) => {
  const s3 = await startS3(t)
  const objects = new S3Store({ ...s3.options, secretAccessKey: 'wrong' })
  const { blobs, user, file, database } = await rig(t, { objects })
  await t.rejects(blobs.add({ userId: await user(), path: await file('x'), mime }, forever))
  t.ok(s3.refusals() > 0, 'the service checks signatures')
  t.equal(s3.objects.size, 0)
  t.same(await database.query('select * from media_blob'), [])
})
