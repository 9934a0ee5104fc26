/** As many keys and tokens as there may be, and not one more, however many are made at once. */
import t from 'tap'
import { createKey } from '../../src/keys/changes.ts'
import { accountsRig, failureOf } from '../support/accounts.ts'

const { accounts, database, signIn } = await accountsRig(t)

async function userWithAccounts(count: number) {
  const { user } = await signIn()
  const rows = await database.query<{ id: number }>(
    `with linked as (
       insert into credential (user_id, platform, native_id)
       select $1, 'sandbox', 'n' || n from generate_series(1, $2) n returning id
     ), logged as (
       insert into credential_log (credential_id, next_update_id) select id, 2000001 from linked
     ) select id from linked`,
    [user.id, count],
  )
  return { userId: user.id, credentials: rows.map(({ id }) => id) }
}

const wanted = { name: 'x', expiresInDays: 1, scopes: ['read'], allowedIps: [] } as const

const make = (userId: number, credentialId: number, limits: [account: number, user: number]) =>
  failureOf(
    createKey(
      database,
      { userId, credentialId, name: 'x', scopes: ['bot:send'], expiresAt: undefined },
      { perCredential: limits[0], perUser: limits[1] },
    ),
  )

t.test('of one account', async (t) => {
  const { userId, credentials } = await userWithAccounts(1)
  const failures = await Promise.all(
    Array.from({ length: 50 }, () => make(userId, credentials[0]!, [7, 1_000])),
  )
  t.equal(failures.filter((failure) => failure === undefined).length, 7)
  const description = 'there are 7 API keys of this account already; revoke one first'
  t.match(failures.find(Boolean), { code: 'bad_request', description })
})

t.test('of one user, over accounts', async (t) => {
  const { userId, credentials } = await userWithAccounts(5)
  const failures = await Promise.all(
    Array.from({ length: 50 }, (_, n) => make(userId, credentials[n % 5]!, [1_000, 7])),
  )
  t.equal(failures.filter((failure) => failure === undefined).length, 7)
})

t.test('personal tokens', async (t) => {
  const { user } = await signIn()
  const create = () => failureOf(accounts.tokens.create(user.id, wanted))
  for (let n = 0; n < 90; n++) await create()
  const failures = await Promise.all(Array.from({ length: 50 }, create))
  t.equal(failures.filter((failure) => failure === undefined).length, 10)
})

t.test('nothing is made for a user who is being erased', async (t) => {
  const { userId, credentials } = await userWithAccounts(1)
  await database.query('update app_user set erasing_at = now() where id = $1', [userId])
  const refusal = { code: 'unavailable', retryAfterSeconds: 60 }
  t.match(await make(userId, credentials[0]!, [7, 7]), refusal)
  t.match(await failureOf(accounts.tokens.create(userId, wanted)), refusal)
})
