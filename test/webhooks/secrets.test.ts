/** Signing secrets: loaded for many keys at once, each for itself. */
import t from 'tap'
import { SigningSecrets } from '../../src/webhooks/secrets.ts'
import { testDatabase } from '../support/database.ts'
import { testVault } from '../support/vault.ts'

const { database } = await testDatabase(t)
const vault = await testVault(t, database)
await database.query(
  `with owner as (
     insert into app_user (phone_index, phone_sealed, created_at) values ('', '', now()) returning id
   ), account as (
     insert into credential (user_id, platform, native_id, account)
     select id, 'sandbox', '1', '{}' from owner returning id, user_id
   )
   insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
   select key, user_id, id, 'k', '{}', '', '', 0 from account, unnest(array[100001, 100002]) key`,
)

t.test('a secret that cannot be read keeps no other key from its own', async (t) => {
  const before = new SigningSecrets(database, vault)
  const { secret } = await before.rotate(100_002, 1, Date.now())
  await database.query(`insert into webhook_secret (api_key_id, sealed) values (100001, 'broken')`)
  const secrets = new SigningSecrets(database, vault)
  const unreadable = secrets.find(100_001)
  const readable = secrets.find(100_002)
  await t.rejects(unreadable, /cannot be read/)
  t.equal((await readable)?.secret, secret)
  t.equal(await secrets.find(100_003), undefined, 'and a key without one has none')
})

t.test(
  'while the database is away all who ask are told so, and later ones get theirs',
  async (t) => {
    let isAway = true
    const shaky: typeof database = {
      ...database,
      query: (...asked) =>
        isAway ? Promise.reject(new Error('away')) : database.query<never>(...asked),
    }
    const secrets = new SigningSecrets(shaky, vault)
    const asked = [secrets.find(100_002), secrets.find(100_003)]
    for (const one of asked) await t.rejects(one, { message: 'away' })
    isAway = false
    t.ok(await secrets.find(100_002))
  },
)

t.test('what was found once, or found missing, is not asked for again', async (t) => {
  let statements = 0
  const counting: typeof database = {
    ...database,
    query(...asked) {
      statements++
      return database.query<never>(...asked)
    },
  }
  const secrets = new SigningSecrets(counting, vault)
  for (const key of [100_002, 100_003]) {
    const found = await secrets.find(key)
    const before = statements
    t.same(await secrets.find(key), found)
    t.same(secrets.known(key)?.found, found)
    t.equal(statements, before)
  }
})
