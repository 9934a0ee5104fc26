/** A search of keys reads one index and none of the keys it does not find; every name fits into that index. */
import t from 'tap'
import type { Database, Queryable } from '../../src/database/database.ts'
import { listKeys } from '../../src/keys/records.ts'
import { testDatabase } from '../support/database.ts'

const { database: db } = await testDatabase(t)
const [user] = await db.query<{ id: number }>(
  `insert into app_user (phone_index, phone_sealed) values ('u', '') returning id`,
)
const [account] = await db.query<{ id: number }>(
  `with linked as (
     insert into credential (user_id, platform, native_id, account)
     values ($1, 'sandbox', 'n', '{"native":"n","firstName":"Ada"}') returning id
   ), logged as (
     insert into credential_log (credential_id, next_update_id) select id, 2 from linked
   ) select id from linked`,
  [user!.id],
)
const add = (names: readonly string[]) =>
  db.query(
    `insert into api_key (user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
     select $1, $2, name, '{bot:send}', convert_to(name, 'UTF8'), 'k' || n || '…', 0
       from unnest($3::text[]) with ordinality as k (name, n)`,
    [user!.id, account!.id, names],
  )
const anyKey = { credentialId: undefined, trouble: undefined, isRevoked: undefined }
const search = async (words: string, queryable: Queryable = db) => {
  const source = {
    db: { ...db, ...queryable } as Database,
    identity: async () => ({ native: 'n', firstName: 'Ada' }),
    names: { of: async () => ({ find: async () => [] }) as never },
  }
  const query = { ...anyKey, search: words, limit: 50, before: undefined }
  return (await listKeys(source, user!.id, query)).map(({ name }) => name)
}

t.test('keys that are not found are not read', async (t) => {
  await add(Array.from({ length: 3_000 }, (_, n) => `bot ${n} of a shop with a long name`))
  await db.query('vacuum analyze api_key')
  const asked: string[] = []
  const plans: string[] = []
  const found = await search('bot 2999', {
    async query<Row extends object>(text: string, values: unknown[] = []) {
      if (text.includes('strpos')) {
        asked.push(text)
        const rows = await db.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      }
      return db.query<Row>(text, values)
    },
  })
  t.same(found, ['bot 2999 of a shop with a long name'])
  t.equal(plans.length, 1)
  t.match(plans[0], /Index Only Scan (Backward )?using api_key_searched/)

  const [, expression = ''] = /strpos\((.*?), \$6\)/s.exec(asked[0] ?? '') ?? []
  await db.query(`create index asked_for on api_key (${expression.replaceAll('k.', '')})`)
  const [stored] = await db.query<{ same: boolean }>(
    `select pg_get_indexdef('api_key_searched'::regclass, 3, true)
       = pg_get_indexdef('asked_for'::regclass, 1, true) as same`,
  )
  t.equal(stored?.same, true, 'the search asks for the expression of the index')
})

t.test('a name whose folded form is many times longer is stored and found', async (t) => {
  const names = ['ﷺ'.repeat(100), '\u{1F468}'.repeat(100), 'ỗ'.repeat(100), 'Ⅷ'.repeat(100)]
  await add(names)
  t.same(await search('viii'), [names[3]])
  t.same(await search('ooo'), [names[2]])
  t.same(await search('صلى'), [names[0]])
})
