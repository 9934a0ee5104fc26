/** Notifications that were tried before an upgrade: their next try is not taken for one that was refused then. */

import pg from 'pg'
import t from 'tap'
import { migrationsList } from '../../src/database/migrations/index.ts'
import { runPending } from '../../src/database/migrator.ts'
import { joinTestServer } from '../support/postgres.ts'

t.test('a notification that was tried has a call of its own after the upgrade', async (t) => {
  const server = await joinTestServer()
  const name = `chapar_test_alerts_${process.pid}`
  await server.client.query(`create database ${name} template template0`)
  const url = server.url(name)
  const database = new pg.Client({ connectionString: url })
  t.teardown(async () => {
    await database.end()
    await server.client.query(`drop database ${name} with (force)`)
    await server.client.end()
  })
  const place = migrationsList.findIndex((one) => one.name === '0174-notification-calls')
  await runPending(url, migrationsList.slice(0, place))
  await database.connect()
  await database.query(`
    insert into alert_notification (user_id, channel, event, attempts, created_at, next_at)
    select 1, 'chat', 'opened', attempts, now(), now() from generate_series(0, 3) attempts`)
  await runPending(url)
  const { rows } = await database.query(
    'select attempts, call from alert_notification order by attempts',
  )
  // The version before called each try by its number.
  t.same(
    rows,
    [0, 1, 2, 3].map((attempts) => ({ attempts, call: attempts + 1 })),
  )
})
