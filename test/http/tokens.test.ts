/** Personal access tokens: shown once, accepted where they may be, gone when deleted or expired. */
import t from 'tap'
import { authenticate } from '../../src/http/authenticate.ts'
import { noLimits } from '../support/accounts.ts'
import { accountsServer, failure } from '../support/accounts-server.ts'

const DAY = 86_400

const rig = await accountsServer(t, { limits: noLimits })
const start = rig.time.now
const eitherKind = authenticate(rig.accounts, { pat: true })
const asked = { preHandler: eitherKind, config: { scope: 'read' } } as const
rig.app.get('/who', asked, async ({ user, audit }) => {
  return { user, audited: audit.userId }
})
const wanted = { name: 'x', expiresInDays: 1, scopes: ['read'], allowedIps: [] } as const

/** One for all tests of this file, which sign in as different users; each starts at the same time. */
function server() {
  rig.time.now = start
  return rig
}

t.test('a token is made, shown once, used and listed', async (t) => {
  const { post, get, signedIn, advance, database } = server()
  const { bearer, user } = await signedIn()
  const made = await post('/user/tokens', { name: 'script' }, bearer)
  t.equal(made.status, 200)
  const { token, ...record } = made.body.result
  t.match(token, /^chp_pat_[0-9A-Za-z]{49}$/)
  t.same(record, {
    token_id: record.token_id,
    name: 'script',
    token_hint: token.slice(-4),
    scopes: ['read'],
    allowed_ips: [],
    created_at: '2026-01-01T12:00:00.000Z',
    expires_at: '2026-04-01T12:00:00.000Z',
    last_used_at: null,
  })

  advance(60)
  const { body } = await get('/who', `apikey ${token}`)
  const held = { id: record.token_id, scopes: ['read'] }
  t.same(body, { user: { id: user.id, via: 'pat', token: held }, audited: user.id })
  t.equal((await get('/who', bearer)).body.user.via, 'jwt')
  t.equal((await get('/who', `ApiKey ${token}`)).status, 200)

  const list = await get('/user/tokens', bearer)
  t.same(list.body.result, {
    items: [{ ...record, last_used_at: '2026-01-01T12:01:00.000Z' }],
    next_before: null,
  })
  const dump = JSON.stringify(await database.query('select p::text from personal_token p'))
  t.notOk(dump.includes(token.slice(8, -6)))
})

t.test('tokens are listed newest first, page by page', async (t) => {
  const { post, get, signedIn } = server()
  const { bearer } = await signedIn()
  for (const name of ['a', 'b', 'c']) await post('/user/tokens', { name }, bearer)
  const names = (reply: { body: { result: { items: { name: string }[] } } }) =>
    reply.body.result.items.map(({ name }) => name)
  const first = await get('/user/tokens?limit=2', bearer)
  t.same(names(first), ['c', 'b'])
  const rest = await get(`/user/tokens?before=${first.body.result.next_before}`, bearer)
  t.same(names(rest), ['a'])
})

t.test('a deleted token is refused at once', async (t) => {
  const { post, get, del, signedIn } = server()
  const { bearer } = await signedIn()
  const { token, token_id } = (await post('/user/tokens', { name: 'x' }, bearer)).body.result
  t.equal((await get('/who', `apikey ${token}`)).status, 200)
  t.same((await del(`/user/tokens/${token_id}`, bearer)).body, { ok: true, result: true })
  t.match(await get('/who', `apikey ${token}`), failure(401, 'Unauthorized'))
  t.match(await del(`/user/tokens/${token_id}`, bearer), failure(404, 'Not Found'))
})

t.test('another node refuses a deleted token within five seconds', async (t) => {
  const { accounts, restart, signedIn, advance } = server()
  const { user } = await signedIn()
  const { token, record } = await accounts.tokens.create(user.id, wanted)
  const elsewhere = restart()
  t.equal((await elsewhere.tokens.holderOf(token)).userId, user.id)
  await accounts.tokens.delete(record.id, user.id)
  advance(5)
  await t.rejects(elsewhere.tokens.holderOf(token))
})

t.test('a token expires', async (t) => {
  const { post, get, signedIn, advance } = server()
  const { bearer } = await signedIn()
  const body = { name: 'short', expires_in_days: 1 }
  const { token } = (await post('/user/tokens', body, bearer)).body.result
  advance(DAY - 1)
  t.equal((await get('/who', `apikey ${token}`)).status, 200)
  advance(6)
  t.match(await get('/who', `apikey ${token}`), failure(401, 'Unauthorized'))
})

