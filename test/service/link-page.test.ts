/** The page on which an account's owner enters the code: made by a user, opened by whoever has its token. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { ask } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { refused } from './scene.ts'

const PANEL_URL = 'https://panel.chapar.test'
const USER = '+14155550937'
const service = await startService(t, { env: { PANEL_URL } })
const client = await service.client(USER)

async function page(details: object = {}) {
  const person = await client.person('Olga', undefined, details)
  const path = '/platforms/sandbox/link'
  const { session_id } = await client.result('POST', `${path}/start`, { phone: person.phone })
  const made = await client.result('POST', `${path}/${session_id}/page`)
  return { person, session_id, made, session: `${path}/${session_id}`, at: pathOf(made.token) }
}

const pathOf = (token: string) => `/link-pages/${token}`
const open = (method: string, path: string, body?: unknown) => ask(service.url, method, path, body)

t.test('whoever has the link sees the flow and enters the code and the password', async (t) => {
  const details = { password: 'open sesame', password_hint: 'a door' }
  const { person, session_id, made, at, session } = await page(details)
  t.match(made.token, /^chp_lnk_[0-9A-Za-z]{49}$/)
  t.equal(made.url, `${PANEL_URL}/link/${made.token}`)
  t.ok(Date.parse(made.expires_at) > Date.now())

  const seen = await open('GET', at)
  t.match(seen.body.result, {
    platform: 'sandbox',
    state: 'code_sent',
    attempts_left: 5,
    asked_by: '+*******0937',
    phone: `+${'*'.repeat(person.phone.length - 5)}${person.phone.slice(-4)}`,
    step: { number: 2, of: 2, password_may_follow: true },
  })
  const { expires_in, code_expires_in } = seen.body.result
  t.ok(code_expires_in > 200 && code_expires_in < expires_in, 'a code ends before its page')
  t.ok(Math.abs(expires_in - made.expires_in) < 60, 'the page says what its maker was told')
  const flow = await client.result('GET', session)
  t.ok(Math.abs(flow.code_expires_in - code_expires_in) < 60, 'and the code ends for both at once')
  for (const phone of [USER, person.phone]) t.notMatch(JSON.stringify(seen.body), phone)
  for (const hidden of ['session_id', 'credential']) t.notOk(hidden in seen.body.result, hidden)
  t.match(await open('POST', `${at}/answer`, { otp: '0' }), { status: 400 })
  t.match((await open('GET', at)).body.result, { attempts_left: 4 })

  const otp = await client.code(person.id)
  const half = await open('POST', `${at}/answer`, { otp })
  t.match(half.body.result, {
    state: 'password_needed',
    password_hint: 'a door',
    asked_by: '+*******0937',
    step: { number: 3, of: 3 },
    code_expires_in: null,
  })
  const whole = await open('POST', `${at}/answer`, { password: 'open sesame' })
  t.match(whole.body.result, { state: 'linked' })
  t.notMatch(JSON.stringify(whole.body), new RegExp(`${session_id}|credential`))
  t.match(await client.result('GET', session), { state: 'linked', credential: { state: String } })
  t.match(await client.ask('POST', `${session}/page`), { status: 409 })
})

t.test(
  'only the one who started the flow makes its page, and the newest is the only one',
  async (t) => {
    const { session, at } = await page()
    const stranger = await service.client()
    t.match(await stranger.ask('POST', `${session}/page`), refused(404, 'Not Found'))
    t.match(await open('POST', `${session}/page`), { status: 401 })
    t.match(await client.ask('POST', session.replace('sandbox', 'xmpp').concat('/page')), {
      status: 404,
    })
    const { token } = await client.result('POST', `${session}/page`)
    t.match(await open('GET', at), refused(404, 'Not Found'))
    t.match(await open('GET', pathOf(token)), { status: 200 })
  },
)

t.test('a link opens nothing else, and nothing once its time is over', async (t) => {
  const { made, at, session_id } = await page()
  const headers = { authorization: `apikey ${made.token}` }
  for (const path of ['/user', '/api_keys', '/platforms/credentials']) {
    t.match(await ask(service.url, 'GET', path, undefined, headers), { status: 401 }, path)
  }
  const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  const [row] = await db.query<{ stored: string }>(
    `select encode(hash, 'escape') as stored from link_page where session_id = $1`,
    [session_id],
  )
  t.ok(row && !row.stored.includes(made.token), 'only a hash is stored')
  await db.query('update link_session set expires_at = now() where id = $1', [session_id])
  t.match(await open('GET', at), refused(404, 'Not Found'))
  t.match(await open('POST', `${at}/answer`, { otp: '1' }), refused(404, 'Not Found'))
})

t.test('what is no answer is refused, and too many requests of a network are', async (t) => {
  const { at } = await page()
  const answer = `${at}/answer`
  t.match(await open('POST', answer, {}), { status: 400, body: { errors: [{ field: 'otp' }] } })
  t.match(await open('POST', answer, { otp: 1 }), { status: 400 })
  t.match(await open('POST', answer, { otp: '1', session_id: 'x' }), { status: 400 })
  t.match(await open('POST', answer, { otp: 'x'.repeat(5_000) }), { status: 413 })
  t.match(await open('POST', `${at}/resend`), { status: 429 })
  for (const token of ['x', `chp_lnk_${'0'.repeat(49)}`, `chp_pat_${'0'.repeat(49)}`]) {
    t.match(await open('GET', pathOf(token)), refused(404, 'Not Found'))
  }
  const statuses = await Promise.all(
    Array.from({ length: 80 }, async () => (await open('GET', at)).status),
  )
  t.ok(statuses.includes(429), 'a network that asks too often waits')
  t.ok(statuses.includes(200))
})
