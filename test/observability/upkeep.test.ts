/** Upkeep of the request log: partitions come ahead of time and go with their rows. */
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { upkeep } from '../../src/observability/request-journal.ts'
import { retainUsage } from '../../src/observability/usage.ts'
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

async function usageAt(
  database: Database,
  rows: readonly (readonly [days: number, hour: number])[],
) {
  await database.query(
    "insert into app_user (id, phone_index, phone_sealed) overriding system value values (1, '', '')",
  )
  await database.query(
    `insert into usage_hour
     select 1, date_trunc('day', now(), 'UTC') - make_interval(days => d, hours => -h), 2, 3,
            'request', 'getMe', 1
     from unnest($1::int[], $2::int[]) as at (d, h)`,
    [rows.map(([days]) => days), rows.map(([, hour]) => hour)],
  )
}

t.test('figures are kept for more than a year, not for ever', async (t) => {
  const { database } = await testDatabase(t)
  await usageAt(database, [
    [1, 5],
    [370, 0],
    [401, 0],
    [402, 0],
  ])
  await database.query(
    'insert into usage_total select user_id, hour, measure, label, amount from usage_hour',
  )
  t.strictSame(await retainUsage(database, 1), { added: 0, removed: 4 })
  for (const table of ['usage_hour', 'usage_total']) {
    const [row] = await database.query(`select count(*) from ${table}`)
    t.strictSame(row, { count: 2 }, table)
  }
})

t.test('old hours become days, whatever the steps, and no call is lost', async (t) => {
  const { database } = await testDatabase(t)
  const hours = Array.from({ length: 24 }, (_, hour) => hour)
  await usageAt(
    database,
    [34, 36, 37].flatMap((days) => hours.map((hour) => [days, hour] as const)),
  )
  await database.query(
    'insert into usage_total select user_id, hour, measure, label, amount from usage_hour',
  )
  await database.query('update app_user set erasing_at = now()')
  t.strictSame(await retainUsage(database, 10), { added: 0, removed: 0 }, 'not while they go')
  await database.query('update app_user set erasing_at = null')
  await t.rejects(
    database.transaction(async (tx) => {
      await retainUsage(tx, 10)
      throw new Error('the service dies')
    }),
    /dies/,
  )
  t.strictSame(await retainUsage(database, 10), { added: 92, removed: 0 })
  t.strictSame(await retainUsage(database, 10), { added: 0, removed: 0 }, 'a second time nothing')
  for (const table of ['usage_hour', 'usage_total']) {
    const days = await database.query(
      `select extract(day from date_trunc('day', now(), 'UTC') - hour)::int as ago,
              count(*)::int as rows, sum(amount)::int as calls
         from ${table} group by 1, hour having sum(amount) > 1 order by 1`,
    )
    t.strictSame(
      days,
      [
        { ago: 36, rows: 1, calls: 24 },
        { ago: 37, rows: 1, calls: 24 },
      ],
      table,
    )
    const [all] = await database.query(`select count(*)::int as rows from ${table}`)
    t.strictSame(all, { rows: 26 }, 'younger hours stay hours')
  }
})
