/** The migrations that replace the indexes of the logs, on a database that has logged before them. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { migrationsList } from '../../src/database/migrations/index.ts'
import { runPending } from '../../src/database/migrator.ts'
import { upkeep } from '../../src/observability/request-journal.ts'
import { quietLogger } from '../support/logger.ts'
import { joinTestServer } from '../support/postgres.ts'

const LOGS = { request_log: 4, webhook_delivery: 4 }

t.test('each day has the new indexes, days before the migration and after it', async (t) => {
  const server = await joinTestServer()
  const name = `chapar_test_log_indexes_${process.pid}`
  await server.client.query(`create database ${name} template template0`)
  const url = server.url(name)
  const db = openDatabase({ url, logger: quietLogger })
  t.teardown(async () => {
    await db.close()
    await server.client.query(`drop database ${name} with (force)`)
    await server.client.end()
  })
  const place = migrationsList.findIndex((migration) => migration.name === '0087-log-indexes')
  await runPending(url, migrationsList.slice(0, place))
  await upkeep(db, 30)
  await db.query(`select webhook_delivery_upkeep(interval '30 days')`)
  const sizes = () =>
    db.query<{ bytes: number }>(
      `select sum(pg_indexes_size(relid))::float8 as bytes from pg_partition_tree('request_log')`,
    )
  await db.query(`
    insert into request_log (at, request_id, user_id, api_key_id, credential_id, method, status,
      duration_ms, request_bytes, response_bytes, ip)
    select now() - interval '1 hour' + n * interval '100 milliseconds', n, n % 20, n % 50, n % 50, 'getMe', 200,
      1, 1, 1, '::1'
    from generate_series(1, 20000) n`)
  const [before] = await sizes()
  await runPending(url)
  const [after] = await sizes()
  const ratio = (after?.bytes ?? Number.NaN) / (before?.bytes ?? Number.NaN)
  t.ok(ratio < 0.8, `${ratio.toFixed(2)} of the size`)

  // As if the day after tomorrow came: the partition is made after the migration.
  const [last] = await db.query<{ part: string }>(
    `select max(relid::text) as part from pg_partition_tree('request_log') where isleaf`,
  )
  await db.query(`drop table ${last?.part}`)
  await upkeep(db, 30)

  for (const [log, count] of Object.entries(LOGS)) {
    const found = await db.query<{ part: string; valid: boolean; indexes: number }>(
      `select relid::text as part, bool_and(indisvalid) as valid, count(*)::int as indexes
         from pg_partition_tree($1) join pg_index on indrelid = relid group by 1`,
      [log],
    )
    t.equal(found.length, 5, 'the log and four days')
    for (const { part, valid, indexes } of found) {
      t.strictSame({ valid, indexes }, { valid: true, indexes: count }, part)
    }
  }
})
