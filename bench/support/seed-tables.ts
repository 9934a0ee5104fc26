/** Seeds one user with many accounts, keys, figures of usage, requests and deliveries, for the lists of the panel. */
import { sealIdentity } from '../../src/credentials/identity.ts'
import { upkeep } from '../../src/observability/request-journal.ts'
import type { Stage } from './stage.ts'

const CREDENTIALS = 100_000
export const REQUESTS = 1_500_000
export const DELIVERIES = 1_000_000
/** Accounts with figures of their own in each hour of 30 days. */
const USED = 1_500

export async function seedTables(stage: Stage): Promise<void> {
  await seedRecords(stage)
  await seedUsage(stage)
  await seedLogs(stage)
}

const SEALED_AT_ONCE = 2_000

/** Sealed names, one in ten with an accent; a key for each account, every other one polled, some of those behind, and some failing webhooks. */
async function seedRecords({ sql, vault, note }: Stage): Promise<void> {
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
    'insert into credential_log (credential_id, next_update_id) select id, 100 + (id % 100 = 4)::int from credential',
  )
  // Half of what waits came too late to be a backlog.
  await sql.query(
    `insert into update_log (credential_id, update_id, source_key, kind, chat_id, payload, at)
     select id, 100, 'message:100', 0, 5001, '"message":{}',
       now() - case when id % 200 = 4 then interval '1 hour' else interval '0' end
       from credential where id % 100 = 4`,
  )
  await sql.query(
    `insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor, polled_at,
       last_used_at)
     overriding system value
     select id, 1, id, case when id % 10 = 9 then 'bénch ' else 'bench ' end || id, '{bot:send,bot:receive}',
       id::text::bytea, '…', 99, case when id % 2 = 0 then now() end, now() from credential`,
  )
  await sql.query(
    `insert into webhook (api_key_id, shown_url, sealed, max_connections, has_certificate, failing_since)
     select id, '', '', 40, false, case when id % 1000 = 1 then now() end from api_key where id % 2 = 1`,
  )
  await sql.query('vacuum analyze credential, credential_log, update_log, api_key, webhook')
  note(`${CREDENTIALS} accounts with sealed names and a key each are there`)
}

async function seedUsage({ sql, note }: Stage): Promise<void> {
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

async function seedLogs({ db, sql, note }: Stage): Promise<void> {
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