t.test('a token outlives the session that made it', async (t) => {
  const { post, get, signedIn } = server()
  const { bearer, refreshToken } = await signedIn()
  const { token } = (await post('/user/tokens', { name: 'x' }, bearer)).body.result
  await post('/auth/logout', { refresh_token: refreshToken })
  t.equal((await get('/who', bearer)).status, 401)
  t.equal((await get('/who', `apikey ${token}`)).status, 200)
})

t.test('bad bodies are 400 and make nothing', async (t) => {
  const { post, get, signedIn } = server()
  const { bearer } = await signedIn()
  const bodies = [
    {},
    { name: '' },
    { name: 1 },
    { name: 'x'.repeat(101) },
    { name: 'x', expires_in_days: 0 },
    { name: 'x', expires_in_days: 367 },
    { name: 'x', expires_in_days: '30' },
    { name: 'x', expires_in_days: 1.5 },
    { name: 'x', user_id: 1 },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['read', 'read'] },
    { name: 'x', scopes: ['write'] },
    { name: 'x', allowed_ips: ['example.org'] },
    { name: 'x', allowed_ips: ['192.0.2.0/0'] },
    { name: 'x', allowed_ips: ['192.0.2.0/33'] },
    { name: 'x', allowed_ips: ['fe80::1%eth0'] },
    { name: 'x', allowed_ips: Array(51).fill('192.0.2.1') },
  ]
  for (const body of bodies) {
    const reply = await post('/user/tokens', body, bearer)
    t.match(reply, failure(400, /^Bad Request: field "/), JSON.stringify(body))
    t.ok(reply.body.errors.length > 0)
  }
  t.same((await get('/user/tokens', bearer)).body.result.items, [])
})

t.test("another user's token looks like none", async (t) => {
  const { post, get, del, signedIn } = server()
  const mine = await signedIn()
  const theirs = await signedIn()
  const made = (await post('/user/tokens', { name: 'x' }, theirs.bearer)).body.result
  t.match(await del(`/user/tokens/${made.token_id}`, mine.bearer), failure(404, 'Not Found'))
  t.same((await get('/user/tokens', mine.bearer)).body.result.items, [])
  t.equal((await get('/who', `apikey ${made.token}`)).status, 200)
})

t.test('a hundred tokens are enough', async (t) => {
  const { accounts, post, signedIn } = server()
  const { bearer, user } = await signedIn()
  for (let count = 0; count < 100; count++) await accounts.tokens.create(user.id, wanted)
  t.match(
    await post('/user/tokens', { name: 'x' }, bearer),
    failure(409, 'Conflict: there are 100 tokens already'),
  )
})

t.test('a token is asked for the scope of the route, and its addresses are tidied', async (t) => {
  const { post, get, signedIn } = server()
  const { bearer } = await signedIn()
  const allowed_ips = ['192.0.2.0/24', ' 2001:DB8::/32', '127.0.0.1', '127.0.0.1']
  const body = { name: 'x', scopes: ['link', 'send'], allowed_ips }
  const made = await post('/user/tokens', body, bearer)
  const { token, scopes, allowed_ips: kept } = made.body.result
  t.same(scopes, ['link', 'send'])
  t.same(kept, ['192.0.2.0/24', '2001:db8::/32', '127.0.0.1'])
  const { status, body: refusal } = await get('/who', `apikey ${token}`)
  t.equal(status, 403)
  t.same(refusal, {
    ok: false,
    error_code: 403,
    description: 'Forbidden: the token lacks the scope read',
    code: 'token_scope',
    params: { scope: 'read' },
  })
})

t.test('a token is of use at its addresses alone, in either spelling of them', async (t) => {
  const { app, post, signedIn } = server()
  const { bearer } = await signedIn()
  const allowed_ips = ['192.0.2.0/24', '2001:db8::/32', '::ffff:198.51.100.7']
  const made = await post('/user/tokens', { name: 'x', allowed_ips }, bearer)
  const authorization = `apikey ${made.body.result.token}`
  const from = (remoteAddress: string) =>
    app.inject({ url: '/who', headers: { authorization }, remoteAddress })
  for (const address of ['192.0.2.9', '::ffff:192.0.2.9', '2001:db8:1::1', '198.51.100.7']) {
    t.equal((await from(address)).statusCode, 200, address)
  }
  for (const address of ['192.0.3.9', '::ffff:192.0.3.9', '2001:db9::1', '127.0.0.1']) {
    const answer = await from(address)
    t.match(
      answer.json(),
      failure(403, 'Forbidden: this token may not be used from this address').body,
    )
  }
})
