/** No table is forgotten when a user is erased: every one is listed, as personal or with the reason why it is not. */
import t from 'tap'
import { wipeDeletedAccounts } from '../../src/privacy/erase.ts'
import { personalTables } from '../../src/privacy/tables.ts'
import { testDatabase } from '../support/database.ts'

/** Tables of the service itself, with why they hold nothing of a user. */
const impersonalTables: Readonly<Record<string, string>> = {
  migration: 'the schema',
  schema_minimum: 'the oldest version that may use the schema',
  signing_key: 'keys of the service',
  data_key:
    'keys; those of a user are destroyed with the user, and what was sealed with them is unreadable wherever it is left',
  media_object: 'names of files that are about to be removed',
  write_probe: 'when the database last took a write',
  write_mark: 'how many rows of a process are stored',
  node: 'the processes that serve the database',
  node_trouble: 'what is wrong with them',
  quota: 'keyed hashes and networks, for a day',
}

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

t.test(
  'what is left of a deleted account is found, in whichever table, and no other account is touched',
  async (t) => {
    const account = async (phone: string, isDeleted: boolean) => {
      const [row] = await db.query<{ id: number }>(
        `with owner as (
           insert into app_user (phone_index, phone_sealed) values ($1, '') returning id
         )
         insert into credential (user_id, platform, native_id, account, deactivated_at)
         select id, 'telegram', $1, '{}', case when $2 then now() end from owner returning id`,
        [phone, isDeleted],
      )
      return row?.id ?? 0
    }
    const [gone, alive] = [await account('1', true), await account('2', false)]
    const left = {
      update_block: 'block, kind, api_key_id, updates) select c, 1, 0, 0, 1',
      telegram_message: 'message_id, chat_id) select c, 1, 2',
      telegram_reference: 'peer_id, chat_id, message_id) select c, 1, 2, 3',
      media_path_count: 'issued) select c, 1',
      chat_identity: "native, chat_id) select c, 'ada', c",
    }
    for (const [table, rest] of Object.entries(left)) {
      const both = [[gone, alive]]
      await db.query(
        `insert into ${table} (credential_id, ${rest} from unnest($1::bigint[]) c`,
        both,
      )
      await wipeDeletedAccounts(db)
      t.strictSame(
        await db.query(`select credential_id as id from ${table}`),
        [{ id: alive }],
        table,
      )
    }
  },
)
