/** The filters of the request log and the delivery log: a page reads what it shows, not what it leaves out. */
import t, { type Test } from 'tap'
import type { Queryable } from '../../src/database/database.ts'
import { listRequests, upkeep } from '../../src/observability/request-journal.ts'
import { listDeliveries } from '../../src/webhooks/delivery-log.ts'
import { testDatabase } from '../support/database.ts'

const ROWS = 20_000
/** Rows that a page of ten may read and leave out. */
const FEW = 100

/** How many rows were read and left out by what `list` asks. */
async function leftOut(database: Queryable, list: (database: Queryable) => Promise<unknown>) {
  let count = 0
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const plan = await database.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, timing off) ${text}`,
        values,
      )
      for (const { 'QUERY PLAN': line } of plan) {
        count += Number(/Rows Removed by Filter: (\d+)/.exec(line)?.[1] ?? 0)
      }
      return []
    },
  }
  await list(explaining as unknown as Queryable)
  return count
}

async function filled(t: Test) {
  const { database } = await testDatabase(t)
  await upkeep(database, 30)
  await database.query(`select webhook_delivery_upkeep(interval '30 days')`)
  await database.query(
    `insert into request_log (at, request_id, user_id, api_key_id, credential_id, method, status,
       duration_ms, request_bytes, response_bytes, ip)
     select now() - n * interval '3 seconds', n, 1, 100, 10 + n % 50, 'getMe', 200, 1, 1, 1, '::1'
     from generate_series(1, $1::int) n`,
    [ROWS],
  )
  await database.query('update request_log set error_code = 400 where id % 20 = 0')
  await database.query(
    `insert into webhook_delivery (at, user_id, api_key_id, update_id, attempt, url, duration_ms)
     select now() - n * interval '3 seconds', 1, 100 + n % 50, n, 1, 'https://bot.test', 1
     from generate_series(1, $1::int) n`,
    [ROWS],
  )
  await database.query('analyze request_log, webhook_delivery')
  return database
}

t.test('a filter that matches nothing reads nothing', async (t) => {
  const database = await filled(t)
  const user = { userId: 1, limit: 10 }
  const lists = {
    'requests of an account': (db: Queryable) => listRequests(db, { ...user, credentialId: 9 }),
    'requests that failed with a code': (db: Queryable) =>
      listRequests(db, { ...user, errorCode: 409 }),
    'requests refused': (db: Queryable) => listRequests(db, { ...user, status: '5xx' }),
    'failed deliveries': (db: Queryable) => listDeliveries(db, { ...user, outcome: 'failed' }),
    'deliveries refused': (db: Queryable) => listDeliveries(db, { ...user, status: '4xx' }),
    'deliveries of an update': (db: Queryable) => listDeliveries(db, { ...user, updateId: 0 }),
  }
  for (const [name, list] of Object.entries(lists)) {
    t.ok((await leftOut(database, list)) <= FEW, name)
  }
})

t.test('the filters still find what there is, newest first', async (t) => {
  const database = await filled(t)
  const { requests } = await listRequests(database, { userId: 1, credentialId: 12, limit: 3 })
  t.strictSame(
    requests.map(({ request_id }) => request_id),
    ['2', '52', '102'],
  )
  for (const sought of [{ requestId: '52' }, { requestId: '52', method: 'getMe' }]) {
    const one = await listRequests(database, { userId: 1, limit: 3, ...sought })
    t.match(one.requests, [{ request_id: /^52$/ }])
    t.equal(one.requests.length, 1)
  }
  const found = { userId: 1, updateId: 7, limit: 3 }
  const { deliveries } = await listDeliveries(database, found)
  t.match(deliveries, [{ update_id: 7, error: null }])
  t.equal(deliveries.length, 1)
})
