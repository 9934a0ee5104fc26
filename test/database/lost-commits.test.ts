/** A write of buffered rows whose commit nobody has heard of is repeated: each row is stored once, each figure counted once. */
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Transition } from '../../actors/ports/ports.ts'
import type { AttemptRecord, WebhookExchange } from '../../actors/ports/webhooks.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { TimelineBuffer } from '../../src/credentials/timeline.ts'
import { openDatabase, type Queryable } from '../../src/database/database.ts'
import { marked, markStored } from '../../src/database/write-behind.ts'
import { forgetMarks } from '../../src/database/write-watch.ts'
import { CallLog } from '../../src/exchanges/calls.ts'
import { ExchangeLog } from '../../src/exchanges/log.ts'
import type { Vault } from '../../src/security/vault.ts'
import { DeliveryLog } from '../../src/webhooks/delivery-log.ts'
import { journalOn, requestRecord } from '../observability/journal-rig.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { only } from '../support/fakes.ts'
import { quietLogger } from '../support/logger.ts'
import { Relay } from '../support/relay.ts'

const COMMIT = /commit/i
const key = { userId: 1, credentialId: 10, apiKeyId: 100_001, epoch: 1 }

/** A database with one user, account and key, and a way to it that can be cut. */
async function cuttable(t: Test) {
  const { database, url } = await testDatabase(t)
  await database.query(
    `do $$ begin set local session_replication_role = replica;
       insert into app_user (id, phone_index, phone_sealed) overriding system value
         values (1, '', '');
       insert into credential (id, user_id, platform, native_id, account) overriding system value
         values (10, 1, 'fake', 'a', '{}');
       insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor,
         keeps_exchanges)
       overriding system value
         values (100001, 1, 10, 'one', '{}', sha256('one'), 'one', 0, 'all'); end $$`,
  )
  const address = new URL(url)
  const port = Number(address.port)
  const relay = await Relay.start(() => port)
  t.teardown(() => relay.stop())
  address.port = `${relay.port}`
  const db = openDatabase({ url: address.href, logger: quietLogger })
  t.teardown(() => db.close())
  const vault = only<Vault>(t, 'Vault', { seal: async () => Buffer.from('sealed') })
  return { database, relay, db, vault }
}

t.test('lines of a timeline, and how often they repeat themselves', async (t) => {
  const { database, relay, db } = await cuttable(t)
  const timeline = new TimelineBuffer(db, 'test', quietLogger)
  const began = Date.parse('2030-01-01T00:00:00Z')
  let at = began
  const add = (to: string, isRepeat = false) =>
    timeline.add({
      ...{ credentialId: 10, epoch: 0, at: at++, from: 'live', to, event: 'session.lost' },
      ...{ reason: 'network', durationMs: 1, publicState: 'connecting', action: 'wait' },
      ...{ limitedUntil: undefined, ...(isRepeat && { isRepeat }) },
    } as Transition)
  add('waiting')
  add('waiting', true)
  relay.cutAnswerTo(COMMIT)
  await timeline.flush()
  t.ok(relay.hasCut)
  add('waiting', true)
  add('queued')
  await timeline.flush()
  t.same(
    await database.query('select to_state, count, last_at from credential_transition order by id'),
    [
      { to_state: 'waiting', count: 3, last_at: new Date(began + 2) },
      { to_state: 'queued', count: 1, last_at: null },
    ],
  )
  t.same(await database.query('select machine_state from credential'), [
    { machine_state: 'queued' },
  ])
})

t.test('requests, and the figures of their use', async (t) => {
  const { database, relay, db } = await cuttable(t)
  const { journal, dropped } = journalOn(t, db, { flushEveryMs: 60_000 })
  const record = (requestId: string) =>
    journal.record(requestRecord({ requestId, requestBytes: 7 }))
  await journal.flush()
  for (const id of ['a', 'b']) record(id)
  relay.cutAnswerTo(COMMIT)
  await journal.flush()
  t.ok(relay.hasCut)
  record('c')
  await journal.flush()
  t.same(await database.query('select request_id from request_log order by id'), [
    { request_id: 'a' },
    { request_id: 'b' },
    { request_id: 'c' },
  ])
  for (const table of ['usage_hour', 'usage_total']) {
    t.same(
      await database.query(
        `select measure, sum(amount)::int as amount from ${table}
          where measure in ('request', 'bytes_in') group by measure order by measure`,
      ),
      [
        { measure: 'bytes_in', amount: 21 },
        { measure: 'request', amount: 3 },
      ],
      table,
    )
  }
  t.equal(await dropped(), 0)
})

