/** What memory holds of the logs: let go of in time, and never what a reader would miss. */
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { FIRST, many, stage } from './stage.ts'

const AN_HOUR = 3_600_000

t.test('beyond its measure memory keeps what was written last', async (t) => {
  const { credential, node, db } = await stage(t)
  const [first, second] = [await credential(), await credential()]
  let queries = 0
  const counting: Database = {
    ...db,
    query<Row extends object>(...asked: Parameters<Database['query']>) {
      queries++
      return db.query<Row>(...asked)
    },
  }
  const { append, read, log } = await node([first, second], counting)
  await append(first, many(3, 'a'))
  // By the clock of milliseconds, the second is written later.
  const at = Date.now()
  while (Date.now() === at) await new Promise(setImmediate)
  await append(second, many(3, 'b'))
  const asks = async (id: number) => {
    const before = queries
    t.equal((await read(id, FIRST - 1)).count, 3)
    return queries - before
  }
  t.same([await asks(first), await asks(second)], [0, 0])
  log.forgetOld(AN_HOUR)
  t.same([await asks(first), await asks(second)], [0, 0])
  const { json } = await read(second, FIRST - 1)
  log.forgetOld(AN_HOUR, json.length)
  t.same([await asks(first), await asks(second)], [1, 0])
  log.forgetOld(AN_HOUR, 0)
  t.same([await asks(first), await asks(second)], [1, 1])
  t.equal(await append(first, many(3, 'a')), 0, 'and what is reported again is still known')
  t.equal(await append(first, many(1, 'c')), 1)
})
