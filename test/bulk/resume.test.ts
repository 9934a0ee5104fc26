/** An action on 10,000 accounts is interrupted by a kill, and goes on where it was: no account is forgotten, few are done twice. */
import { join } from 'node:path'
import t from 'tap'
import { secretsOf } from '../../src/credentials/identity.ts'
import type { Database } from '../../src/database/database.ts'
import { hashToken, newToken } from '../../src/sandbox/delivery/sessions.ts'
import { openVault } from '../../src/security/vault.ts'
import { startRemote } from '../nodes/remote-service.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

const ACCOUNTS = 10_000

/** Linked accounts of the sandbox, as linking leaves them. */
async function seedAccounts(database: Database, keyFile: string, userId: number): Promise<void> {
  const vault = await openVault({ db: database, keyFile, logger: quietLogger })
  const people = await database.query<{ id: number }>(
    `insert into sandbox_person (id, phone, first_name, user_id, sessions)
     select id, '+8889' || lpad(id::text, 9, '0'), 'Person ' || id, $2, 1
       from (select nextval('sandbox_person_id') as id from generate_series(1, $1)) as p
     returning id`,
    [ACCOUNTS, userId],
  )
  const ids = await database.query<{ id: number }>(
    `select nextval('credential_id_seq') as id from generate_series(1, $1)`,
    [ACCOUNTS],
  )
  const tokens = people.map(newToken)
  const secrets = await Promise.all(
    ids.map(({ id }, index) =>
      vault.seal(
        `user:${userId}`,
        secretsOf(id),
        Buffer.from(JSON.stringify({ token: tokens[index] })),
      ),
    ),
  )
  await database.query(
    `insert into sandbox_session (person_id, token_hash, acknowledged)
     select person, hash, 0 from unnest($1::bigint[], $2::bytea[]) as s (person, hash)`,
    [people.map(({ id }) => id), tokens.map(hashToken)],
  )
  await database.query(
    `with linked as (
       insert into credential (id, user_id, platform, native_id, account, secrets)
       select id, $1, 'sandbox', person::text,
              jsonb_build_object('native', person::text, 'firstName', 'Person ' || person), secrets
         from unnest($2::bigint[], $3::bigint[], $4::bytea[]) as c (id, person, secrets)
       returning id
     )
     insert into credential_log (credential_id, next_update_id) select id, 1000 from linked`,
    [userId, ids.map(({ id }) => id), people.map(({ id }) => id), secrets],
  )
}

t.test('a restart of all accounts survives a kill of the service', async (t) => {
  const { url: databaseUrl, database } = await testDatabase(t)
  const env = { USER_CALLS_PER_MINUTE: '1000000', CLUSTER_ADDRESS: '' }
  const first = await startRemote(t, { databaseUrl, name: 'bulk', env })
  const owner = await first.client('+14155559301')
  const [user] = await database.query<{ id: number }>('select id from app_user')
  const DATA_DIR = first.dataDir
  await first.end('SIGKILL')
  await seedAccounts(database, join(DATA_DIR, 'keys'), user?.id ?? 0)

  const began = performance.now()
  const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`
  const service = () => startRemote(t, { databaseUrl, name: 'bulk', env: { ...env, DATA_DIR } })
  const second = await service()
  const before = owner.at(second.url)
  await until(async () => {
    const { by_state } = await before.result('GET', '/platforms/credentials/summary')
    return by_state.active >= ACCOUNTS / 2
  }, 60_000)
  t.comment(`half of the accounts are active after ${seconds()}`)

  const order = { kind: 'restart', filter: { platform: 'sandbox' }, at_most: ACCOUNTS }
  const action = await before.result('POST', '/platforms/credentials/actions', order)
  t.match(action, { kind: 'restart', state: 'running', total: ACCOUNTS, done: 0, failed: 0 })
  const path = `/platforms/credentials/actions/${action.action_id}`
  await until(async () => (await before.result('GET', path)).done >= ACCOUNTS / 4, 60_000)
  await second.end('SIGKILL')
  const killedAt = new Date()
  const done = await database.query<{ credential_id: number }>(
    `select credential_id from bulk_item where state = 'done'`,
  )
  t.comment(`killed after ${seconds()}, ${done.length} accounts were done`)
  t.ok(done.length >= ACCOUNTS / 4 && done.length < ACCOUNTS, 'in the middle of it')

  const third = await service()
  const after = owner.at(third.url)
  const ended = await until(async () => {
    const now = await after.result('GET', path)
    return now.state === 'finished' && now
  }, 90_000)
  t.comment(`finished after ${seconds()}`)
  t.match(ended, { total: ACCOUNTS, done: ACCOUNTS, failed: 0, ended_at: /Z$/ })

  // The summary is made after all that is buffered has been written.
  await after.result('GET', '/platforms/credentials/summary')
  const restarted = await database.query<{ credential_id: number }>(
    `select distinct credential_id from credential_transition
      where event = 'credential.restart' and at > $1`,
    [killedAt],
  )
  const doneBefore = new Set(done.map(({ credential_id }) => credential_id))
  const missing = ACCOUNTS - doneBefore.size - restarted.length
  // A restart of an account that is still coming back after the kill is no line of its own.
  t.ok(missing >= 0 && missing <= 200, `all others are restarted, ${missing} while they came back`)
  t.notOk(
    restarted.some(({ credential_id }) => doneBefore.has(credential_id)),
    'and none that was done',
  )
})
