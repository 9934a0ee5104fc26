/** The sign-in routes: from the code to tokens and out again, and what they refuse. */
import t from 'tap'
import { newPhone, wrong } from '../support/accounts.ts'
import { accountsServer, failure } from '../support/accounts-server.ts'

const rig = await accountsServer(t)
const start = rig.time.now

/** One for all tests of this file, which sign in as different users; each starts at the same time. */
function server() {
  rig.time.now = start
  return rig
}

t.test('a user signs in, stays signed in, and signs out', async (t) => {
  const { post, get, codeFor } = server()
  const phone = newPhone()

  const sent = await post('/auth/sendOtp', { phone })
  t.equal(sent.status, 200)
  const { challenge_id } = sent.body.result
  t.match(challenge_id, /^[0-9a-f]{32}$/)
  t.same(sent.body, {
    ok: true,
    result: { challenge_id, phone, expires_in: 300, resend_in: 60, channel: 'console' },
  })

  const login = await post('/auth/login', { phone, otp: codeFor(phone) })
  t.equal(login.status, 200)
  t.match(login.body, {
    ok: true,
    result: {
      access_token: /^eyJ/,
      token_type: 'Bearer',
      expires_in: 600,
      refresh_token: /^chp_ref_/,
      user: { user_id: Number, phone, created_at: '2026-01-01T12:00:00.000Z' },
    },
  })

  const { refresh_token } = login.body.result
  const refreshed = await post('/auth/refresh', { refresh_token })
  t.equal(refreshed.status, 200)
  t.same(Object.keys(refreshed.body.result), Object.keys(login.body.result))
  const bearer = `Bearer ${refreshed.body.result.access_token}`
  t.equal((await get('/user', bearer)).status, 200)

  const out = await post('/auth/logout', { refresh_token: refreshed.body.result.refresh_token })
  t.same(out.body, { ok: true, result: true })
  t.match(await get('/user', bearer), failure(401, 'Unauthorized: the session has ended'))
  const late = await post('/auth/refresh', {
    refresh_token: refreshed.body.result.refresh_token,
  })
  t.match(late, failure(401, 'Unauthorized: the refresh token is not valid'))
})

t.test('no answer contains the code', async (t) => {
  const { app, codeFor } = server()
  const phone = newPhone()
  const reply = await app.inject({ method: 'POST', url: '/auth/sendOtp', payload: { phone } })
  t.notOk(reply.payload.replace(phone, '').includes(codeFor(phone)))
})

t.test('a wrong code is 401, too many are 429 with the time to wait', async (t) => {
  const { post, codeFor } = server()
  const phone = newPhone()
  await post('/auth/sendOtp', { phone })
  const otp = wrong(codeFor(phone))
  for (let tried = 0; tried < 5; tried++) {
    t.match(
      await post('/auth/login', { phone, otp }),
      failure(401, 'Unauthorized: the code is wrong'),
    )
  }
  const dead = await post('/auth/login', { phone, otp: codeFor(phone) })
  t.match(dead, {
    status: 429,
    headers: { 'retry-after': /^60$/ },
    body: { error_code: 429, parameters: { retry_after: 60 } },
  })
  const again = await post('/auth/sendOtp', { phone })
  t.match(again, {
    ...failure(429, 'Too Many Requests: retry after 60'),
    headers: { 'retry-after': /^60$/ },
  })
})

t.test('an expired code is 401', async (t) => {
  const { post, codeFor, advance } = server()
  const phone = newPhone()
  await post('/auth/sendOtp', { phone })
  advance(300)
  t.match(
    await post('/auth/login', { phone, otp: codeFor(phone) }),
    failure(401, 'Unauthorized: the code has expired'),
  )
})

