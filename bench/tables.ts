/** The lists of requests and deliveries in logs of two days, with their plans: with the indexes of the filters and without. */
import type { Queryable } from '../src/database/database.ts'
import { listRequests, upkeep } from '../src/observability/request-journal.ts'
import { listDeliveries } from '../src/webhooks/delivery-log.ts'
import { below, type Finding } from './support/finding.ts'
import type { Stage } from './support/stage.ts'
import { milliseconds, percentile } from './support/statistics.ts'

const CREDENTIALS = 100_000
const REQUESTS = 1_500_000
const DELIVERIES = 1_000_000
const TURNS = 40
const TURNS_WITHOUT = 5
const LIMIT_MS = 100
const PAGE = { userId: 1, limit: 50 }

const FILTERS = ['request_log_credential', 'webhook_delivery_failed', 'webhook_delivery_update']

type List = (db: Queryable, turn: number) => Promise<unknown>

const lists: Readonly<Record<string, List>> = {
  'requests, newest': (db) => listRequests(db, PAGE),
  'requests of a key': (db, turn) => listRequests(db, { ...PAGE, apiKeyId: turn + 1 }),
  'requests of an account': (db, turn) => listRequests(db, { ...PAGE, credentialId: turn + 1 }),
  'requests of an account without any': (db) => listRequests(db, { ...PAGE, credentialId: -1 }),
  'deliveries, newest': (db) => listDeliveries(db, PAGE),
  'deliveries failed, none': (db) => listDeliveries(db, { ...PAGE, outcome: 'failed' }),
  'deliveries of an update': (db, turn) => listDeliveries(db, { ...PAGE, updateId: turn + 1 }),
  'deliveries of an update without any': (db) => listDeliveries(db, { ...PAGE, updateId: -1 }),
}

export async function tables(stage: Stage): Promise<Finding[]> {
  await fill(stage)
  const fast = await measured(stage, TURNS)
  await explain(stage)
  await stage.sql.query(`drop index ${FILTERS.join(', ')}`)
  const slow = await measured(stage, TURNS_WITHOUT)
  return Object.keys(lists).map((what) => {
    const [ours = Number.NaN, bare = Number.NaN] = [fast.get(what), slow.get(what)]
    return {
      what: `${what}, p95 (bare: without the filters' indexes)`,
      ours: milliseconds(ours),
      bare: milliseconds(bare),
      ratio: ours / bare,
      ...below(ours, LIMIT_MS, `${LIMIT_MS} ms`),
    }
  })
}

async function fill({ db, sql, note }: Stage): Promise<void> {
  await upkeep(db, 30)
  await sql.query(`select webhook_delivery_upkeep(interval '30 days')`)
  const began = `date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '1 day'`
  await sql.query(
    `insert into request_log (at, request_id, user_id, api_key_id, credential_id, method, status,
       duration_ms, request_bytes, response_bytes, ip)
     select ${began} + n * interval '172800 seconds' / $1::int, n, 1, 1 + n % $2::int,
       1 + n % $2::int, 'sendMessage', 200, 1.5, 100, 300, '127.0.0.1'
     from generate_series(0, $1::int - 1) n`,
    [REQUESTS, CREDENTIALS],
  )
  await sql.query(
    `insert into webhook_delivery (at, user_id, api_key_id, update_id, attempt, url, status,
       duration_ms)
     select ${began} + n * interval '172800 seconds' / $1::int, 1, 1 + n % $2::int, 1 + n / 10,
       1, 'https://bot.example/hook', 200, 1.5
     from generate_series(0, $1::int - 1) n`,
    [DELIVERIES, CREDENTIALS],
  )
  await sql.query('vacuum analyze request_log')
  await sql.query('vacuum analyze webhook_delivery')
  note(`${REQUESTS} requests and ${DELIVERIES} deliveries of ${CREDENTIALS} accounts are there`)
}

/** The 95th percentile of each list. */
async function measured({ db }: Stage, turns: number): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const [what, list] of Object.entries(lists)) {
    await list(db, 0)
    const times: number[] = []
    for (let turn = 0; turn < turns; turn++) {
      const began = performance.now()
      await list(db, turn)
      times.push(performance.now() - began)
    }
    found.set(what, percentile(times, 0.95))
  }
  return found
}

/** Prints each plan in the form of the statement as it is asked. */
async function explain({ sql, note }: Stage): Promise<void> {
  for (const [what, list] of Object.entries(lists)) {
    const explaining = {
      query: async (text: string, values: unknown[]) => {
        const { rows } = await sql.query(`explain (analyze, buffers) ${text}`, values)
        note([`${what}:`, ...rows.map((row) => `  ${row['QUERY PLAN']}`)].join('\n     '))
        return []
      },
    }
    await list(explaining as unknown as Queryable, 1)
  }
}
