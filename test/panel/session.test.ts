/** The cookie of the panel: who may use it, and what it is good for. */
import t from 'tap'
import { raw } from '../service/scene.ts'
import { ask } from '../support/client.ts'
import { startService } from '../support/service.ts'

const service = await startService(t, {
  env: { BASE_URL: 'https://api.chapar.test', PANEL_URL: 'https://panel.chapar.test' },
})
const own = { origin: service.url, 'x-csrf': '1' }
const overTls = { ...own, origin: 'https://panel.chapar.test' }

const post = (path: string, body: object, headers: Record<string, string> = own) =>
  ask(service.url, 'POST', `/panel/session/${path}`, body, headers)

async function signedIn(phone: string, headers = own) {
  await ask(service.url, 'POST', '/auth/sendOtp', { phone })
  const answer = await post('login', { phone, otp: await service.code(phone) }, headers)
  return { answer, cookie: cookieIn(answer.headers) }
}

const cookieIn = (headers: Headers) => headers.getSetCookie()[0]?.split(';')[0] ?? ''

t.test('signing in gives an access token, and the refresh token only as a cookie', async (t) => {
  const { answer } = await signedIn('+14155559201', overTls)
  t.match(answer, {
    status: 200,
    body: {
      ok: true,
      result: {
        access_token: String,
        token_type: 'Bearer',
        expires_in: 600,
        user: { phone: /^\+14155559201$/ },
        base_url: service.url,
      },
    },
  })
  t.notOk('refresh_token' in answer.body.result)
  t.match(
    answer.headers.get('set-cookie'),
    /^__Host-chapar=chp_ref_\w+; Secure; HttpOnly; SameSite=Strict; Path=\/; Max-Age=604800$/,
  )
  t.notMatch(JSON.stringify(answer.body), /chp_ref_/)
})

t.test('a page of this machine has a cookie that WebKit keeps without TLS', async (t) => {
  let { cookie } = await signedIn('+14155559206')
  const renew = (origin: string) =>
    raw(service.url, '/panel/session/refresh', {
      method: 'POST',
      headers: {
        ...own,
        origin,
        host: new URL(origin).host,
        cookie,
        'content-type': 'application/json',
      },
      body: '{}',
    })
  for (const host of ['localhost:8080', '127.0.0.2', '[::1]:8080']) {
    const { headers } = await renew(`http://${host}`)
    const [kept = ''] = headers['set-cookie'] ?? []
    t.match(kept, /^chapar=chp_ref_\w+; HttpOnly; SameSite=Strict; Path=\/; Max-Age=604800$/)
    cookie = kept.split(';')[0] ?? ''
  }
  for (const elsewhere of [
    'https://panel.chapar.test',
    'http://192.0.2.1',
    'http://localhost.chapar.test',
  ]) {
    t.match(await renew(elsewhere), { body: { ok: true, result: null } }, elsewhere)
  }
})

t.test('the cookie is renewed at each use, and an old one is good for nothing', async (t) => {
  const { cookie } = await signedIn('+14155559202')
  const renewed = await post('refresh', {}, { ...own, cookie: `other=1; ${cookie}` })
  t.match(renewed.body, { ok: true, result: { access_token: String } })
  t.not(cookieIn(renewed.headers), cookie)
  t.match(await post('refresh', {}, { ...own, cookie }), { status: 401 })
})

t.test('the bot API is where it is for who uses the panel by its public address', async (t) => {
  const { cookie } = await signedIn('+14155559205', overTls)
  const there = { ...overTls, host: 'panel.chapar.test', cookie }
  const { text } = await raw(service.url, '/panel/session/refresh', {
    method: 'POST',
    headers: { ...there, 'content-type': 'application/json' },
    body: '{}',
  })
  t.match(JSON.parse(text), { ok: true, result: { base_url: 'https://api.chapar.test' } })
})

t.test('signing out ends the session and takes the cookie away', async (t) => {
  const { answer, cookie } = await signedIn('+14155559203')
  const out = await post('logout', {}, { ...own, cookie })
  t.equal(out.headers.get('clear-site-data'), '"cache"')
  t.match(out.body, { ok: true, result: true })
  t.match(out.headers.get('set-cookie'), /^chapar=; .*Max-Age=0$/)
  t.match(await post('refresh', {}, { ...own, cookie }), { status: 401 })
  const authorization = `Bearer ${answer.body.result.access_token}`
  t.match(await ask(service.url, 'GET', '/user', undefined, { authorization }), { status: 401 })
  t.match(await post('logout', {}), { status: 200 }, 'signing out twice is no failure')
})

t.test('other sites cannot use it', async (t) => {
  const { cookie } = await signedIn('+14155559204')
  const foreign: Record<string, string>[] = [
    { cookie, origin: service.url },
    { cookie, 'x-csrf': '1' },
    { cookie, 'x-csrf': '1', origin: 'https://evil.example' },
    { cookie, 'x-csrf': '1', origin: 'null' },
    { cookie, 'x-csrf': '1', origin: 'http://panel.chapar.test', host: 'panel.chapar.test' },
    { cookie, ...own, 'sec-fetch-site': 'cross-site' },
    { cookie, ...own, 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of foreign) {
    t.match(
      await post('refresh', {}, headers),
      {
        status: 403,
        body: {
          ok: false,
          error_code: 403,
          description:
            /^Forbidden: (the header X-CSRF is missing|the request comes from another site)$/,
        },
      },
      JSON.stringify({ ...headers, cookie: '' }),
    )
  }
  t.match(await post('refresh', {}, { ...own, cookie }), { status: 200 }, 'it still works')
})

t.test('bad input is refused in the envelope', async (t) => {
  t.match(await post('refresh', {}), { status: 200, body: { ok: true, result: null } })
  t.match(await post('refresh', {}, { ...own, cookie: 'chapar=x' }), { status: 401 })
  t.match(await post('refresh', { token: 1 }), { status: 400, body: { ok: false } })
  t.match(await post('login', { phone: '+14155559205' }), {
    status: 400,
    body: { errors: [{ field: 'otp' }] },
  })
  t.match(await post('login', { phone: '+14155559205', otp: '000000' }), {
    status: 401,
    body: { ok: false, error_code: 401 },
  })
})
