/** The store of files: what goes in comes out, in parts too, and nothing is kept that nobody needs. */
import { randomBytes } from 'node:crypto'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import t from 'tap'
import { CHUNK_BYTES } from '../../src/media/tasks/chunks.ts'
import { refused } from '../actors/refused.ts'
import fc from '../support/fast-check.ts'
import { collect, forever, rig } from './rig.ts'

const CHUNK = CHUNK_BYTES
const mime = 'application/octet-stream'

t.test('files of every size come out as they went in, and lie encrypted', async (t) => {
  const { blobs, user, file, stored } = await rig(t)
  const userId = await user()
  const sizes = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 64 * CHUNK, 64 * CHUNK + 1, 130 * CHUNK + 7]
  for (const size of sizes) {
    const bytes = randomBytes(size)
    const added = await blobs.add({ userId, path: await file(bytes), mime }, forever)
    t.equal(added.size, size)
    const { stream, ...facts } = await blobs.open(added.blob)
    t.same(facts, { size, mime })
    t.ok(bytes.equals(await collect(stream)), `${size} bytes`)
  }
  const secret = 'a sentence that must not be readable on the disk'
  await blobs.add({ userId, path: await file(secret), mime }, forever)
  for (const path of await stored('objects')) {
    t.notOk((await readFile(path)).includes(secret), 'nothing lies in plain text')
  }
  t.same(await stored('tmp'), [], 'nothing temporary is left')
})

t.test('any range is exactly that part', async (t) => {
  const { blobs, user, file } = await rig(t)
  const bytes = randomBytes(5 * CHUNK + 123)
  const { blob } = await blobs.add({ userId: await user(), path: await file(bytes), mime }, forever)
  const edge = fc.oneof(
    fc.nat(bytes.length + 10),
    fc
      .tuple(fc.nat(6), fc.integer({ min: -1, max: 1 }))
      .map(([n, by]) => Math.max(0, n * CHUNK + by)),
  )
  await fc.assert(
    fc.asyncProperty(edge, edge, async (offset, length) => {
      const { stream } = await blobs.open(blob, { offset, length })
      return bytes.subarray(offset, offset + length).equals(await collect(stream))
    }),
    {
      numRuns: 150,
      examples: [
        [0, 0],
        [bytes.length, 1],
        [CHUNK, CHUNK],
      ],
    },
  )
})

t.test('the same bytes of one user are stored once, those of two users twice', async (t) => {
  const { blobs, user, file, stored, database } = await rig(t)
  const [one, two] = [await user(), await user()]
  const path = await file('the same')
  const add = (userId: number) => blobs.add({ userId, path, mime }, forever)
  const all = await Promise.all([add(one), add(one), add(one), add(two)])
  t.equal(new Set(all.map(({ blob }) => blob)).size, 2)
  t.equal((await stored('objects')).length, 2)
  const usage = await database.query('select bytes, files from media_usage order by user_id')
  t.same(usage, [
    { bytes: 8, files: 1 },
    { bytes: 8, files: 1 },
  ])
  t.same(await database.query('select * from media_object'), [], 'nothing is left over')
})

t.test('a user whose quota is used up stores nothing more, others do', async (t) => {
  const { blobs, user, file, stored } = await rig(t, { quota: { bytes: 1_000, files: 3 } })
  const [full, other] = [await user(), await user()]
  await blobs.add({ userId: full, path: await file(randomBytes(900)), mime }, forever)
  const more = blobs.add({ userId: full, path: await file(randomBytes(200)), mime }, forever)
  await refused(t, more, { description: 'the storage quota is used up' })
  t.equal((await stored('objects')).length, 1, 'the refused file is not kept')
  await blobs.add({ userId: other, path: await file(randomBytes(200)), mime }, forever)
  for (const size of [1, 2]) {
    await blobs.add({ userId: full, path: await file(randomBytes(size)), mime }, forever)
  }
  const fourth = blobs.add({ userId: full, path: await file('four'), mime }, forever)
  await refused(t, fourth, { code: 'bad_request' })
})

t.test('what nobody holds goes when its time is over, and its quota is free again', async (t) => {
  const { blobs, user, file, stored, database } = await rig(t, { keepSeconds: -1 })
  const userId = await user()
  const held = await blobs.add({ userId, path: await file('held'), mime }, forever)
  await blobs.add({ userId, path: await file('not held'), mime }, forever)
  await blobs.hold([held.blob], 'message:1')
  await blobs.hold([held.blob], 'message:1')
  await blobs.hold([held.blob], 'message:2')
  await database.query(`update media_blob set expires_at = now() - interval '1 second'`)
  t.equal(await blobs.sweep(), 1)
  t.equal((await stored('objects')).length, 1)
  t.same(await database.query('select bytes, files from media_usage'), [{ bytes: 4, files: 1 }])
  await blobs.release('message:1')
  t.equal(await blobs.sweep(), 0, 'somebody else still holds it')
  await blobs.release('message:2')
  t.equal(await blobs.sweep(), 1)
  t.same(await stored('objects'), [])
  await refused(t, blobs.open(held.blob), { code: 'not_found' })
  await refused(t, blobs.hold([held.blob], 'message:3'), { code: 'not_found' })
})

t.test('what a crashed writer left behind is swept', async (t) => {
  const { blobs, user, file, stored, database } = await rig(t)
  const { blob } = await blobs.add({ userId: await user(), path: await file('x'), mime }, forever)
  await database.query(
    `with gone as (delete from media_blob where blob = $1 returning object)
     insert into media_object (object, since) select object, now() - interval '2 hours' from gone`,
    [blob],
  )
  await blobs.sweep()
  t.same(await stored('objects'), [])
  t.same(await database.query('select * from media_object'), [])
})

t.test('a stored file that was changed, cut or swapped is not delivered', async (t) => {
  const { blobs, user, file, stored } = await rig(t)
  const userId = await user()
  const bytes = randomBytes(3 * CHUNK)
  const { blob } = await blobs.add({ userId, path: await file(bytes), mime }, forever)
  const [path = ''] = await stored('objects')
  const sealed = await readFile(path)
  const chunk = CHUNK + 16
  const read = async () => collect((await blobs.open(blob)).stream)

  const flipped = Buffer.from(sealed)
  flipped[chunk + 5] = (flipped[chunk + 5] ?? 0) ^ 1
  await writeFile(path, flipped)
  await t.rejects(read(), 'a bit was changed')
  const first = await blobs.open(blob, { offset: 0, length: CHUNK })
  t.ok(bytes.subarray(0, CHUNK).equals(await collect(first.stream)), 'other chunks still open')

  const swapped = [sealed.subarray(chunk, 2 * chunk), sealed.subarray(0, chunk)]
  await writeFile(path, Buffer.concat([...swapped, sealed.subarray(2 * chunk)]))
  await t.rejects(read(), 'chunks were swapped')

  await writeFile(path, sealed)
  await truncate(path, 2 * chunk)
  await t.rejects(read(), 'a chunk was cut off')
})
