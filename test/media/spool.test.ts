/** What becomes of bytes as they come in: encrypted at once, in the open for a moment, or nothing at all. */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { createPool, type MediaPool } from '../../src/media/pool.ts'
import { Spool, TooLarge } from '../../src/media/spool.ts'
import { SEGMENT_BYTES } from '../../src/media/tasks/chunks.ts'
import { TemporaryFiles } from '../../src/media/temporary.ts'
import { refused } from '../actors/refused.ts'
import { quietLogger } from '../support/logger.ts'
import { forever } from './rig.ts'
import { drawn, serviceRig } from './service-rig.ts'

const pool = createPool({ threads: 2 })
t.teardown(() => pool.close())

const digestKey = randomBytes(32)

async function spoolRig(t: Test, threads: Pick<MediaPool, 'run'> = pool, key = digestKey) {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-spool-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const temporary = await TemporaryFiles.open(folder, quietLogger)
  t.teardown(() => temporary.close())
  const left = async () => {
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    return found.filter((entry) => entry.isFile())
  }
  return { spool: new Spool(temporary, threads, { derive: () => key }), left }
}

/** In pieces that fit nowhere. */
function* inPieces(bytes: Buffer, size = 70_001) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const streamOf = (bytes: Buffer) => Readable.from(inPieces(bytes))
const large = 3 * SEGMENT_BYTES
const limit = 2 * large

t.test('a large file that nobody looks into never lies in the open', async (t) => {
  const { spool, left } = await spoolRig(t)
  const telltale = Buffer.from('words that must not be readable')
  const bytes = Buffer.concat([randomBytes(large), telltale])
  const upload = await spool.receive(streamOf(bytes), { limit }, forever)
  t.equal(upload.size, bytes.length)
  t.ok(upload.sealed)
  t.notOk((await readFile(upload.path)).includes(telltale))
  await upload.release()
  t.same(await left(), [])
})

t.test('the digest tells whether bytes are the same, to whom the key is a secret', async (t) => {
  const { spool } = await spoolRig(t)
  const other = await spoolRig(t, pool, randomBytes(32))
  const bytes = Buffer.concat([randomBytes(large), Buffer.alloc(100)])
  const digestOf = async (given: Buffer, size?: number, by = spool) => {
    const upload = await by.receive(Readable.from(inPieces(given, size)), { limit }, forever)
    return upload.sealed?.digest
  }
  const digest = await digestOf(bytes)
  t.match(digest, /^[0-9a-f]{64}$/)
  t.equal(await digestOf(bytes, 9_973), digest, 'in other pieces')
  const changed = Buffer.from(bytes)
  changed[SEGMENT_BYTES + 7]! ^= 1
  t.not(await digestOf(changed), digest, 'one bit is another')
  t.not(await digestOf(bytes.subarray(0, -1)), digest, 'without the last zero')
  const [first, second, ...rest] = inPieces(bytes, SEGMENT_BYTES)
  t.not(await digestOf(Buffer.concat([second!, first!, ...rest])), digest, 'in another order')
  t.not(await digestOf(bytes, undefined, other.spool), digest, 'under another key')
})

t.test('a small one, and one that is looked into, lie there as they are', async (t) => {
  const { spool } = await spoolRig(t)
  const png = await drawn(1_200, 1_200).png().toBuffer()
  t.ok(png.length > SEGMENT_BYTES)
  const cases: [Buffer, { mime?: string; name?: string }][] = [
    [randomBytes(SEGMENT_BYTES - 1), {}],
    [png, {}],
    [randomBytes(large), { mime: 'video/mp4' }],
  ]
  for (const [bytes, about] of cases) {
    const upload = await spool.receive(streamOf(bytes), { limit, ...about }, forever)
    t.notOk(upload.sealed)
    t.ok((await readFile(upload.path)).equals(bytes))
  }
})

t.test('nothing is left of what is too long, breaks off or is given up', async (t) => {
  const { spool, left } = await spoolRig(t)
  const mimes = [undefined, 'video/mp4']
  for (const mime of mimes) {
    const about = { limit, ...(mime && { mime }) }
    const tooLong = streamOf(randomBytes(limit + 1))
    await t.rejects(spool.receive(tooLong, about, forever), TooLarge)
    t.ok(tooLong.destroyed)
    async function* broken() {
      yield* inPieces(randomBytes(large))
      throw new Error('the line broke')
    }
    await t.rejects(spool.receive(Readable.from(broken()), about, forever), /the line broke/)
    const gone = new AbortController()
    const stalled = new Readable({ read: () => undefined })
    stalled.push(randomBytes(large))
    setImmediate(() => gone.abort())
    const receiving = spool.receive(stalled, about, gone.signal)
    await t.rejects(receiving, { name: 'AbortError' })
  }
  t.same(await left(), [])
})

t.test('a disk that is full is said to be so, and nothing stays on it', async (t) => {
  let segments = 0
  const full: Pick<MediaPool, 'run'> = {
    run(name, task, signal) {
      if (name !== 'seal' || segments++ < 2) return pool.run(name, task, signal)
      return Promise.reject(new Error('ENOSPC: no space left on device, write'))
    },
  }
  const { spool, left } = await spoolRig(t, full)
  const receiving = spool.receive(streamOf(randomBytes(2 * large)), { limit }, forever)
  await refused(t, receiving, { code: 'unavailable', description: 'there is no room for files' })
  t.same(await left(), [])
})

t.test('so is one that fills while a file is written in the open', async (t) => {
  const { createWriteStream } = fs
  t.teardown(() => {
    fs.createWriteStream = createWriteStream
    syncBuiltinESMExports()
  })
  let written = 0
  fs.createWriteStream = (path, options) => {
    // One by one, so that they can be counted.
    const stream = createWriteStream(path, options)
    Object.assign(stream, { _writev: null })
    const write = stream._write.bind(stream)
    stream._write = (chunk, encoding, done) => {
      written += chunk.length
      if (written < large / 2) return write(chunk, encoding, done)
      const full = new Error('ENOSPC: no space left on device, write')
      return done(Object.assign(full, { code: 'ENOSPC' }))
    }
    return stream
  }
  syncBuiltinESMExports()
  const { spool, left } = await spoolRig(t)
  const about = { limit, mime: 'video/mp4' }
  const receiving = spool.receive(streamOf(randomBytes(large)), about, forever)
  await refused(t, receiving, { code: 'unavailable', description: 'there is no room for files' })
  t.ok(written > large / 3, 'it was on its way')
  t.same(await left(), [])
})

t.test('what turns out to be looked into after all is, and keeps its bytes', async (t) => {
  const { service, userId, bytes, left } = await serviceRig(t)
  const given = randomBytes(large + 5)
  const upload = await service.spool(streamOf(given), { limit }, forever)
  t.ok(upload.sealed)
  const source = { from: 'upload' as const, upload }
  const asked = { userId, kind: 'video' as const, source, mime: 'video/mp4' }
  const { media } = await service.ingest(asked, forever)
  t.match(media, { kind: 'video', mime: 'video/mp4', size: given.length })
  t.ok((await bytes(media)).equals(given))
  const again = await service.spool(streamOf(given), { limit }, forever)
  const document = await service.ingest(
    { userId, kind: 'document', source: { from: 'upload', upload: again } },
    forever,
  )
  t.same(document.media.file, media.file, 'the same bytes are the same file, either way')
  for (const each of [upload, again]) await each.release()
  t.same(await left(), { temporary: 0, objects: 1 })
})
