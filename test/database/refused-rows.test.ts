/** A row that the database will never take is left out and told; those of others beside it are written. */
import pg from 'pg'
import t from 'tap'
import { Latest, type Mark, WriteBuffer, writeInOrder } from '../../src/database/write-behind.ts'
import fc from '../support/fast-check.ts'

const refusal = (code: string) =>
  Object.assign(new pg.DatabaseError('refused', 7, 'error'), { code })

/** A table that takes no negative number. */
const tableOf = (written: number[]) => async (rows: readonly number[]) => {
  if (rows.some((row) => row < 0)) throw refusal('22021')
  written.push(...rows)
}

const log = () => {
  const told = { warn: 0, error: 0 }
  const logger = { warn: () => void told.warn++, error: () => void told.error++ }
  return { told, logger }
}

t.test('all others are written once, in their order, with few more statements', async () => {
  const run = fc.asyncProperty(
    fc.array(fc.integer({ min: -1, max: 20 }), { maxLength: 60 }),
    fc.integer({ min: 1, max: 70 }),
    async (rows, most) => {
      const written: number[] = []
      const refused: number[] = []
      const write = tableOf(written)
      let statements = 0
      const end = await writeInOrder({
        count: rows.length,
        most,
        write(from, to) {
          statements++
          return write(rows.slice(from, to))
        },
        refused: (place) => refused.push(place),
      })
      const wrong = rows.flatMap((row, place) => (row < 0 ? [place] : []))
      const limit = Math.ceil(rows.length / most) + 14 * wrong.length
      return (
        end.settled === rows.length &&
        `${written}` === `${rows.filter((row) => row >= 0)}` &&
        `${refused}` === `${wrong}` &&
        statements <= limit
      )
    },
  )
  await fc.assert(run, { numRuns: 500 })
})

t.test('behind the refused row, many are written together again', async (t) => {
  let statements = 0
  const rows = Array.from({ length: 1_000 }, (_, place) => (place === 0 ? -1 : place))
  const write = tableOf([])
  await writeInOrder({
    ...{ count: rows.length, most: rows.length, refused: () => undefined },
    write(from, to) {
      statements++
      return write(rows.slice(from, to))
    },
  })
  t.ok(statements < 30, `${statements}`)
})

t.test('a buffer leaves the row out, tells it, and goes on', async (t) => {
  const written: number[] = []
  const { told, logger } = log()
  const buffer = new WriteBuffer<number>({
    ...{ everyMs: 60_000, capacity: 100, rows: 'numbers', logger },
    write: tableOf(written),
  })
  for (const row of [1, 2, -1, 3]) buffer.add(row)
  await buffer.flush()
  t.same([written, told, buffer.size], [[1, 2, 3], { warn: 0, error: 1 }, 0])
})

t.test('newest values likewise, and a value that comes meanwhile is kept', async (t) => {
  const written: number[] = []
  const { told, logger } = log()
  const table = tableOf(written)
  const latest = new Latest<string, number>({
    ...{ everyMs: 60_000, rows: 'numbers', logger },
    write: async (entries) => {
      if (entries.length === 1 && entries[0]?.[1] === -1) latest.set('b', 7)
      await table(entries.map(([, value]) => value))
    },
  })
  latest.set('a', 1)
  latest.set('b', -1)
  latest.set('c', 2)
  await latest.flush()
  t.same([written, told, latest.get('b')], [[1, 2], { warn: 0, error: 1 }, 7])
  await latest.flush()
  t.same(written, [1, 2, 7])
  latest.set('d', -1)
  await latest.flush()
  t.same([told.error, latest.get('d')], [2, undefined], 'it is not tried again')
  await latest.flush()
  t.equal(told.error, 2)
})

t.test('a database that is away, or a partition that is missing, loses nothing', async (t) => {
  for (const code of ['57P03', '23514']) {
    const { told, logger } = log()
    const written: number[] = []
    let isAway = true
    const buffer = new WriteBuffer<number>({
      ...{ everyMs: 60_000, capacity: 100, rows: 'numbers', logger },
      async write(rows) {
        if (isAway) throw refusal(code)
        written.push(...rows)
      },
    })
    for (const row of [1, 2]) buffer.add(row)
    await buffer.flush()
    t.same([told, buffer.size], [{ warn: 1, error: 0 }, 2])
    isAway = false
    await buffer.flush()
    t.same(written, [1, 2])
  }
})

/** A table of marked rows, whose writes may fail before they are stored, or after. */
function markedTable(outcomes: readonly ('stored' | 'lost' | 'unheard')[]) {
  const stored: number[] = []
  let marked = 0
  let writes = 0
  const write = async (rows: readonly number[], { before }: Mark) => {
    const outcome = outcomes[writes++] ?? 'stored'
    if (outcome === 'lost') throw refusal('57P03')
    const known = Math.min(rows.length, Math.max(0, marked - before))
    if (rows.some((row, place) => place >= known && row < 0)) throw refusal('22021')
    stored.push(...rows.slice(known))
    marked = Math.max(marked, before + rows.length)
    if (outcome === 'unheard') throw refusal('57P03')
  }
  return { stored, write }
}

t.test('a buffer stores each row once and in order, whatever its writes come to', async () => {
  const outcome = fc.constantFrom('stored', 'lost', 'unheard')
  const step = fc.oneof(fc.constant('flush' as const), fc.integer({ min: -1, max: 20 }))
  const run = fc.asyncProperty(
    fc.array(outcome, { maxLength: 12 }),
    fc.array(step, { maxLength: 30 }),
    async (outcomes, steps) => {
      const { stored, write } = markedTable(outcomes)
      const buffer = new WriteBuffer<number>({
        ...{ everyMs: 60_000, capacity: 100, rows: 'numbers', logger: log().logger, write },
      })
      for (const step of steps) {
        if (step === 'flush') await buffer.flush()
        else buffer.add(step)
      }
      for (const _ of outcomes) await buffer.flush()
      await buffer.flush()
      const rows = steps.filter((step) => step !== 'flush' && step >= 0)
      return `${stored}` === `${rows}` && buffer.size === 0
    },
  )
  await fc.assert(run, { numRuns: 100 })
})

t.test(
  'a buffer keeps the newest rows while the database is away, and writes them first',
  async (t) => {
    const { stored, write } = markedTable(['lost', 'lost'])
    const { told, logger } = log()
    const buffer = new WriteBuffer<number>({
      ...{ everyMs: 60_000, capacity: 3, rows: 'numbers', logger, write },
    })
    for (const row of [1, 2, 3, 4]) buffer.add(row)
    const flushed = buffer.flush()
    buffer.add(5)
    t.equal(buffer.size, 5, 'those that are being written count')
    await flushed
    t.equal(buffer.size, 3)
    await buffer.flush()
    t.equal(told.warn, 2)
    buffer.add(6)
    await buffer.flush()
    t.same(stored, [3, 4, 5, 6])
  },
)
