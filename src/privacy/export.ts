/** The export of a user: all stored rows as JSON in pieces. Secrets are left out; files are listed, not included. */
import type { AccountIdentity } from '../../actors/ports/platform.ts'
import type { IdentityRow } from '../credentials/identity.ts'
import type { Database } from '../database/database.ts'
import { type PersonalTable, personalTables } from './tables.ts'

interface ExportSource {
  readonly db: Database
  phone(userId: number): Promise<string>
  identity(row: IdentityRow): Promise<AccountIdentity | undefined>
  /** Writes what buffers still hold. */
  flush(): Promise<void>
}

const AT_ONCE = 500

const typesOf = `
  select attname as name, format_type(atttypid, atttypmod) as type
  from pg_attribute where attrelid = $1::regclass and attnum > 0`

/** The pieces of one object: about the user, then a list for each table that has something of theirs. */
export async function* exportUser(source: ExportSource, userId: number): AsyncGenerator<string> {
  const { db } = source
  await source.flush()
  const about = { exported_at: new Date().toISOString(), phone: await source.phone(userId) }
  yield JSON.stringify(about).slice(0, -1)
  const credentials = await db.query<IdentityRow>(
    'select id, account, account_sealed from credential where user_id = $1 order by id',
    [userId],
  )
  yield ',"accounts":['
  for (const [n, row] of credentials.entries()) {
    const identity = await source.identity(row)
    yield `${n === 0 ? '' : ','}${JSON.stringify({ credential_id: row.id, ...identity })}`
  }
  yield ']'
  for (const table of personalTables) {
    const ids = table.of === 'user' ? [userId] : credentials.map(({ id }) => id)
    let isFirst = true
    for (const id of ids) {
      for await (const rows of pagesOf(db, table, id)) {
        yield `${isFirst ? `,${JSON.stringify(table.name)}:[` : ','}${rows.join(',')}`
        isFirst = false
      }
    }
    if (!isFirst) yield ']'
  }
  yield '}'
}

async function* pagesOf(db: Database, table: PersonalTable, id: number) {
  const { name, key, where, omit = [] } = table
  const types = new Map(
    (await db.query<{ name: string; type: string }>(typesOf, [name])).map((row) => [
      row.name,
      row.type,
    ]),
  )
  const columns = key.join(', ')
  const bounds = key.map((column, n) => `$${n + 3}::text::${types.get(column)}`).join(', ')
  const page = (from: string) =>
    `select (to_jsonb(t) - $2::text[])::text as shown, array[${key.map((column) => `t.${column}::text`).join(', ')}] as key
       from ${name} t where (${where}) ${from} order by ${columns} limit ${AT_ONCE}`
  let last: readonly string[] | undefined
  for (;;) {
    const rows: { shown: string; key: string[] }[] = await db.query(
      page(last ? `and (${columns}) > (${bounds})` : ''),
      [id, omit, ...(last ?? [])],
    )
    if (rows.length > 0) yield rows.map(({ shown }) => shown)
    if (rows.length < AT_ONCE) return
    last = rows.at(-1)?.key
  }
}
