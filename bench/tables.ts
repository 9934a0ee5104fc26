/** The lists of the panel at 100,000 accounts, with the plans of slow ones and of those that filter the logs of two days. */
import { countTags } from '../src/bulk/tags.ts'
import { AccountNames, OpenedIdentities, sealIdentity } from '../src/credentials/identity.ts'
import {
  type CredentialQuery,
  countCredentials,
  groupCredentials,
  searchCredentials,
} from '../src/credentials/list.ts'
import { findCredential, type RecordSource } from '../src/credentials/records.ts'
import type { Database, Queryable } from '../src/database/database.ts'
import { type KeyQuery, listKeys } from '../src/keys/records.ts'
import { listRequests, upkeep } from '../src/observability/request-journal.ts'
import { readUsage } from '../src/observability/usage.ts'
import { listDeliveries } from '../src/webhooks/delivery-log.ts'
import { below, type Finding } from './support/finding.ts'
import type { Stage } from './support/stage.ts'
import { milliseconds, percentile } from './support/statistics.ts'

const CREDENTIALS = 100_000
const REQUESTS = 1_500_000
const DELIVERIES = 1_000_000
/** Accounts with figures of their own in each hour of 30 days. */
const USED = 1_500
const TURNS = 40
const TURNS_WITHOUT = 5
const LIMIT_MS = 100
const PAGE = { userId: 1, limit: 50 }

const FILTERS = [
  'request_log_of_credential',
  'webhook_delivery_of_user_failed',
  'webhook_delivery_of_update',
]

type List = (source: RecordSource, turn: number) => Promise<unknown>

const anyCredential: CredentialQuery = {
  search: undefined,
  states: undefined,
  platform: undefined,
  actions: undefined,
  reasons: undefined,
  tags: undefined,
  sort: 'created',
  order: 'desc',
  before: undefined,
  limit: 50,
}
const credentials =
  (query: Partial<CredentialQuery>): List =>
  (source) =>
    searchCredentials(source, 1, { ...anyCredential, ...query })

const groups =
  (query: Partial<CredentialQuery>): List =>
  (source) =>
    groupCredentials(source, 1, { ...anyCredential, ...query })

const anyKey: KeyQuery = {
  credentialId: undefined,
  search: undefined,
  trouble: undefined,
  isRevoked: undefined,
  limit: 50,
  before: undefined,
}
const keys =
  (query: Partial<KeyQuery>): List =>
  (source) =>
    listKeys(source, 1, { ...anyKey, ...query })

const DAY_MS = 86_400_000
const month = (step: 'hour' | 'day', days = 30) => {
  const to = Math.ceil(Date.now() / DAY_MS) * DAY_MS
  return { userId: 1, step, from: new Date(to - days * DAY_MS), to: new Date(to) }
}

const records: Readonly<Record<string, List>> = {
  'credentials, newest': credentials({}),
  'credentials of a state': credentials({ states: ['reconnecting'] }),
  'credentials of a state without any': credentials({ states: ['limited'] }),
  'credentials of a reason': credentials({ reasons: ['signed_out'] }),
  'credentials by state': credentials({ sort: 'state', order: 'asc' }),
  'credentials by last event': credentials({ sort: 'last_event' }),
  'credentials by urgency': credentials({ sort: 'urgency' }),
  'credentials by name': credentials({ sort: 'name', order: 'asc' }),
  'credentials, search for one': credentials({ search: 'zoe ۹۹۹۹۹' }),
  'credentials, search for many': credentials({ search: 'zoe' }),
  'credentials, search for many by name': credentials({ search: 'zoe', sort: 'name' }),
  'credentials, search for none': credentials({ search: 'nobody at all' }),
  'credentials, search within a state': credentials({ search: 'zoe', states: ['limited'] }),
  'credentials, counts': (source) => countCredentials(source, 1),
  'credentials, groups by reason': groups({}),
  'credentials of a tag': credentials({ tags: ['vip'] }),
  'credentials, tags': ({ db }) => countTags(db, 1),
  'credentials, groups of a tag': groups({ tags: ['vip'] }),
  'credentials, groups of a reason': groups({ reasons: ['signed_out'] }),
  'credentials, groups of a state': groups({ states: ['reconnecting'] }),
  'credentials, groups of a platform': groups({ platform: 'test' }),
  'credentials, groups of an action': groups({ actions: ['relink'] }),
  'credentials, groups of a search for many': groups({ search: 'zoe' }),
  'credential, one': (source, turn) => findCredential(source, 1, turn + 1),
  'keys, newest': keys({}),
  'keys of an account': (source, turn) =>
    listKeys(source, 1, { ...anyKey, credentialId: turn + 1, isRevoked: false }),
  'keys, search for one': keys({ search: 'bench 77777' }),
  'keys, search for many': keys({ search: 'bench' }),
  'keys, search for none': keys({ search: 'nobody at all' }),
  'keys of an account found by name': keys({ search: 'zoe ۹۹۹۹۹' }),
  'keys with a failing webhook': keys({ trouble: 'webhook' }),
  'keys with a backlog': keys({ trouble: 'backlog' }),
  'keys, revoked, none': keys({ isRevoked: true }),
  'usage of 30 days by days': ({ db }) => readUsage(db, month('day')),
  'usage of 30 days by hours': ({ db }) => readUsage(db, month('hour')),
  'usage of 366 days by days': ({ db }) => readUsage(db, month('day', 366)),
  'usage of an account, 30 days by hours': ({ db }, turn) =>
    readUsage(db, { ...month('hour'), credentialId: turn + 1 }),
  'usage of a key, 30 days by hours': ({ db }, turn) =>
    readUsage(db, { ...month('hour'), apiKeyId: turn + 1 }),
}

