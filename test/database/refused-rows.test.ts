/** A row that the database will never take is left out and told; those of others beside it are written. */
import pg from 'pg'
import t from 'tap'
import { Latest, WriteBuffer, writeInOrder } from '../../src/database/write-behind.ts'
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
