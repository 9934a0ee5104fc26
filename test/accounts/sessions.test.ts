/** Sessions: refreshed with tokens for one use, ended by reuse, idleness, age, logging out or too many others. */
import t from 'tap'
import { Gcra } from '../../src/security/rate-limits.ts'
import { accountsRig, client, failureOf, newPhone, noLimits } from '../support/accounts.ts'

const DAY = 86_400
const invalid = { code: 'unauthorized', description: 'the refresh token is not valid' }

const rig = await accountsRig(t, { limits: noLimits })
const start = rig.time.now

/** One for all tests of this file, which sign in as different users; each starts at the same time. */
function accountsNow() {
  rig.time.now = start
  return rig
}

t.test('a refresh gives new tokens for the same session', async (t) => {
  const { accounts, signIn } = accountsNow()
  const first = await signIn()
  const second = await accounts.refresh(first.refreshToken, client)
  t.not(second.refreshToken, first.refreshToken)
  t.not(second.accessToken, first.accessToken)
  t.same(second.user, first.user)
  const [before, after] = await Promise.all([
    accounts.verifyAccessToken(first.accessToken),
    accounts.verifyAccessToken(second.accessToken),
  ])
  t.same(before, after)
})

t.test('of 50 refreshes at once one wins, and the session lives', async (t) => {
  const { accounts, signIn } = accountsNow()
  const { refreshToken } = await signIn()
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, () => accounts.refresh(refreshToken, client)),
  )
  const winners = results.filter((result) => result.status === 'fulfilled')
  t.equal(winners.length, 1)
  t.ok(await accounts.refresh(winners[0]!.value.refreshToken, client))
})

t.test('refreshes count as calls of their user: each leaves a row', async (t) => {
  const calls = new Gcra<number>({ perSecond: 0.001, burst: 3 })
  const { accounts, signIn } = await accountsRig(t, { limits: noLimits, calls })
  let { refreshToken } = await signIn()
  for (let n = 1; n <= 3; n++) {
    refreshToken = (await accounts.refresh(refreshToken, client)).refreshToken
  }
  t.match(await failureOf(accounts.refresh(refreshToken, client)), {
    code: 'rate_limited',
    retryAfterSeconds: Number,
  })
  t.ok(await accounts.refresh((await signIn()).refreshToken, client), 'another user may')
})

t.test('a token used again later ends the whole session', async (t) => {
  const { accounts, signIn, advance } = accountsNow()
  const stolen = await signIn()
  const newer = await accounts.refresh(stolen.refreshToken, client)
  advance(11)
  t.match(await failureOf(accounts.refresh(stolen.refreshToken, client)), invalid)
  t.match(await failureOf(accounts.refresh(newer.refreshToken, client)), invalid)
  t.match(await failureOf(accounts.verifyAccessToken(newer.accessToken)), {
    code: 'unauthorized',
    description: 'the session has ended',
  })
})

t.test(
  'only a token that was just used, of a session that lives, is worth another look',
  async (t) => {
    const { accounts, signIn, advance } = accountsNow()
    const used = await signIn()
    const newer = await accounts.refresh(used.refreshToken, client)
    advance(9)
    const reason = 'refresh_token_used'
    t.match(await failureOf(accounts.refresh(used.refreshToken, client)), { reason })
    await accounts.logout(newer.refreshToken)
    t.match(await failureOf(accounts.refresh(used.refreshToken, client)), invalid)
    t.match(await failureOf(accounts.refresh(newer.refreshToken, client)), invalid)
  },
)

t.test('other sessions of the user are not touched by that', async (t) => {
  const { accounts, signIn, advance } = accountsNow()
  const phone = newPhone()
  const other = await signIn(phone)
  const stolen = await signIn(phone)
  await accounts.refresh(stolen.refreshToken, client)
  advance(11)
  await failureOf(accounts.refresh(stolen.refreshToken, client))
  t.ok(await accounts.refresh(other.refreshToken, client))
})

