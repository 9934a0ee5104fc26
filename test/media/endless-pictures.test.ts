/** Small files whose headers would take minutes to read: no pictures here, and what is being decoded keeps its place. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import t from 'tap'
import { createPool } from '../../src/media/pool.ts'
import { drawn, serviceRig } from './service-rig.ts'

const root = join(import.meta.dirname, '../..')
const { serviceEnvironment } = await import(pathToFileURL(join(root, 'bin/runtime.mjs')).href)

const PAGES = 4_200

/** Its canvas is that of its frames, each of which is the same single pixel. */
async function webpOf(frames: number): Promise<Buffer> {
  const pixel = sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
  const still = await pixel.webp({ lossless: true }).toBuffer()
  const frame = Buffer.concat([Buffer.alloc(16), still.subarray(12)])
  frame[12] = 1
  const moving = Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  const all = Array.from({ length: frames }, () => chunk('ANMF', frame))
  const chunks = [chunk('VP8X', moving), chunk('ANIM', Buffer.alloc(6)), ...all]
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]))
}

function chunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data])
}

interface Tiff {
  readonly pages: number
  /** The length of a text that all pages name. */
  readonly textBytes?: number
  /** How many more values each page has, which no reader knows. */
  readonly unknown?: number
  readonly isLittle?: boolean
  readonly isBig?: boolean
}

/** Eight grey pixels a side. The text and the pixels come after the pages, so that the first one is near the beginning. */
function tiffOf(tiff: Tiff): Buffer {
  const { pages, textBytes = 8, unknown = 0, isLittle = true, isBig = false } = tiff
  const [first, word, entryBytes] = isBig ? [16, 8, 20] : [8, 4, 12]
  const countBytes = isBig ? 8 : 2
  const tableBytes = countBytes + (9 + unknown) * entryBytes + word
  const text = first + pages * tableBytes
  const entries = [
    ...[
      [256, 8],
      [257, 8],
      [258, 8],
      [259, 1],
      [262, 1],
    ].map((each) => [...each, 1, 4]),
    [270, text, Math.max(textBytes, 9), 2],
    [273, text, 1, 4],
    [278, 8, 1, 4],
    [279, 64, 1, 4],
    ...Array.from({ length: unknown }, (_, index) => [50_000 + index, 1, 1, 4]),
  ]
  const file = Buffer.alloc(text + Math.max(textBytes, 64), 'a')
  const write = (value: number, at: number, bytes: number): void => {
    file.fill(0, at, at + bytes)
    const short = Math.min(bytes, 4)
    if (isLittle) file.writeUIntLE(value, at, short)
    else file.writeUIntBE(value, at + bytes - short, short)
  }
  file.write(isLittle ? 'II' : 'MM', 'latin1')
  write(isBig ? 43 : 42, 2, 2)
  if (isBig) write(8, 4, 2)
  if (isBig) write(0, 6, 2)
  write(first, word, word)
  for (let page = 0; page < pages; page++) {
    const at = first + page * tableBytes
    write(entries.length, at, countBytes)
    for (const [index, [tag = 0, value = 0, count = 0, type = 0]] of entries.entries()) {
      const entry = at + countBytes + index * entryBytes
      write(tag, entry, 2)
      write(type, entry + 2, 2)
      write(count, entry + 4, word)
      write(0, entry + 4 + word, word)
      // A value stands at the beginning of its place, whatever the place is.
      write(value, entry + 4 + word, type === 2 ? word : 4)
    }
    write(page + 1 < pages ? at + tableBytes : 0, at + tableBytes - word, word)
  }
  return file
}

