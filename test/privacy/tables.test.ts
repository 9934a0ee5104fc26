/** No table is forgotten when a user is erased: every one is listed, as personal or with the reason why it is not. */
import t from 'tap'
import { impersonalTables, personalTables } from '../../src/privacy/tables.ts'
import { testDatabase } from '../support/database.ts'

const { database: db } = await testDatabase(t)

t.test('every table is listed once', async (t) => {
  const rows = await db.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      order by 1`,
  )
  const listed = [...personalTables.map(({ name }) => name), ...Object.keys(impersonalTables)]
  t.same(
    listed.toSorted(),
    rows.map(({ name }) => name),
  )
})

t.test('a table comes before those that its rows name', async (t) => {
  const names = personalTables.map(({ name }) => name)
  const rows = await db.query<{ child: string; parent: string }>(
    `select conrelid::regclass::text as child, confrelid::regclass::text as parent
       from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace
        and conparentid = 0 and conrelid <> confrelid`,
  )
  t.ok(rows.length > 30)
  for (const { child, parent } of rows) {
    t.ok(names.indexOf(child) < names.indexOf(parent), `${child} before ${parent}`)
  }
})

t.test(
  'what an export leaves out and pages by are columns of the table, the latter never null',
  async (t) => {
    for (const { name, key, omit = [] } of personalTables) {
      const columns = await db.query<{ name: string; filled: boolean }>(
        `select attname as name, attnotnull as filled from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
        [name],
      )
      const known = columns.map((column) => column.name)
      t.same(
        omit.filter((column) => !known.includes(column)),
        [],
        name,
      )
      const filled = columns.filter((column) => column.filled).map((column) => column.name)
      t.same(
        key.filter((column) => !filled.includes(column)),
        [],
        name,
      )
      const bytes = await db.query<{ name: string }>(
        `select attname as name from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and atttypid = 'bytea'::regtype`,
        [name],
      )
      const shown = bytes.filter((column) => !omit.includes(column.name))
      t.same(shown, [], `${name}: bytes are hashes or sealed`)
    }
  },
)