t.test('seven idle days end a session', async (t) => {
  const { accounts, signIn, advance } = accountsNow()
  const busy = await signIn()
  const idle = await signIn()
  advance(7 * DAY - 1)
  const { refreshToken } = await accounts.refresh(busy.refreshToken, client)
  advance(1)
  t.match(await failureOf(accounts.refresh(idle.refreshToken, client)), invalid)
  t.ok(await accounts.refresh(refreshToken, client))
})

t.test('thirty days end every session', async (t) => {
  const { accounts, signIn, advance } = accountsNow()
  let { refreshToken } = await signIn()
  for (let day = 0; day < 28; day += 4) {
    advance(4 * DAY)
    refreshToken = (await accounts.refresh(refreshToken, client)).refreshToken
  }
  advance(2 * DAY - 1)
  refreshToken = (await accounts.refresh(refreshToken, client)).refreshToken
  advance(1)
  t.match(await failureOf(accounts.refresh(refreshToken, client)), invalid)
})

t.test('logging out ends the session at once, whichever of its tokens is given', async (t) => {
  const { accounts, signIn } = accountsNow()
  const first = await signIn()
  const second = await accounts.refresh(first.refreshToken, client)
  await accounts.verifyAccessToken(second.accessToken)
  await accounts.logout(first.refreshToken)
  t.match(await failureOf(accounts.verifyAccessToken(second.accessToken)), { code: 'unauthorized' })
  t.match(await failureOf(accounts.refresh(second.refreshToken, client)), invalid)
})

t.test('another node sees the end of a session within five seconds', async (t) => {
  const { accounts, signIn, restart, advance } = accountsNow()
  const { accessToken, refreshToken } = await signIn()
  const elsewhere = restart()
  await elsewhere.verifyAccessToken(accessToken)
  await accounts.logout(refreshToken)
  advance(5)
  t.match(await failureOf(elsewhere.verifyAccessToken(accessToken)), { code: 'unauthorized' })
})

t.test('the oldest of twenty-one sessions ends', async (t) => {
  const { accounts, signIn, advance } = accountsNow()
  const phone = newPhone()
  const all = []
  for (let count = 0; count < 21; count++) {
    all.push(await signIn(phone))
    advance(1)
  }
  t.match(await failureOf(accounts.verifyAccessToken(all[0]!.accessToken)), {
    code: 'unauthorized',
  })
  t.ok(await accounts.verifyAccessToken(all[1]!.accessToken))
  t.equal((await accounts.sessions(all[0]!.user.id, { limit: 100 })).items.length, 20)
})

t.test('refresh tokens are stored as hashes', async (t) => {
  const { signIn, database } = accountsNow()
  const { refreshToken } = await signIn()
  const dump = JSON.stringify(
    await database.query('select r::text, s::text from refresh_token r, user_session s'),
  )
  t.notOk(dump.includes(refreshToken.slice(8, -6)))
})

t.test('what is no refresh token is refused', async (t) => {
  const { accounts, signIn } = accountsNow()
  const { refreshToken } = await signIn()
  for (const token of ['', 'x', refreshToken.slice(0, -1), `${refreshToken.slice(0, -1)}!`]) {
    t.match(await failureOf(accounts.refresh(token, client)), invalid)
    await accounts.logout(token)
  }
  t.ok(await accounts.refresh(refreshToken, client))
})

t.test('the name that a client gives itself has nothing that a terminal obeys', async (t) => {
  const { accounts, signIn } = accountsNow()
  const { refreshToken, user } = await signIn()
  const userAgent = 'a\u009b31m\u2028b'
  await accounts.refresh(refreshToken, { ...client, userAgent })
  const { items } = await accounts.sessions(user.id, { limit: 1 })
  t.equal(items[0]?.userAgent, 'a 31m b')
})
