/** Photos, stickers, thumbnails and documents: what is made of pictures, and what is refused. */
import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import t from 'tap'
import type { Upload } from '../../src/media/media.ts'
import { refused } from '../actors/refused.ts'
import { drawn, serviceRig } from './service-rig.ts'

const rig = await serviceRig(t)
const { ingest, bytes, left } = rig

t.test('a photo becomes a JPEG in several sizes, without the camera’s notes', async (t) => {
  const taken = await drawn(3_000, 2_000)
    .withExif({ IFD0: { Make: 'Telltale' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .jpeg()
    .toBuffer()
  const { media, notes } = await ingest('photo', taken, { name: 'holiday.jpg' })
  t.match(media, { kind: 'photo', mime: 'image/jpeg', width: 2_560, height: 1_707 })
  t.same(
    media.sizes?.map(({ width }) => width),
    [90, 320, 800],
  )
  t.match(notes, ['the photo was made smaller: 2560 by 1707'])
  for (const size of [...(media.sizes ?? []), media]) {
    const made = await bytes(size)
    t.equal(made.length, size.size)
    const { format, width, height, exif } = await sharp(made).metadata()
    t.same([format, width, height], ['jpeg', size.width, size.height])
    t.equal(exif, undefined)
  }
})

t.test('a photo on its side is turned upright', async (t) => {
  const turned = await drawn(200, 100).jpeg().withMetadata({ orientation: 6 }).toBuffer()
  const { media } = await ingest('photo', turned)
  t.match(media, { width: 100, height: 200 })
})

t.test('PNG and WebP become JPEGs on white', async (t) => {
  const clear = { r: 0, g: 0, b: 0, alpha: 0 }
  const png = sharp({ create: { width: 50, height: 50, channels: 4, background: clear } }).png()
  const { media, notes } = await ingest('photo', await png.toBuffer())
  t.match(notes, ['the picture was made a JPEG'])
  const { dominant } = await sharp(await bytes(media)).stats()
  t.ok(dominant.r > 240, 'what was transparent is white')
})

t.test('a TIFF is a picture wherever its directory is', async (t) => {
  // Programs write it after the pixels. Files of more than a megabyte are stored while they come, unless they are looked into.
  for (const [width, height] of [
    [200, 100],
    [900, 600],
  ] as const) {
    const tiff = await drawn(width, height).tiff({ compression: 'none' }).toBuffer()
    const at = tiff.readUInt32LE(4)
    t.ok(at > 16_384)
    const { media } = await ingest('photo', tiff)
    t.match(media, { mime: 'image/jpeg', width, height })
    t.ok((await ingest('document', tiff)).media.thumbnail)
    const places = [1, 8, 16_383, at + 1, tiff.length - 1, tiff.length, 2 ** 31, 2 ** 32 - 1]
    for (const place of places) {
      const hostile = Buffer.from(tiff)
      hostile.writeUInt32LE(place, 4)
      const { media } = await ingest('document', hostile)
      t.match(media, { kind: 'document', thumbnail: undefined }, `a directory at ${place}`)
    }
    const many = Buffer.from(tiff)
    many.writeUInt16LE(65_535, at)
    t.match((await ingest('document', many)).media, { thumbnail: undefined }, 'too many entries')
    const raw = Buffer.from(tiff)
    // The last entry says that it is a raw photo.
    raw.writeUInt16LE(50_706, at + 2 + (raw.readUInt16LE(at) - 1) * 12)
    t.match((await ingest('document', raw)).media, { mime: 'image/x-adobe-dng' })
  }
  for (const stub of ['II*\0', 'II*\0\0', 'MM\0*\xff\xff\xff\xff']) {
    const { media } = await ingest('document', Buffer.from(stub, 'latin1'))
    t.match(media, { kind: 'document', thumbnail: undefined })
  }
})

t.test('what is no photo is refused in the reference’s words, and nothing is kept', async (t) => {
  const before = await left()
  const whole = await drawn(800, 800).jpeg().toBuffer()
  const cases: [string, Buffer, string][] = [
    ['nothing', Buffer.alloc(0), 'file must be non-empty'],
    ['text', Buffer.from('hello'), 'IMAGE_PROCESS_FAILED'],
    [
      'a script that draws',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      'IMAGE_PROCESS_FAILED',
    ],
    ['a cut JPEG', whole.subarray(0, whole.length / 2), 'IMAGE_PROCESS_FAILED'],
    ['a pixel bomb', bomb(30_000, 30_000), 'PHOTO_INVALID_DIMENSIONS'],
    ['a smaller bomb', bomb(4_999, 5_000), 'IMAGE_PROCESS_FAILED'],
    ['a strip', await drawn(2_100, 100).png().toBuffer(), 'PHOTO_INVALID_DIMENSIONS'],
    [
      'too many bytes',
      Buffer.concat([whole, randomBytes(10_485_761 - whole.length)]),
      'file of size 10485761 bytes is too big for a photo; the maximum size is 10485760 bytes',
    ],
  ]
  for (const [name, given, description] of cases) {
    await t.test(name, (t) =>
      refused(t, ingest('photo', given), { code: 'bad_request', description }),
    )
  }
  t.same(await left(), before)
})

t.test('a sticker is a WebP with a side of 512', async (t) => {
  const { media } = await ingest('sticker', await drawn(100, 60).png().toBuffer())
  t.match(media, { kind: 'sticker', mime: 'image/webp', width: 512, height: 307 })
  const { format, width } = await sharp(await bytes(media)).metadata()
  t.same([format, width], ['webp', 512])
  t.match(media.thumbnail, { mime: 'image/jpeg' })
})

t.test('a moving sticker stays packed and as it is', async (t) => {
  const packed = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), randomBytes(100)])
  const { media } = await ingest('sticker', packed, { name: 'dance.tgs' })
  t.match(media, { kind: 'sticker', mime: 'application/x-tgsticker' })
  const other = await ingest('sticker', packed, { name: 'file.png', mime: 'image/png' })
  t.match(other.media, { mime: 'application/x-tgsticker' }, 'under any name')
  t.ok((await bytes(media)).equals(packed))
})

