/** Small files that ask for hours of work: turned down before it begins, and never in another user's way. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import t from 'tap'
import { findTools } from '../../src/media/confinement.ts'
import { inputOf, probeArguments, readProbe } from '../../src/media/probe.ts'
import { budgetFor, isTooCostly } from '../../src/media/transcoder.ts'
import { serviceRig } from './service-rig.ts'
import { stillGif } from './still-gif.ts'

const searchPath = process.env.PATH ?? ''
const tools = await findTools(searchPath)
const skip = tools ? false : 'ffmpeg is not installed'

t.test('who sends more may ask for more, within bounds', async (t) => {
  t.same(budgetFor(0), { timeMs: 20_000, memoryBytes: 2 ** 30 })
  t.same(budgetFor(10_000_000), { timeMs: 40_000, memoryBytes: 2 ** 30 + 200_000_000 })
  t.same(budgetFor(2_000_000_000), { timeMs: 120_000, memoryBytes: 2 ** 31 })
  const minute = { width: 1_920, height: 1_080, frames: 1_800 }
  t.notOk(isTooCostly(minute, 12_000_000))
  t.ok(isTooCostly(minute, 69_000))
  t.notOk(isTooCostly({ width: 4_000, height: 4_000 }, 100), 'one frame is one picture')
})

function filmOf(...args: string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'chapar-costly-'))
  try {
    const path = join(folder, 'film')
    const { status, stderr } = spawnSync(tools?.ffmpeg ?? '', ['-v', 'error', ...args, path])
    if (status !== 0) throw new Error(`${stderr}`)
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

t.test('a cover that claims to be a huge picture is not decoded', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'chapar-cover-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const cover = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#fff' } })
    .png()
    .toBuffer()
  cover.writeUInt32BE(15_000, 16)
  cover.writeUInt32BE(15_000, 20)
  cover.writeUInt32BE(crc32(cover.subarray(12, 29)), 29)
  const [picture, song] = [join(folder, 'cover.png'), join(folder, 'song.mkv')]
  writeFileSync(picture, cover)
  const sine = ['-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'flac']
  const attached = ['-attach', picture, '-metadata:s:t', 'mimetype=image/png']
  spawnSync(tools?.ffmpeg ?? '', ['-v', 'error', ...sine, ...attached, song])
  const input = inputOf(song, 'video/matroska') ?? []
  const { status, stdout, stderr } = spawnSync(tools?.ffprobe ?? '', probeArguments(input))
  t.match(`${stderr}`, /Picture size 15000x15000 exceeds/)
  t.equal(status, 0)
  t.match(readProbe(stdout), { audio: { codec: 'flac' }, durationSeconds: 1 })
})

t.test('with ffmpeg', { skip }, async (t) => {
  const transcoded: boolean[] = []
  const measures = {
    transcoded: (succeeded: boolean) => void transcoded.push(succeeded),
    ingested: () => undefined,
    read: () => undefined,
    waiting: () => undefined,
  }
  const { ingest, database, left } = await serviceRig(t, { searchPath, measures })

  t.test('48,000 megapixels in 80 kB become a document, and ffmpeg is never started', async (t) => {
    const bomb = stillGif({ side: 4_000, frames: 3_000 })
    t.ok(bomb.length < 100_000)
    const { media, notes } = await ingest('animation', bomb)
    t.equal(media.kind, 'document')
    t.same(notes, [
      'sent as a document: it has too many pixels in all its frames to be made an MP4',
    ])
    t.same(transcoded, [])
  })

  t.test('the same in a film', async (t) => {
    const black = ['-f', 'lavfi', '-i', 'color=black:size=3840x2160:rate=60:duration=1']
    const short = filmOf(...black, '-c:v', 'libvpx', '-deadline', 'realtime', '-f', 'webm')
    // The same frames three times: to encode them all takes minutes on a slow machine.
    const path = join(mkdtempSync(join(tmpdir(), 'chapar-costly-')), 'short')
    t.teardown(() => rmSync(dirname(path), { recursive: true, force: true }))
    writeFileSync(path, short)
    const film = filmOf('-stream_loop', '2', '-i', path, '-c', 'copy', '-f', 'webm')
    t.ok(film.length < 100_000)
    const { media, notes } = await ingest('video', film)
    t.equal(media.kind, 'document')
    t.match(notes, [/too many pixels/])
    transcoded.length = 0
  })

  t.test('a user who keeps ffmpeg busy is passed by another', async (t) => {
    const [other] = await database.query<{ id: number }>(
      `insert into app_user (phone_index, phone_sealed) values ('other', '') returning id`,
    )
    const heavy = stillGif({ side: 1_000, frames: 20 })
    // Made before, since it would come late where that takes long.
    const clip = filmOf('-f', 'lavfi', '-i', 'testsrc=size=64x64:duration=1', '-f', 'gif')
    const order: string[] = []
    const work = Array.from({ length: 6 }, async () => {
      await ingest('animation', heavy)
      order.push('heavy')
    })
    await ingest('animation', clip, { userId: other?.id ?? 0 })
    order.push('clip')
    await Promise.all(work)
    t.equal(order.length, 7)
    t.ok(order.indexOf('clip') < 3, `the clip came ${order.indexOf('clip') + 1}.`)
  })

  t.test('nothing temporary is left', async (t) => {
    t.equal((await left()).temporary, 0)
  })
})