t.test('a picture of thousands of pages is none', async (t) => {
  const { ingest } = await serviceRig(t)
  const orders = [
    { isLittle: true, isBig: false },
    { isLittle: false, isBig: true },
  ]
  const [few, many] = await Promise.all([webpOf(50), webpOf(PAGES)])
  const cases: [string, Buffer, Buffer][] = [
    ['WebP', few, many],
    ...orders.flatMap((order): [string, Buffer, Buffer][] => [
      [
        `${JSON.stringify(order)}`,
        tiffOf({ ...order, pages: 50 }),
        tiffOf({ ...order, pages: PAGES }),
      ],
      [
        `${JSON.stringify(order)} with a text`,
        tiffOf({ ...order, pages: 1, textBytes: 100_000 }),
        tiffOf({ ...order, pages: 50, textBytes: 100_000 }),
      ],
      [
        `${JSON.stringify(order)} with unknown values`,
        tiffOf({ ...order, pages: 50, unknown: 100 }),
        tiffOf({ ...order, pages: 50, unknown: 2_000 }),
      ],
    ]),
  ]
  for (const [name, fit, endless] of cases) {
    t.ok((await ingest('document', fit)).media.thumbnail, `${name}: a fit one is a picture`)
    const { media } = await ingest('document', endless)
    t.match(media, { kind: 'document', thumbnail: undefined }, name)
    await t.rejects(ingest('photo', endless), { message: /IMAGE_PROCESS_FAILED/ }, name)
  }
})

/** `texts`: the types of chunks before the pixels, and what they contain. */
async function pngOf(...texts: [type: string, data: Buffer][]): Promise<Buffer> {
  const still = await drawn(400, 300).png().toBuffer()
  const chunks = texts.map(([type, data]) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const ends = [Buffer.alloc(4), Buffer.alloc(4)] as const
    ends[0].writeUInt32BE(data.length)
    ends[1].writeUInt32BE(crc32(body))
    return Buffer.concat([ends[0], body, ends[1]])
  })
  return Buffer.concat([still.subarray(0, 33), ...chunks, still.subarray(33)])
}

t.test('a picture with more compressed texts than may be unpacked is none', async (t) => {
  const { ingest } = await serviceRig(t)
  const large = randomBytes(400_000)
  const packed = Buffer.concat([Buffer.from('a\0\0'), deflateSync(large)])
  const [plain, international] = [0, 1].map((isPacked) => {
    const content = isPacked ? deflateSync(large) : Buffer.alloc(large.length, 'a')
    return Buffer.concat([Buffer.from(`a\0${String.fromCharCode(isPacked)}\0\0\0`), content])
  }) as [Buffer, Buffer]
  const times = (count: number, type: string, data: Buffer) =>
    pngOf(...Array.from({ length: count }, (): [string, Buffer] => [type, data]))
  const fit = [
    times(2, 'zTXt', packed),
    times(3, 'iTXt', plain),
    times(50, 'tEXt', Buffer.of(97, 0)),
  ]
  for (const picture of await Promise.all(fit)) {
    t.ok((await ingest('document', picture)).media.thumbnail)
  }
  const endless = [
    times(3, 'zTXt', packed),
    times(3, 'iTXt', international),
    times(PAGES, 'tEXt', Buffer.of(97, 0)),
  ]
  for (const picture of await Promise.all(endless)) {
    const { media } = await ingest('document', picture)
    t.match(media, { kind: 'document', thumbnail: undefined })
  }
})

t.test('a picture that is being decoded keeps its place though its sender is gone', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-pool-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const pool = createPool({ threads: 1 })
  t.teardown(() => pool.close())
  const [source, target] = [join(folder, 'source'), join(folder, 'target')]
  await drawn(2_000, 2_000).png().toFile(source)
  const gone = new AbortController()
  const wanted = [{ target, box: 2_000, format: 'jpeg' as const }]
  const first = pool.of(1).run('picture', { source, wanted }, gone.signal)
  gone.abort(new Error('the sender is gone'))
  await t.rejects(first, { message: 'the sender is gone' })
  await t.resolves(access(target), 'it was decoded to the end before its place was free')
  await t.rejects(pool.of(1).run('look', { path: source }, gone.signal), {
    message: 'the sender is gone',
  })
})

t.test('pictures leave threads to files, however many are decoded', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-busy-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const { UV_THREADPOOL_SIZE: _, ...own } = process.env
  const env = { ...own, ...serviceEnvironment({}) }
  const script = join(import.meta.dirname, 'busy-process.ts')
  const { stdout } = spawn(process.execPath, [script, folder], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.equal(await text(stdout), '0', 'pictures that became ready while a file was read')
})
