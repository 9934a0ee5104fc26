/** What nobody asks for any more is taken out of the tables, hour by hour, and what is asked for stays. */
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { retainTimelines } from '../../src/credentials/timeline.ts'
import { forgetMessages, forgetOldMessages } from '../../src/identities/store.ts'
import type { JobHandler } from '../../src/jobs/jobs.ts'
import { everyHalfMinute, everyHour } from '../../src/maintenance.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { retainSandbox } from '../../src/sandbox/sandbox.ts'
import { testDatabase } from '../support/database.ts'

/** One account that is in use, and one that was deleted. */
async function accounts(t: Parameters<typeof testDatabase>[0]) {
  const { database: db } = await testDatabase(t)
  const rows = await db.query<{ id: number }>(
    `with owner as (
       insert into app_user (phone_index, phone_sealed) values ('\\x01', '') returning id)
     insert into credential (user_id, platform, native_id, account, deactivated_at)
     select owner.id, 'xmpp', native, '{}', gone
       from owner, (values ('1', null::timestamptz), ('2', now())) as account (native, gone)
     returning id`,
  )
  const [used = 0, deleted = 0] = rows.map(({ id }) => id)
  return { db, used, deleted }
}

t.test('a timeline keeps its newest lines', async (t) => {
  const { db, used } = await accounts(t)
  await db.query(
    `insert into credential_transition
       (credential_id, at, from_state, to_state, event, actor, node, duration_ms)
     select $1, now(), 'a', 'b', 'line ' || line, '', '', 0 from generate_series(1, 6000) line`,
    [used],
  )
  await retainTimelines(db, 3)
  t.strictSame(await db.query('select event from credential_transition order by id'), [
    { event: 'line 5998' },
    { event: 'line 5999' },
    { event: 'line 6000' },
  ])
})

t.test('each of many accounts keeps its own newest lines', async (t) => {
  const { db } = await accounts(t)
  await db.query(
    `insert into credential (user_id, platform, native_id, account)
     select id, 'xmpp', n::text, '{}' from app_user, generate_series(3, 250) n`,
  )
  await db.query(
    `insert into credential_transition
       (credential_id, at, from_state, to_state, event, actor, node, duration_ms)
     select id, now(), 'a', 'b', 'line ' || line, '', '', 0
       from credential, generate_series(1, 5) line where deactivated_at is null`,
  )
  await retainTimelines(db, 3)
  const kept = await db.query(
    `select event, count(distinct credential_id)::int as accounts
       from credential_transition group by event order by event`,
  )
  t.strictSame(kept, [
    { event: 'line 3', accounts: 249 },
    { event: 'line 4', accounts: 249 },
    { event: 'line 5', accounts: 249 },
  ])
})

t.test('the messages of a deleted account are forgotten', async (t) => {
  const { db, used, deleted } = await accounts(t)
  await db.query(
    `insert into message_identity (credential_id, chat_id, message_id, native, own)
     select $2::bigint, 7, n, 'n' || n, false from generate_series(1, 5001) n
     union all select $1::bigint, 7, 1, 'n1', false`,
    [used, deleted],
  )
  await forgetMessages(db)
  t.strictSame(await db.query('select credential_id from message_identity'), [
    { credential_id: used },
  ])
})

t.test(
  'old numbers of messages are forgotten in steps, and each chat keeps its newest',
  async (t) => {
    const { db, used } = await accounts(t)
    await db.query(
      `insert into chat_identity (credential_id, native, chat_id)
     select $1, 'chat' || n, n from generate_series(-600, 600) n`,
      [used],
    )
    // One chat with more than a step takes, one half old, many with one old row, and those without any.
    await db.query(
      `insert into message_identity (credential_id, chat_id, message_id, native, own, given_on)
     select $1::bigint, 7, n, 'n' || n, false, current_date - 100 from generate_series(1, 12001) n
     union all
     select $1::bigint, 8, n, 'm' || n, false, current_date - case when n < 4 then 31 else 30 end
       from generate_series(1, 5) n
     union all
     select $1::bigint, -n, 9, 'g' || n, false, current_date - 100 from generate_series(1, 550) n`,
      [used],
    )
    t.equal(await forgetOldMessages(db, 30), 12_003)
    t.equal(await forgetOldMessages(db, 30), 0)
    t.strictSame(
      await db.query(
        'select chat_id as chat, message_id as id from message_identity where chat_id > 0 order by 1, 2',
      ),
      [
        { chat: 7, id: 12_001 },
        { chat: 8, id: 4 },
        { chat: 8, id: 5 },
      ],
    )
    const groups = await db.query('select 1 from message_identity where chat_id < 0')
    t.equal(groups.length, 550, 'the newest of each chat stays')
  },
)

t.test('what the sandbox holds for a moment goes a day after it', async (t) => {
  const { db } = await accounts(t)
  await db.query(
    `insert into sandbox_challenge (id, person_id, code, expires_at)
     select gen_random_uuid(), 777000, age, now() - age::interval
       from unnest(array['25 hours', '23 hours']) age`,
  )
  await db.query(
    `insert into sandbox_callback (person_id, owner_id, data, expires_at)
     select 777000, 777000, age, now() - age::interval from unnest(array['25 hours', '23 hours']) age`,
  )
  await retainSandbox(db)
  t.strictSame(await db.query('select code from sandbox_challenge'), [{ code: '23 hours' }])
  t.strictSame(await db.query('select data from sandbox_callback'), [{ data: '23 hours' }])
})

t.test('incidents are judged, and judged again half a minute later', async (t) => {
  const { db } = await accounts(t)
  await db.query("update credential set state = 'failed'")
  await db.query("update credential set troubled_since = now() - interval '6 minutes'")
  const handlers = new Map<string, JobHandler>()
  let reminders = 0
  everyHalfMinute(
    {
      remind: async () => void reminders++,
      onReminder: (kind, handler) => void handlers.set(kind, handler),
    },
    {
      db,
      logger: createLogger({ level: 'silent' }),
      staff: { operators: async () => [] },
    },
  )
  await handlers.get('alerts')?.('incidents', AbortSignal.timeout(60_000))
  t.not((await db.query('select id from incident')).length, 0)
  t.equal(reminders, 2, 'the first, and the one for the next time')
})

t.test('a chore that fails keeps no other from its turn, and the next hour comes', async (t) => {
  const { db } = await accounts(t)
  await db.query('drop table link_session cascade')
  for (const log of ['webhook_delivery', 'webhook_exchange', 'call_exchange']) {
    await db.query(`create table ${log}_20200131 partition of ${log}
      for values from ('2020-01-31 00:00Z') to ('2020-02-01 00:00Z')`)
  }
  const handlers = new Map<string, JobHandler>()
  let reminders = 0
  let swept = 0
  everyHour(
    {
      remind: async () => void reminders++,
      onReminder: (kind, handler) => void handlers.set(kind, handler),
    },
    {
      db,
      updates: { removed: () => undefined },
      limits: { ...readConfig({}).retention, bodyDays: 0 },
      eraser: { resume: async () => undefined },
      media: { sweep: async () => void swept++ },
      logger: createLogger({ level: 'silent' }),
    },
  )
  await handlers.get('updates')?.('retention', AbortSignal.timeout(60_000))
  t.equal(swept, 1)
  t.equal(reminders, 2, 'the first, and the one for the next hour')
  const old = await db.query(`select relname from pg_class where relname like '%\\_20200131'`)
  t.strictSame(old, [], 'what was sent long ago is gone, although nothing is sent any more')
})
