/** Benchmarks empty a database of which the service itself removes nothing. */
import pg from 'pg'
import t from 'tap'
import { empty } from '../../bench/support/stage.ts'
import { testDatabase } from '../support/database.ts'

t.test('a benchmark begins without users, nodes and rows of the audit log', async (t) => {
  const { url, database } = await testDatabase(t)
  const [user] = await database.query<{ id: string }>(
    "insert into app_user (phone_index, phone_sealed) values ('\\x01', '\\x02') returning id",
  )
  await database.query(
    `insert into audit_log (user_id, author_id, action, via) values ($1, $1, 'x', 'session')`,
    [user?.id],
  )
  const sql = new pg.Pool({ connectionString: url, max: 1 })
  // It says goodbye to the server later than it says that it has ended; the database is dropped before.
  sql.on('error', () => undefined)
  await t.rejects(sql.query('truncate app_user cascade'), { code: /^42501$/ })
  await empty(sql)
  await sql.end()
  const [left] = await database.query(
    'select (select count(*) from app_user)::int as users, (select count(*) from audit_log)::int as rows',
  )
  t.same(left, { users: 0, rows: 0 })
})