const attempt = (updateId: number) =>
  ({
    ...{ ok: false, at: Date.now(), updateId, attempt: 1, durationMs: 1, status: 500 },
    ...{ traceId: undefined, nextAttemptAt: undefined, error: 'bad' },
  }) as AttemptRecord
const exchange: WebhookExchange = { headers: [], body: '{}', answer: undefined }

t.test('attempts of webhooks and what went over the wire', async (t) => {
  const { database, relay, db, vault } = await cuttable(t)
  const attempts = new DeliveryLog(db, quietLogger, 30)
  const exchanges = new ExchangeLog({ db, vault, logger: quietLogger, days: 1 })
  const calls = new CallLog({ db, vault, logger: quietLogger, days: 1 })
  const place = { key, url: 'https://bot.example/hook' }
  const logs = {
    webhook_delivery: { log: attempts, add: (n: number) => attempts.add(place, attempt(n)) },
    webhook_exchange: {
      log: exchanges,
      add: (n: number) => exchanges.add(key, attempt(n), exchange),
    },
    call_exchange: {
      log: calls,
      add: (n: number) =>
        calls.add({ ...key, at: n, requestId: `${n}`, answer: '', args: new Arguments([]) }),
    },
  }
  for (const [table, { log, add }] of Object.entries(logs)) {
    const stored = async () => (await database.query(`select from ${table}`)).length
    const now = Date.now()
    add(now)
    await log.flush()
    for (const n of [now + 1, now + 2]) add(n)
    relay.cutAnswerTo(new RegExp(`webhook-deliveries|insert into ${table}`))
    await log.flush()
    t.ok(relay.hasCut, table)
    t.equal(await stored(), 3, `${table}: the write was carried out`)
    add(now + 3)
    await log.flush()
    t.equal(await stored(), 4, table)
  }
  t.equal((await database.query('select from write_mark')).length, 3)
  await database.query(`update write_mark set at = now() - interval '31 days'`)
  await forgetMarks(database)
  t.equal((await database.query('select from write_mark')).length, 0)
})

t.test(
  'a write that is repeated while the one before is under way waits for how that ends',
  async (t) => {
    const { database } = await testDatabase(t)
    await database.query('create table kept (n int)')
    const insertion = `with ${marked('$1', '$2::bigint + cardinality($3::int[])')}
    insert into kept select e.n from unnest($3::int[]) with ordinality as e (n, place)
     where $2::bigint + e.place > (select before from mark)`
    const writer = randomUUID()
    const write = (tx: Queryable, before: number, rows: readonly number[]) =>
      tx.query(insertion, [writer, before, rows])
    const kept = async () =>
      (await database.query<{ n: number }>('select n from kept order by n')).map(({ n }) => n)
    /** Both begin with the row after `before`; the first ends once the second waits for it. */
    const race = async (
      before: number,
      first: readonly number[],
      second: readonly number[],
      undone = false,
    ) => {
      let repeated: Promise<unknown> | undefined
      await database
        .transaction(async (tx) => {
          await write(tx, before, first)
          repeated = write(database, before, second)
          await until(async () => {
            const waiting = await database.query(
              `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
            )
            return waiting.length === 1
          })
          if (undone) throw new Error('undone')
        })
        .catch((cause) => t.match(cause, { message: 'undone' }))
      await repeated
      return kept()
    }
    t.same(await race(0, [1, 2], [1, 2, 3], true), [1, 2, 3], 'undone')
    t.same(await race(3, [4, 5], [4, 5, 6]), [1, 2, 3, 4, 5, 6], 'stored')
    t.same(await race(6, [7, 8, 9], [7]), [1, 2, 3, 4, 5, 6, 7, 8, 9], 'the repeated one is a half')
    await write(database, 0, [1, 2, 3])
    t.same(await kept(), [1, 2, 3, 4, 5, 6, 7, 8, 9], 'long late')
    const stored = (before: number, count: number) =>
      database.transaction((tx) => markStored(tx, { writer, before }, count))
    t.same([await stored(8, 3), await stored(9, 2), await stored(11, 1)], [1, 2, 0])
  },
)

t.test('whoever writes rows in batches that are repeated stores a mark with them', async (t) => {
  const source = join(import.meta.dirname, '..', '..', 'src')
  const files = await readdir(source, { recursive: true })
  let writers = 0
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const text = await readFile(join(source, file), 'utf8')
    if (file === 'database/write-behind.ts' || !/\b(WriteBuffer<|writeInOrder\()/.test(text))
      continue
    writers++
    // A place is stored by the message's own id: repeated, it is there already.
    const repeated = file === 'platforms/telegram/storage/locations.ts'
    t.match(text, repeated ? /on conflict \(.*\) do nothing/ : /\bmark(ed|Stored)\(/, file)
  }
  t.equal(writers, 6)
})
