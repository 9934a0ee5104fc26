/** Upkeep of the request log: partitions come ahead of time and go with their rows. */
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { upkeep } from '../../src/observability/request-journal.ts'
import { testDatabase } from '../support/database.ts'

const partitions = async (database: Database) =>
  (
    await database.query<{ day: string }>(
      `select right(inhrelid::regclass::text, 8) as day from pg_inherits
       where inhparent = 'request_log'::regclass order by 1`,
    )
  ).map(({ day }) => day)

const day = (offset: number) =>
  new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')

const makePartition = (database: Database, offset: number) =>
  database.query(
    `create table request_log_${day(offset)} partition of request_log
     for values from ('${day(offset)} 00:00Z') to ('${day(offset + 1)} 00:00Z')`,
  )

t.test('yesterday to two days ahead have partitions, however often it runs', async (t) => {
  const { database } = await testDatabase(t)
  await Promise.all([upkeep(database, 30), upkeep(database, 30), upkeep(database, 30)])
  t.strictSame(await partitions(database), [day(-1), day(0), day(1), day(2)])
})

t.test('a partition is dropped once all of its rows are too old', async (t) => {
  const { database } = await testDatabase(t)
  for (const offset of [-9, -8, -7, -6]) await makePartition(database, offset)
  await upkeep(database, 7)
  t.strictSame(await partitions(database), [day(-7), day(-6), day(-1), day(0), day(1), day(2)])
})

t.test('hourly figures are kept for more than a year, not for ever', async (t) => {
  const { database } = await testDatabase(t)
  await database.query(
    `insert into usage_hour select 1, now() - make_interval(days => d), 0, 0, 'request', '', 1
     from unnest(array[1, 370, 401]) d`,
  )
  await upkeep(database, 30)
  const [row] = await database.query('select count(*) from usage_hour')
  t.strictSame(row, { count: 2 })
})
