/** An answer to getUpdates takes four megabytes, each update with fifty bytes on top, and always one update. */
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { readPage } from '../../src/updates/read.ts'
import { type Row, updateJson } from '../../src/updates/row.ts'
import { Tail } from '../../src/updates/tail.ts'

const ANSWER = 4_194_304
const OVERHEAD = 50

/** Updates from 1 on whose JSON has so many bytes. */
const rowsOf = (sizes: readonly number[]): Row[] =>
  sizes.map((bytes, place) => {
    const about = { updateId: place + 1, kind: 0, apiKeyId: null, chatId: 1, traceId: null }
    const bare = updateJson({ ...about, payload: '' })
    return { ...about, payload: 'x'.repeat(bytes - bare.length) }
  })

const reader = { credentialId: 1, apiKeyId: 1, filter: [], limit: 100, after: 0 }

/** What a reader is given of them, and in how many statements; the log goes on to `next`. */
async function read(sizes: readonly number[], next = sizes.length + 1) {
  let statements = 0
  const rows = rowsOf(sizes).map((row) => [row.updateId, row.kind, null, 1, null, row.payload])
  const query = async () => {
    statements++
    return rows
  }
  const { count, head } = await readPage({ query } as unknown as Database, new Tail(next), reader)
  return { count, head, statements }
}

t.test('up to the last byte, and no further', async (t) => {
  const half = ANSWER / 2 - OVERHEAD
  t.match(await read([half, half]), { count: 2 })
  t.match(await read([half, half + 1]), { count: 1 })
  t.match(await read([half, half, 1_000]), { count: 2 })
  t.match(await read([ANSWER, 1_000]), { count: 1 }, 'one that is larger goes alone')
})

t.test('what has no room is not counted as looked at', async (t) => {
  const found = await read([ANSWER - 10_000, 20_000, 1_000], 50_000)
  t.strictSame(found, { count: 1, head: 1, statements: 1 })
})