t.test('bad bodies are 400 and name the field', async (t) => {
  const { post, call } = server()
  const phone = newPhone()
  const cases: readonly (readonly [path: string, body: object, description: string | RegExp])[] = [
    ['/auth/sendOtp', {}, 'Bad Request: field "phone" is required'],
    ['/auth/sendOtp', { phone: 989121234567 }, 'Bad Request: field "phone" must be a string'],
    ['/auth/sendOtp', { phone: null }, /field "phone"/],
    ['/auth/sendOtp', { phone: '+' }, /^Bad Request: field "phone" must be a phone number/],
    ['/auth/sendOtp', { phone: '9'.repeat(1_000) }, /field "phone"/],
    ['/auth/sendOtp', { phone, channel: 'sms' }, 'Bad Request: field "channel" is unknown'],
    ['/auth/sendOtp', [], /must be an object|parse/],
    ['/auth/login', { phone }, 'Bad Request: field "otp" is required'],
    ['/auth/login', { phone, otp: 123456 }, 'Bad Request: field "otp" must be a string'],
    ['/auth/login', { phone, otp: '12345' }, /field "otp"/],
    ['/auth/login', { phone, otp: "' or 1=1" }, /field "otp"/],
    ['/auth/login', { phone, otp: '123456', admin: true }, /field "admin" is unknown/],
    ['/auth/refresh', {}, 'Bad Request: field "refresh_token" is required'],
    ['/auth/refresh', { refresh_token: 1 }, /field "refresh_token" must be a string/],
    ['/auth/logout', { token: 'x' }, /field "refresh_token" is required/],
  ]
  for (const [path, body, description] of cases) {
    t.match(await post(path, body), failure(400, description), `${path} ${JSON.stringify(body)}`)
  }
  const malformed = await call({
    method: 'POST',
    url: '/auth/login',
    headers: { 'content-type': 'application/json' },
    payload: '{"phone":',
  })
  t.match(malformed, { status: 400, body: { ok: false, error_code: 400 } })
})

t.test('a long body and a wrong content type are refused', async (t) => {
  const { call } = server()
  const large = {
    method: 'POST',
    url: '/auth/sendOtp',
    payload: { phone: 'x'.repeat(70_000) },
  } as const
  t.match(await call(large), failure(413, 'Request Entity Too Large'))
  const form = {
    method: 'POST',
    url: '/auth/sendOtp',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'phone=%2B989121234567',
  } as const
  t.match(await call(form), failure(415, 'Unsupported Media Type'))
})

t.test('known and unknown phones cannot be told apart', async (t) => {
  const { post, signIn, advance } = server()
  const known = newPhone()
  await signIn(known)
  advance(3_600)
  const unknown = newPhone()
  const replies = []
  for (const phone of [known, unknown]) {
    const sent = await post('/auth/sendOtp', { phone })
    const login = await post('/auth/login', { phone, otp: '00000000' })
    replies.push({
      status: sent.status,
      sent: { ...sent.body.result, phone: '', challenge_id: sent.body.result.challenge_id.length },
      names: Object.keys(sent.headers),
      login: login.body,
    })
  }
  t.equal(replies[0]!.status, 200)
  t.same(replies[0]!.sent, { ...replies[1]!.sent, resend_in: replies[0]!.sent.resend_in })
  t.same({ ...replies[0], sent: 0 }, { ...replies[1], sent: 0 })
})

t.test('the public keys are served as a key set, without the private part', async (t) => {
  const { get } = server()
  const { status, headers, body } = await get('/.well-known/jwks.json')
  t.equal(status, 200)
  t.match(headers['cache-control'], /max-age/)
  t.equal(body.keys.length, 1)
  t.same(Object.keys(body.keys[0]).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x'])
  t.match(body.keys[0], { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' })
})

t.test(
  'the answer to a request for a code names the challenge, which a sign-in may name too',
  async (t) => {
    const { post, codeFor } = server()
    const phone = newPhone()
    const { body } = await post('/auth/sendOtp', { phone })
    const { challenge_id } = body.result
    const otp = codeFor(phone)
    const login = (more: object) => post('/auth/login', { phone, otp, ...more })
    t.match(
      await login({ challenge_id: 'f'.repeat(32) }),
      failure(401, 'Unauthorized: the code is wrong'),
    )
    const odd = await login({ challenge_id: 'x' })
    t.equal(odd.status, 400)
    t.match(
      odd.body.description,
      /^Bad Request: field "challenge_id" does not have the expected form$/,
    )
    t.equal((await login({ challenge_id })).status, 200)
  },
)
