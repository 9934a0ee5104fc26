/** The request journal: batches, overflow, retries, and what it costs a request. */
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { busyMs } from '../support/busy.ts'
import { until } from '../support/client.ts'
import { journalOn, journalRig, requestRecord } from './journal-rig.ts'

const countRows = async (database: Database) =>
  (await database.query<{ count: number }>('select count(*) from request_log'))[0]?.count

t.test('records are stored in batches, and all of them at the end', async (t) => {
  const { database, journal, dropped } = await journalRig(t)
  for (let i = 0; i < 1_234; i++) journal.record(requestRecord({ requestId: `r${i}` }))
  await journal.close()
  const [row] = await database.query<{ count: number; ids: number; batches: number }>(
    `select count(*), count(distinct request_id) as ids, count(distinct xmin::text) as batches
     from request_log`,
  )
  t.strictSame(row, { count: 1_234, ids: 1_234, batches: 3 })
  t.equal(await dropped(), 0)
})

t.test('what comes while a batch is stored waits, unless somebody asks for it', async (t) => {
  const { database } = await journalRig(t)
  let meanwhile: (() => void) | undefined
  const watched: Database = {
    ...database,
    async transaction(work) {
      const result = await database.transaction(work)
      const act = meanwhile
      meanwhile = undefined
      act?.()
      return result
    },
  }
  const { journal } = journalOn(t, watched, { flushEveryMs: 60_000 })
  journal.record(requestRecord())
  meanwhile = () => journal.record(requestRecord())
  await journal.flush()
  t.equal(await countRows(database), 1)

  const asked = Promise.withResolvers<void>()
  meanwhile = () => {
    journal.record(requestRecord())
    asked.resolve(journal.flush())
  }
  await journal.flush()
  await asked.promise
  t.equal(await countRows(database), 3)
})

t.test('a lone record is stored without being asked for', async (t) => {
  const { database } = await journalRig(t)
  const stored = Promise.withResolvers<void>()
  const watched: Database = {
    ...database,
    async transaction(work) {
      const result = await database.transaction(work)
      stored.resolve()
      return result
    },
  }
  const { journal } = journalOn(t, watched, { flushEveryMs: 20 })
  journal.record(requestRecord())
  await stored.promise
  t.equal(await countRows(database), 1)
})

t.test('10,000 pushes cost next to nothing', async (t) => {
  const { journal, database } = await journalRig(t)
  await journal.flush()
  const record = requestRecord()
  const took = await busyMs(() => {
    for (let i = 0; i < 10_000; i++) journal.record(record)
  })
  const microseconds = took / 10
  t.ok(microseconds < 5, `${microseconds.toFixed(3)} µs a push`)
  await journal.close()
  t.equal(await countRows(database), 10_000)
})

t.test('records that find no room are counted, and the others survive', async (t) => {
  const { journal, dropped, database } = await journalRig(t, { capacity: 50, batchSize: 1_000 })
  for (let i = 0; i < 80; i++) journal.record(requestRecord())
  await journal.close()
  t.equal(await dropped(), 30)
  t.equal(await countRows(database), 50)
})

t.test('one success in ten is stored, each failure is, and usage counts all of them', async (t) => {
  const { database, journal } = await journalRig(t, { oneIn: 10 })
  for (let i = 0; i < 2_000; i++) journal.record(requestRecord())
  for (let i = 0; i < 50; i++) journal.record(requestRecord({ status: 400, errorCode: 400 }))
  await journal.close()
  const [stored] = await database.query<{ failed: number; worked: number }>(
    `select count(*) filter (where error_code is null) as worked, count(error_code) as failed
     from request_log`,
  )
  t.equal(stored?.failed, 50)
  const worked = stored?.worked ?? 0
  t.ok(worked > 100 && worked < 300, `${worked} of 2,000`)
  const usage = await database.query(
    `select measure, amount from usage_total where measure in ('request', 'error') order by measure`,
  )
  t.strictSame(usage, [
    { measure: 'error', amount: 50 },
    { measure: 'request', amount: 2_050 },
  ])
})