const logs: Readonly<Record<string, List>> = {
  'requests, newest': ({ db }) => listRequests(db, PAGE),
  'requests of a key': ({ db }, turn) => listRequests(db, { ...PAGE, apiKeyId: turn + 1 }),
  'requests of an account': ({ db }, turn) => listRequests(db, { ...PAGE, credentialId: turn + 1 }),
  'requests of an account without any': ({ db }) => listRequests(db, { ...PAGE, credentialId: -1 }),
  'requests failed with a code': ({ db }) => listRequests(db, { ...PAGE, errorCode: 429 }),
  'requests failed with a code, none': ({ db }) => listRequests(db, { ...PAGE, errorCode: 409 }),
  'requests of a key with a code': ({ db }, turn) =>
    listRequests(db, { ...PAGE, apiKeyId: turn + 1, errorCode: 429 }),
  'requests before yesterday noon': ({ db }) =>
    listRequests(db, { ...PAGE, before: { at: Date.now() - DAY_MS, id: 0 } }),
  'deliveries, newest': ({ db }) => listDeliveries(db, PAGE),
  'deliveries of a key': ({ db }, turn) => listDeliveries(db, { ...PAGE, apiKeyId: turn + 1 }),
  'deliveries that worked': ({ db }) => listDeliveries(db, { ...PAGE, outcome: 'delivered' }),
  'deliveries failed, none': ({ db }) => listDeliveries(db, { ...PAGE, outcome: 'failed' }),
  'deliveries refused, none': ({ db }) => listDeliveries(db, { ...PAGE, status: '4xx' }),
  'deliveries with a text, none': ({ db }) => listDeliveries(db, { ...PAGE, text: 'needle' }),
  'deliveries of a key, of a kind': ({ db }, turn) =>
    listDeliveries(db, { ...PAGE, apiKeyId: turn + 1, kind: 'poll' }),
  'deliveries of an update': ({ db }, turn) => listDeliveries(db, { ...PAGE, updateId: turn + 1 }),
  'deliveries of an update without any': ({ db }) => listDeliveries(db, { ...PAGE, updateId: -1 }),
}

export async function tables(stage: Stage): Promise<Finding[]> {
  await fillRecords(stage)
  await fillUsage(stage)
  await fill(stage)
  const identities = new OpenedIdentities(stage.vault)
  const source: RecordSource = {
    db: stage.db,
    flush: async () => undefined,
    accountId: async (id) => id,
    identity: (row) => identities.of(row),
    names: new AccountNames(stage.db, (row) => identities.of(row)),
  }
  const lists = { ...records, ...logs }
  const fast = await measured(source, lists, TURNS)
  for (const [what, list] of Object.entries(lists)) {
    if ((fast.get(what) ?? 0) >= LIMIT_MS) await explain(stage, source, what, list)
  }
  for (const [what, list] of Object.entries(logs)) await explain(stage, source, what, list)
  await sizes(stage)
  await stage.sql.query(`drop index ${FILTERS.join(', ')}`)
  const slow = await measured(source, logs, TURNS_WITHOUT)
  return Object.keys(lists).map((what) => {
    const [ours = Number.NaN, bare] = [fast.get(what), slow.get(what)]
    return {
      what: `${what}, p95 (bare: without the filters' indexes)`,
      ours: milliseconds(ours),
      ...(bare !== undefined && { bare: milliseconds(bare), ratio: ours / bare }),
      ...below(ours, LIMIT_MS, `${LIMIT_MS} ms`),
    }
  })
}

const SEALED_AT_ONCE = 2_000

