/** A large file passes through in pieces: it costs a fraction of its size in memory, both ways. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import t from 'tap'
import { giveBackLent } from '../../src/media/give-back.ts'
import { placesFor } from '../../src/media/pool.ts'
import { forever } from './rig.ts'
import { serviceRig } from './service-rig.ts'

const MEGABYTE = 2 ** 20
const SIZE = 160 * MEGABYTE
const MAX_GROWTH = 64 * MEGABYTE
const limits = { photoBytes: 0, uploadBytes: SIZE, downloadBytes: SIZE, urlTakes: 1_000 }

t.test('the memory of the process grows by less than 64 MB', async (t) => {
  const quota = { quotaBytes: 10 * SIZE, quotaFiles: 100, keepSeconds: 60 }
  const { service, userId } = await serviceRig(t, { limits: { ...limits, ...quota } })
  const ingest = (bytes: number) => {
    const stream = Readable.from(pieces(bytes))
    return service.ingest({ userId, kind: 'document', source: { from: 'stream', stream } }, forever)
  }
  const stored = async (bytes: number) => {
    const { media } = await ingest(bytes)
    return 'blob' in media.file ? media.file.blob : ''
  }
  let read = 0
  const readAll = async (blob: string) => {
    const { stream } = await service.open(blob)
    for await (const chunk of stream) {
      read += chunk.length
      giveBackLent(chunk)
    }
  }
  // The threads for both ways are there already when a large file comes.
  await readAll(await stored(40 * MEGABYTE))

  let blob = ''
  const up = await growth(async () => {
    blob = await stored(SIZE)
  })
  t.ok(up < MAX_GROWTH, `${Math.round(up / MEGABYTE)} MB on the way in`)

  read = 0
  const down = await growth(() => readAll(blob))
  t.equal(read, SIZE)
  t.ok(down < MAX_GROWTH, `${Math.round(down / MEGABYTE)} MB on the way out`)
})

function* pieces(bytes: number): Generator<Buffer> {
  const piece = randomBytes(262_144)
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece
}

/** How far the memory rises above where it was. */
async function growth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss()
  let highest = before
  const watch = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss())
  }, 10)
  await work().finally(() => clearInterval(watch))
  return highest - before
}

t.test('as much is worked on at once as has room outside the heap', async (t) => {
  const each = 200_000_000
  const places = (memory: number, heap: number) =>
    placesFor(each, 4, memory * MEGABYTE, heap * MEGABYTE)
  t.equal(places(512, 352), 1, 'one in any case')
  t.equal(places(1_024, 608), 1)
  t.equal(places(1_024, 352), 3)
  t.equal(places(8_192, 608), 4, 'no more than asked for')
})