t.test('an absent database is waited for, and nothing is counted twice', async (t) => {
  const { database } = await journalRig(t)
  let failures = 3
  const flaky: Database = {
    ...database,
    async transaction(work) {
      if (failures-- > 0) throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })
      return database.transaction(work)
    },
  }
  const { journal, dropped } = journalOn(t, flaky)
  journal.record(requestRecord())
  journal.count({ userId: 1 }, { updatesReceived: 5 })
  for (let i = 0; i < 5; i++) await journal.flush()
  t.equal(await countRows(database), 1)
  t.equal(await dropped(), 0)
  const usage = await database.query(
    `select measure, label, amount from usage_hour where measure in ('request', 'updates_received')
     order by measure`,
  )
  t.strictSame(usage, [
    { measure: 'request', label: 'sendMessage', amount: 1 },
    { measure: 'updates_received', label: '', amount: 5 },
  ])
  const totals = await database.query(
    `select measure, label, amount from usage_total where measure in ('request', 'updates_received')
     order by measure`,
  )
  t.strictSame(totals, usage, 'counted once, also for the user as a whole')
})

t.test('figures of many keys are stored in steps, each of them once', async (t) => {
  const { database } = await journalRig(t)
  const steps: number[] = []
  let failures = 1
  const counting: Database = {
    ...database,
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          async query(statement, values = []) {
            if (typeof statement === 'string') return tx.query(statement, values)
            const rows = await tx.query<{ n: number }>(`select cardinality($1::bigint[]) as n`, [
              values[0],
            ])
            steps.push(rows[0]?.n ?? 0)
            if (steps.length === 2 && failures-- > 0) {
              throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })
            }
            return tx.query(statement, values)
          },
        }),
      ),
  }
  const { journal } = journalOn(t, counting)
  await journal.flush()
  for (let key = 1; key <= 1_300; key++) {
    journal.count({ userId: 1, apiKeyId: key }, { updatesReceived: key })
  }
  await journal.flush()
  t.same(steps, [500, 500], 'and the second one fails')
  journal.count({ userId: 1, apiKeyId: 1 }, { updatesReceived: 1 })
  await journal.flush()
  t.same(steps, [500, 500, 500, 301])
  const [sum] = await database.query<{ keys: number; amount: number }>(
    `select count(distinct api_key_id)::int as keys, sum(amount)::int as amount from usage_hour`,
  )
  t.same(sum, { keys: 1_300, amount: (1_300 * 1_301) / 2 + 1 })
  const [total] = await database.query<{ amount: number }>('select amount from usage_total')
  t.equal(total?.amount, sum?.amount)
})

t.test(
  'usage that one batch leaves to the next is added to what comes for the same keys',
  async (t) => {
    const { database, journal, dropped } = await journalRig(t)
    const [records, keys] = [1_000, 200]
    for (let n = 0; n < records; n++) journal.record(requestRecord({ apiKeyId: n % keys }))
    await journal.close()
    t.equal(await dropped(), 0)
    t.equal(await countRows(database), records)
    const counted = await database.query(
      `select count(distinct api_key_id)::int as keys, sum(amount)::int as calls from usage_hour
      where measure = 'request'`,
    )
    t.strictSame(counted, [{ keys, calls: records }])
  },
)

t.test('figures wait for their flush, however many batches of records come before', async (t) => {
  const { database, journal } = await journalRig(t, { flushEveryMs: 60_000 })
  await journal.flush()
  const [batches, keys] = [3, 100]
  for (let batch = 1; batch <= batches; batch++) {
    for (let n = 0; n < 500; n++) journal.record(requestRecord({ apiKeyId: n % keys }))
    await until(async () => (await countRows(database)) === batch * 500)
  }
  const counted = () =>
    database.query(`select sum(amount)::int as calls from usage_hour where measure = 'request'`)
  t.strictSame(await counted(), [{ calls: null }], 'keys have no rows in every batch')
  await journal.flush()
  t.strictSame(await counted(), [{ calls: batches * 500 }])
})

