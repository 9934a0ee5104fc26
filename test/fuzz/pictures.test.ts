/** Pictures that something is wrong with: made a photo or refused, never a crash, never much memory. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import sharp from 'sharp'
import t from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import { photo } from '../../src/media/kinds/picture.ts'
import { unmeasured } from '../../src/media/media.ts'
import { createPool } from '../../src/media/pool.ts'
import { TemporaryFiles } from '../../src/media/temporary.ts'
import { Transcoder } from '../../src/media/transcoder.ts'
import { forever } from '../media/rig.ts'
import { drawn } from '../media/service-rig.ts'
import fc from '../support/fast-check.ts'
import { quietLogger } from '../support/logger.ts'

const RUNS = 2_000
const WARM_UP = 500
const MAX_GROWTH = 64 * 2 ** 20
const TIDY_EVERY = 50

setFlagsFromString('--expose-gc')
/** What this test itself leaves lying about would be taken for what the pictures need. */
const tidyUp: () => void = runInNewContext('gc')

const folder = await mkdtemp(join(tmpdir(), 'chapar-mutated-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const temporary = await TemporaryFiles.open(folder, quietLogger)
const pool = createPool({ threads: 2 })
t.teardown(() => pool.close())
const transcoder = new Transcoder({
  tools: undefined,
  pool,
  logger: quietLogger,
  measures: unmeasured,
  maxBytes: 1e7,
})

/** The reference's words for a photo that was none; undefined: it became one. */
async function outcome(bytes: Uint8Array): Promise<string | undefined> {
  await using tempFolder = await temporary.folder()
  const path = tempFolder.file()
  await writeFile(path, bytes)
  const look = await pool.run('look', { path }, forever)
  const given = { ...look, path, mime: look.mime ?? 'application/octet-stream', hints: {} }
  const tools = { pool, transcoder, userId: 1, tempFolder, photoBytes: 10_485_760, signal: forever }
  try {
    const made = await photo(given, tools)
    const { format } = await sharp(made.path).metadata()
    if (format !== 'jpeg') throw new Error(`a photo became ${format}`)
    return undefined
  } catch (error) {
    if (error instanceof RequestFailed) return error.failure.description
    throw error
  }
}

const whole = await Promise.all([
  drawn(64, 48).png().toBuffer(),
  drawn(64, 48).jpeg().toBuffer(),
  drawn(64, 48).webp().toBuffer(),
])

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const change = fc.oneof(
  // Bits in the headers matter most.
  fc.record({
    kind: fc.constant('set'),
    at: fc.nat(80),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('set'),
    at: place,
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('cut'), at: place, bytes: fc.constant(new Uint8Array()) }),
  fc.record({ kind: fc.constant('insert'), at: place, bytes: fc.uint8Array({ maxLength: 64 }) }),
)
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

function changed(bytes: Buffer, { kind, at, bytes: others }: Change): Buffer {
  const index = Math.floor(at < 1 ? at * bytes.length : Math.min(at, bytes.length))
  const [before, after] = [bytes.subarray(0, index), bytes.subarray(index)]
  if (kind === 'cut') return before
  return Buffer.concat([before, others, kind === 'insert' ? after : after.subarray(others.length)])
}

t.test('a picture with something wrong is made a photo, or refused in plain words', async (t) => {
  for (const bytes of whole) t.equal(await outcome(bytes), undefined)
  let [runs, before, highest] = [0, 0, 0]
  const watch = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss())
  }, 5)
  t.teardown(() => clearInterval(watch))
  const seen = new Map<string | undefined, number>()
  const picture = fc.constantFrom(...whole)
  const changes = fc.array(change, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(picture, changes, async (bytes, wrong) => {
      const told = await outcome(wrong.reduce(changed, bytes))
      seen.set(told, (seen.get(told) ?? 0) + 1)
      if (++runs % TIDY_EVERY === 0) tidyUp()
      // Until then the heap grows to what such a test takes.
      if (runs === WARM_UP) before = highest = process.memoryUsage.rss()
    }),
    { numRuns: RUNS },
  )
  const grown = highest - before
  t.ok(grown < MAX_GROWTH, `${Math.round(grown / 2 ** 20)} MB`)
  const words = [undefined, 'IMAGE_PROCESS_FAILED', 'PHOTO_INVALID_DIMENSIONS']
  t.same(
    [...seen.keys()].filter((told) => !words.includes(told)),
    [],
  )
  t.ok((seen.get(undefined) ?? 0) > 0 && (seen.get('IMAGE_PROCESS_FAILED') ?? 0) > 0)
})
