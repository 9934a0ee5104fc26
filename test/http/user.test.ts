/** The user's own routes: who may call them, and that nobody reaches into another account. */
import t from 'tap'
import { newPhone, noLimits } from '../support/accounts.ts'
import { accountsServer, failure } from '../support/accounts-server.ts'

const rig = await accountsServer(t, { limits: noLimits })
const start = rig.time.now

/** One for all tests of this file, which sign in as different users; each starts at the same time. */
function server() {
  rig.time.now = start
  return rig
}

t.test('the account is shown to its owner', async (t) => {
  const { get, signedIn } = server()
  const phone = newPhone()
  const { bearer, user } = await signedIn(phone)
  const { status, body } = await get('/user', bearer)
  t.equal(status, 200)
  t.same(body, {
    ok: true,
    result: { user_id: user.id, phone, created_at: '2026-01-01T12:00:00.000Z' },
  })
  const lowerCase = bearer.replace('Bearer', 'bearer')
  t.equal((await get('/user', lowerCase)).status, 200)
})

t.test('a script asks with its token whose it is, and nothing else of the account', async (t) => {
  const { call, signedIn, post } = server()
  const { bearer, user } = await signedIn()
  const { token } = (await post('/user/tokens', { name: 'script' }, bearer)).body.result
  const { status, body } = await call({ method: 'GET', url: '/user' }, `apikey ${token}`)
  t.equal(status, 200)
  t.equal(body.result.user_id, user.id)
  const refused = await call({ method: 'GET', url: '/user' }, `apikey ${token}x`)
  t.match(refused, failure(401, /^Unauthorized/))
  t.equal(refused.headers['www-authenticate'], 'Bearer, apikey')
})

t.test('without a valid token everything is 401, and says how to come back', async (t) => {
  const { call, signedIn, post } = server()
  const { bearer, accessToken } = await signedIn()
  const { body } = await post('/user/tokens', { name: 'script' }, bearer)
  const refused = [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer x',
    `Bearer ${accessToken}x`,
    `Basic ${accessToken}`,
    `${accessToken}`,
    `Bearer ${accessToken}, Bearer ${accessToken}`,
    `apikey ${accessToken}`,
    `apikey ${body.result.token}`,
    `Bearer ${body.result.token}`,
  ]
  const routes = [
    ['GET', '/user'],
    ['GET', '/user/sessions'],
    ['DELETE', '/user/sessions/1'],
    ['GET', '/user/tokens'],
    ['POST', '/user/tokens'],
    ['DELETE', '/user/tokens/1'],
  ] as const
  for (const [method, url] of routes) {
    for (const authorization of refused) {
      if (url === '/user' && authorization === `apikey ${body.result.token}`) continue
      const payload = method === 'POST' ? { payload: { name: 'x' } } : {}
      const reply = await call({ method, url, ...payload }, authorization)
      t.match(reply, failure(401, /^Unauthorized/), `${method} ${url} ${authorization}`)
      t.equal(reply.headers['www-authenticate'], url === '/user' ? 'Bearer, apikey' : 'Bearer')
    }
  }
})

t.test('sessions are listed newest first, page by page, and the own one is marked', async (t) => {
  const { get, signedIn, advance } = server()
  const phone = newPhone()
  const sessions = []
  for (let count = 0; count < 3; count++) {
    sessions.push(await signedIn(phone))
    advance(1)
  }
  const { bearer } = sessions[1]!
  const { body } = await get('/user/sessions', bearer)
  t.equal(body.result.next_before, null)
  t.same(
    body.result.items.map(({ current }: { current: boolean }) => current),
    [false, true, false],
  )
  t.match(body.result.items[2], {
    session_id: Number,
    ip: '192.0.2.1',
    user_agent: 'test',
    created_at: '2026-01-01T12:00:00.000Z',
    last_used_at: '2026-01-01T12:00:00.000Z',
    expires_at: '2026-01-31T12:00:00.000Z',
  })

  const first = await get('/user/sessions?limit=2', bearer)
  t.same(first.body.result.items, body.result.items.slice(0, 2))
  const rest = await get(`/user/sessions?limit=2&before=${first.body.result.next_before}`, bearer)
  t.same(rest.body.result, { items: body.result.items.slice(2), next_before: null })
})

t.test('bad pages are 400', async (t) => {
  const { get, signedIn } = server()
  const { bearer } = await signedIn()
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'before=x', 'before=-1', 'before=']) {
    t.match(
      await get(`/user/sessions?${query}`, bearer),
      failure(400, /^Bad Request: field/),
      query,
    )
  }
})

t.test('a session is ended from another one, at once', async (t) => {
  const { get, del, signedIn } = server()
  const phone = newPhone()
  const lost = await signedIn(phone)
  const { bearer } = await signedIn(phone)
  await get('/user', lost.bearer)
  const { body } = await get('/user/sessions', lost.bearer)
  const own = body.result.items.find(({ current }: { current: boolean }) => current)
  const path = `/user/sessions/${own.session_id}`
  t.same((await del(path, bearer)).body, { ok: true, result: true })
  t.match(await get('/user', lost.bearer), failure(401, 'Unauthorized: the session has ended'))
  t.match(await del(path, bearer), failure(404, 'Not Found'))
  t.equal((await get('/user/sessions', bearer)).body.result.items.length, 1)
})

t.test("another user's session looks like none", async (t) => {
  const { get, del, signedIn } = server()
  const mine = await signedIn()
  const theirs = await signedIn()
  const { body } = await get('/user/sessions', theirs.bearer)
  const path = `/user/sessions/${body.result.items[0].session_id}`
  const foreign = await del(path, mine.bearer)
  const missing = await del('/user/sessions/999999', mine.bearer)
  t.match(foreign, failure(404, 'Not Found'))
  t.same(foreign.body, missing.body)
  t.equal((await get('/user', theirs.bearer)).status, 200)
  t.match(await del('/user/sessions/x', mine.bearer), failure(400, /field "id"/))
})

t.test('a user may call 600 times a minute, and others are not held up', async (t) => {
  const { get, signedIn } = server()
  const { bearer } = await signedIn()
  let reply = await get('/user', bearer)
  let calls = 1
  for (; reply.status === 200 && calls < 1_000; calls++) reply = await get('/user', bearer)
  t.ok(calls > 600, `${calls} calls`)
  t.match(reply, {
    ...failure(429, /^Too Many Requests: retry after \d+$/),
    headers: { 'retry-after': /^1$/ },
  })
  t.equal((await get('/user', (await signedIn()).bearer)).status, 200)
})
