/** The lists of the panel at 100,000 accounts, with the plans of slow ones and of those that filter the logs of two days. */
import { countTags } from '../src/bulk/tags.ts'
import { AccountNames, OpenedIdentities } from '../src/credentials/identity.ts'
import {
  type CredentialQuery,
  countCredentials,
  groupCredentials,
  searchCredentials,
} from '../src/credentials/list.ts'
import { findCredential, type RecordSource } from '../src/credentials/records.ts'
import type { Database, Queryable } from '../src/database/database.ts'
import { type KeyQuery, listKeys } from '../src/keys/records.ts'
import { listRequests } from '../src/observability/request-journal.ts'
import { readUsage } from '../src/observability/usage.ts'
import { listDeliveries } from '../src/webhooks/delivery-log.ts'
import { below, type Finding } from './support/finding.ts'
import { anyCredential } from './support/queries.ts'
import { DELIVERIES, REQUESTS, seedTables } from './support/seed-tables.ts'
import type { Stage } from './support/stage.ts'
import { milliseconds, percentile } from './support/statistics.ts'

const TURNS = 40
const TURNS_WITHOUT = 5
const LIMIT_MS = 100
/** Figures of usage are no list. */
const USAGE_MS = 200
const limitOf = (what: string) => (what.startsWith('usage') ? USAGE_MS : LIMIT_MS)
const PAGE = { userId: 1, limit: 50 }

const FILTERS = [
  'request_log_of_credential',
  'webhook_delivery_of_user_failed',
  'webhook_delivery_of_update',
]

type List = (source: RecordSource, turn: number) => Promise<unknown>

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
  'credentials by last event, a further page': credentials({
    sort: 'last_event',
    before: Buffer.from(JSON.stringify([Date.now() / 1_000 - 5_000, 5_000])).toString('base64url'),
  }),
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
  if (!stage.isSeeded) await seedTables(stage)
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
  for (const [what, { slow }] of [...fast].sort(([, one], [, other]) => other.slow - one.slow)) {
    const list = lists[what]
    if (list && (stage.options.plans || slow >= limitOf(what)))
      await explain(stage, source, what, list)
  }
  await sizes(stage)
  const bare = await withoutFilters(stage, () => measured(source, logs, TURNS_WITHOUT))
  return [...fast].map(([what, { half, slow }]) => {
    const without = bare.get(what)?.slow
    return {
      what: `${what}, p95 (bare: without the filters' indexes)`,
      ours: `${milliseconds(slow)}, p50 ${milliseconds(half)}`,
      ...(without !== undefined && { bare: milliseconds(without), ratio: slow / without }),
      ...below(slow, limitOf(what), `${limitOf(what)} ms`),
    }
  })
}

interface Times {
  readonly half: number
  readonly slow: number
}

/** The median and the 95th percentile of each list. */
async function measured(
  source: RecordSource,
  lists: Readonly<Record<string, List>>,
  turns: number,
): Promise<Map<string, Times>> {
  const found = new Map<string, Times>()
  for (const [what, list] of Object.entries(lists)) {
    await list(source, 0)
    const times: number[] = []
    for (let turn = 0; turn < turns; turn++) {
      const began = performance.now()
      await list(source, turn)
      times.push(performance.now() - began)
    }
    found.set(what, { half: percentile(times, 0.5), slow: percentile(times, 0.95) })
  }
  return found
}

/** Drops the indexes for the filters meanwhile: the database may be kept. */
async function withoutFilters<Result>(
  { sql, options }: Stage,
  work: () => Promise<Result>,
): Promise<Result> {
  const { rows } = await sql.query(
    'select pg_get_indexdef(name::regclass) as definition from unnest($1::text[]) as f (name)',
    [FILTERS],
  )
  await sql.query(`drop index ${FILTERS.join(', ')}`)
  const result = await work()
  // Of a table with partitions the definition is the index of the table alone, without those of its partitions.
  const definitions = rows.map(({ definition }) => definition.replace(' ON ONLY ', ' ON '))
  if (options.keep) for (const definition of definitions) await sql.query(definition)
  return result
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