/** Sealed names, one in ten with an accent; a key for each account, every other one polled, and some failing webhooks. */
async function fillRecords({ sql, vault, note }: Stage): Promise<void> {
  await sql.query(
    `insert into app_user (id, phone_index, phone_sealed) overriding system value values (1, '', '')`,
  )
  for (let from = 1; from <= CREDENTIALS; from += SEALED_AT_ONCE) {
    const ids = Array.from({ length: SEALED_AT_ONCE }, (_, n) => from + n)
    const sealed = await Promise.all(
      ids.map((id) =>
        sealIdentity(vault, 1, id, {
          native: `${id}`,
          firstName: id % 10 === 9 ? 'Zoë' : `Person ${(id * 7919) % CREDENTIALS}`,
          lastName: `${id}`,
          username: `account_${id}`,
          phone: `4917${id}`,
        }),
      ),
    )
    await sql.query(
      `insert into credential (id, user_id, platform, native_id, account_sealed, state, reason, action,
         last_event_at, tags)
       overriding system value
       select id, 1, 'test', id, sealed,
         case when id % 50 = 0 then 'reconnecting' when id % 300 = 1 then 'signed_out' else 'active' end,
         case when id % 300 = 1 then 'signed_out' end,
         case when id % 300 = 1 then 'relink' else 'none' end, now() - id * interval '1 second',
         case when id % 10 = 3 then '{vip,shop}'::text[] else '{}' end
       from unnest($1::bigint[], $2::bytea[]) as c (id, sealed)`,
      [ids, sealed],
    )
  }
  await sql.query(
    'insert into credential_log (credential_id, next_update_id) select id, 100 + (id % 10 = 4)::int from credential',
  )
  await sql.query(
    `insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor, polled)
     overriding system value
     select id, 1, id, case when id % 10 = 9 then 'bénch ' else 'bench ' end || id, '{bot:send}',
       id::text::bytea, '…', 99, id % 2 = 0 from credential`,
  )
  await sql.query(
    `insert into webhook (api_key_id, shown_url, sealed, max_connections, has_certificate, failing_since)
     select id, '', '', 40, false, case when id % 1000 = 1 then now() end from api_key where id % 2 = 1`,
  )
  await sql.query('vacuum analyze credential, credential_log, api_key, webhook')
  note(`${CREDENTIALS} accounts with sealed names and a key each are there`)
}

async function fillUsage({ sql, note }: Stage): Promise<void> {
  await sql.query(
    `insert into usage_hour
     select 1, date_trunc('hour', now()) - h * interval '1 hour', c, c, 'request', 'sendMessage', 1
     from generate_series(0, 719) h, generate_series(1, $1::int) c`,
    [USED],
  )
  await sql.query(
    `insert into usage_total
     select 1, date_trunc('hour', now()) - h * interval '1 hour', 'request', 'method' || m, 1
     from generate_series(0, 35 * 24) h, generate_series(1, 30) m
     union all
     select 1, date_trunc('day', now(), 'UTC') - d * interval '1 day', 'request', 'method' || m, 24
     from generate_series(37, 366) d, generate_series(1, 30) m`,
  )
  await sql.query('vacuum analyze usage_hour, usage_total')
  note(`usage of ${USED} accounts in each hour of 30 days, and of 30 methods in a year, is there`)
}

async function fill({ db, sql, note }: Stage): Promise<void> {
  await upkeep(db, 30)
  await sql.query(`select webhook_delivery_upkeep(interval '30 days')`)
  const began = `date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '1 day'`
  await sql.query(
    `insert into request_log (at, request_id, user_id, api_key_id, credential_id, method, status,
       error_code, duration_ms, request_bytes, response_bytes, ip)
     select ${began} + n * interval '172800 seconds' / $1::int, gen_random_uuid(), 1,
       1 + n % $2::int, 1 + n % $2::int, 'sendMessage', 200, case when n % 100 = 7 then 400 when n % 1000 = 8 then 429 end,
       1.5, 100, 300, '127.0.0.1'
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
async function measured(
  source: RecordSource,
  lists: Readonly<Record<string, List>>,
  turns: number,
): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const [what, list] of Object.entries(lists)) {
    await list(source, 0)
    const times: number[] = []
    for (let turn = 0; turn < turns; turn++) {
      const began = performance.now()
      await list(source, turn)
      times.push(performance.now() - began)
    }
    found.set(what, percentile(times, 0.95))
  }
  return found
}

/** Prints the plans of the statements of a list in the form in which they are asked. */
async function explain(
  { sql, db, note }: Stage,
  source: RecordSource,
  what: string,
  list: List,
): Promise<void> {
  const explaining: Queryable = {
    async query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
      const { rows } = await sql.query(`explain (analyze, buffers) ${text}`, values)
      note([`${what}:`, ...rows.map((row) => `  ${row['QUERY PLAN']}`)].join('\n     '))
      return db.query<Row>(text, values)
    },
  }
  await list({ ...source, db: { ...db, ...explaining } as Database }, 1)
}

/** Bytes of a row of each log, with its indexes. */
async function sizes({ sql, note }: Stage): Promise<void> {
  for (const [log, rows] of Object.entries({
    request_log: REQUESTS,
    webhook_delivery: DELIVERIES,
  })) {
    const { rows: parts } = await sql.query(
      `select regexp_replace(c.relname, '[0-9]{8}', 'day') as part, sum(pg_relation_size(c.oid))::float8 as bytes
         from pg_class c
        where c.relname ~ $1 and c.relkind in ('r', 'i') group by 1 order by 1`,
      [`^${log}_[0-9]{8}`],
    )
    for (const { part, bytes } of parts) note(`${part}: ${(bytes / rows).toFixed(1)} bytes a row`)
  }
}