t.test('the totals of a user have what all accounts and keys did', async (t) => {
  const { database, journal } = await journalRig(t)
  for (let n = 0; n < 30; n++) {
    journal.record(requestRecord({ userId: 1 + (n % 2), apiKeyId: n % 5, credentialId: n % 3 }))
    if (n % 10 === 0) await journal.flush()
  }
  await journal.close()
  const sums = (table: string) =>
    database.query(
      `select user_id, hour, measure, label, sum(amount)::int as amount from ${table}
        group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
    )
  const totals = await sums('usage_total')
  t.equal(totals.length, 6)
  t.strictSame(totals, await sums('usage_hour'))
})

t.test('a row that cannot be stored is dropped alone, counted, and holds up nobody', async (t) => {
  const { database, journal, dropped } = await journalRig(t)
  for (let n = 0; n < 100; n++) {
    journal.record(requestRecord({ userId: 1 + (n % 3), ...(n === 41 && { status: 1_000_000 }) }))
  }
  await journal.flush()
  t.equal(await dropped(), 1)
  t.equal(await countRows(database), 99)
  const usage = `select sum(amount)::int as calls from usage_total where measure = 'request'`
  t.same(await database.query(usage), [{ calls: 100 }], 'and it is counted all the same')
  journal.record(requestRecord())
  await journal.flush()
  t.equal(await countRows(database), 100)
})

t.test('a closing service does not wait for a database that never answers', async (t) => {
  const { database } = await journalRig(t)
  const silent: Database = { ...database, transaction: () => new Promise<never>(() => undefined) }
  const { journal, dropped } = journalOn(t, silent, { closeWithinMs: 20 })
  journal.record(requestRecord())
  await journal.close()
  t.equal(await dropped(), 1)
})

t.test('text from the caller is stored in one line, without secrets and NUL', async (t) => {
  const { database, journal } = await journalRig(t)
  journal.record(
    requestRecord({
      description: 'key 123456789:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ\0\r\nis unknown',
      userAgent: `agent \u001b[31m token=canary ${'x'.repeat(1_000)}`,
    }),
  )
  await journal.flush()
  const [row] = await database.query<{ description: string; user_agent: string }>(
    'select description, user_agent from request_log',
  )
  t.equal(row?.description, 'key 123456789:[key] is unknown')
  t.match(row?.user_agent, /^agent {2}\[31m token=\[redacted\] x+$/)
  t.equal(row?.user_agent.length, 300)
})

t.test('calls that end after the erasure of their user leave nothing', async (t) => {
  const { database, journal, dropped } = await journalRig(t)
  const rows = () =>
    database.query(
      `select user_id from request_log union all select user_id from usage_hour
       union all select user_id from usage_total`,
    )
  await database.query('update app_user set erasing_at = now() where id = 1')
  journal.record(requestRecord())
  journal.record(requestRecord({ userId: 99 }))
  journal.count({ userId: 1 }, { updatesReceived: 5 })
  await journal.flush()
  t.same(await rows(), [])

  journal.record(requestRecord({ userId: null }))
  await journal.flush()
  t.same(await rows(), [{ user_id: null }], 'a call of nobody is kept')
  t.equal(await dropped(), 0)
})

t.test('half a character in one record keeps no other from being stored', async (t) => {
  const { database, journal, dropped } = await journalRig(t)
  const cutInTwo = `${'a'.repeat(299)}\u{1f600}`
  const params = [{ name: cutInTwo }, { name: '\ud800' }, { name: 'a\0b' }]
  for (const given of params) journal.record(requestRecord({ params: given, errorCode: 400 }))
  journal.record(requestRecord({ description: cutInTwo, errorCode: 400 }))
  await journal.close()
  t.equal(await countRows(database), 4)
  t.equal(await dropped(), 0)
})