t.test('a document stays what it is', async (t) => {
  const text = 'plain text, UTF-8 ✓'
  const { media, notes } = await ingest('document', text, { name: '../../etc/pass\u0000wd.txt' })
  t.match(media, { kind: 'document', mime: 'text/plain', name: 'passwd.txt', size: 21 })
  t.same(notes, [])
  t.equal((await bytes(media)).toString(), text)
  const picture = await ingest('document', await drawn(640, 480).png().toBuffer())
  t.match(picture.media, { mime: 'image/png', thumbnail: { width: 320, height: 240 } })
})

t.test('archives and bombs pass through without being unpacked', async (t) => {
  const zip = Buffer.concat([Buffer.from('PK\x03\x04'), randomBytes(50)])
  t.match(await ingest('document', zip, { mime: 'application/octet-stream' }), {
    media: { mime: 'application/zip' },
  })
  t.match(await ingest('document', zip, { name: 'a.docx' }), {
    media: { mime: /wordprocessingml/ },
  })
  const { media } = await ingest('document', bomb(30_000, 30_000))
  t.match(media, { kind: 'document', mime: 'image/png' })
  t.notOk(media.thumbnail)
})

t.test('a thumbnail of the sender’s own is a small JPEG', async (t) => {
  const uploads: Upload[] = []
  const upload = async (given: Buffer) => {
    const { Readable } = await import('node:stream')
    const { signal } = new AbortController()
    const spooled = await rig.service.spool(Readable.from([given]), { limit: 1e7 }, signal)
    uploads.push(spooled)
    return spooled
  }
  const own = await drawn(640, 640, '#ffffff').jpeg().toBuffer()
  const { media } = await ingest('document', 'text', { thumbnail: await upload(own) })
  t.match(media.thumbnail, { mime: 'image/jpeg', width: 320, height: 320 })
  for (const [given, why] of [
    [randomBytes(204_800), 'the thumbnail was left out: it has 204800 bytes, at most 204799 fit'],
    [randomBytes(2_000), 'the thumbnail was left out: it is not a picture'],
    [Buffer.alloc(0), undefined],
  ] as const) {
    const { media, notes } = await ingest('document', 'text', { thumbnail: await upload(given) })
    t.notOk(media.thumbnail)
    t.same(notes, why ? [why] : [])
  }
  t.equal((await left()).temporary, 4, 'the receiver of an upload releases it')
  for (const each of uploads) await each.release()
  t.equal((await left()).temporary, 0)
})

t.test('a sender who goes away leaves nothing behind', async (t) => {
  const gone = new AbortController()
  const photo = await drawn(2_000, 2_000).png().toBuffer()
  const before = await left()
  const ingesting = ingest('photo', photo, { signal: gone.signal })
  setImmediate(() => gone.abort())
  await t.rejects(ingesting)
  t.same(await left(), before)
})

/** A PNG whose header claims this size, with next to nothing in it. */
function bomb(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  const data = deflateSync(Buffer.alloc(1_000))
  return Buffer.concat([signature, part('IHDR', header), part('IDAT', data), part('IEND')])
}

function part(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}
