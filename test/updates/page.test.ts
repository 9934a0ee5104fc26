/** An answer to getUpdates takes four megabytes, each update with fifty bytes on top, and always one. */
import t from 'tap'
import { Page } from '../../src/updates/page.ts'
import { type Row, updateJson } from '../../src/updates/row.ts'

const ANSWER = 4_194_304
const OVERHEAD = 50

/** An update whose JSON has so many bytes. */
function row(updateId: number, bytes: number): Row {
  const about = { updateId, kind: 0, apiKeyId: null, chatId: 1, traceId: null }
  const bare = updateJson({ ...about, payload: '' })
  return { ...about, payload: 'x'.repeat(bytes - bare.length) }
}

function taken(...sizes: readonly number[]): number {
  const page = new Page({ filter: [], apiKeyId: 1, limit: 100, after: 0 })
  page.take(sizes.map((bytes, place) => row(place + 1, bytes)))
  return page.result.count
}

t.test('up to the last byte, and no further', async (t) => {
  const half = ANSWER / 2 - OVERHEAD
  t.equal(taken(half, half), 2)
  t.equal(taken(half, half + 1), 1)
  t.equal(taken(half, half, 1_000), 2)
  t.equal(taken(ANSWER, 1_000), 1, 'one that is larger goes alone')
})
