/** Linking an account step by step, with everything that can come in between. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { type Answer, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { refused } from './scene.ts'

const service = await startService(t)
const client = await service.client()
const start = (phone: string, more: object = {}) =>
  client.ask('POST', '/platforms/sandbox/link/start', { phone, ...more })
const verify = (session_id: string, answer: object): Promise<Answer> =>
  client.ask('POST', '/platforms/sandbox/link/verify', { session_id, ...answer })
const look = (session: string) => client.result('GET', `/platforms/sandbox/link/${session}`)
/** Another code than the right one. */
const wrong = (code: string) => `${(Number(code[0]) + 1) % 10}${code.slice(1)}`

const hidden = (phone: string) => `+${'*'.repeat(phone.length - 5)}${phone.slice(-4)}`

async function begun(name: string, more: object = {}) {
  const person = await client.person(name, undefined, more)
  const { body } = await start(person.phone)
  return { person, session: body.result.session_id as string, shown: body.result }
}

t.test('a start says what is waited for', async (t) => {
  const { person, shown, session } = await begun('Ann')
  t.match(shown, {
    platform: 'sandbox',
    state: 'code_sent',
    method: 'phone',
    step: { number: 2, of: 2, password_may_follow: true },
    phone: hidden(person.phone),
    expires_in: 900,
    code_expires_in: Number,
    resend_in: Number,
    code_length: 5,
    attempts_left: 5,
    credential: null,
  })
  t.ok(shown.code_expires_in > 240 && shown.code_expires_in <= 300, 'the code ends before the link')
  t.match(session, /^[\w-]{22}$/, '128 bits')
  const seen = await look(session)
  t.match(seen, { session_id: session, state: 'code_sent', credential: null })
  t.notOk(JSON.stringify(seen).includes(person.phone), 'the phone is partly hidden')
})

t.test('a wrong code keeps the step; the right one links', async (t) => {
  const { person, session } = await begun('Bea')
  const code = await client.code(person.id)
  t.match(
    await verify(session, { otp: wrong(code) }),
    refused(400, 'Bad Request: the code is wrong'),
  )
  t.match(await look(session), { state: 'code_sent', attempts_left: 4 })
  const linked = (await verify(session, { otp: code })).body.result
  t.match(linked, {
    state: 'linked',
    credential: { platform: 'sandbox', account: { id: person.id } },
  })
  await client.state(linked.credential.credential_id, 'active')
  const after = await look(session)
  t.match(after, { state: 'linked', step: null, credential: { state: 'active' } })
  t.notOk('phone' in after, 'the credential says which account it is')
  const over = refused(400, 'Bad Request: the link session is over; start again')
  const again = (await verify(session, { otp: code })).body.result
  const { credential_id } = linked.credential
  t.match(again, { state: 'linked', credential: { credential_id } }, 'its answer may get lost')
  t.match(await client.ask('DELETE', `/platforms/sandbox/link/${session}`), over)
})

t.test('attempts run out, and stay so', async (t) => {
  const { person, session } = await begun('Cora')
  const code = await client.code(person.id)
  for (const left of [4, 3, 2, 1]) {
    t.match(await verify(session, { otp: wrong(code) }), { status: 400 })
    t.match(await look(session), { attempts_left: left })
  }
  const last = await verify(session, { otp: wrong(code) })
  t.match(last, { status: 400, body: { error_code: 400 } })
  const ended = { state: 'failed', reason: 'too_many_attempts', attempts_left: 0 }
  t.match(await look(session), ended)
  await service.restart()
  t.match(await look(session), ended)
  const over = refused(400, 'Bad Request: the link session is over; start again')
  t.match(await verify(session, { otp: code }), over, 'even with the right code')
})

t.test('a second factor is asked for with its hint, and may be wrong in place', async (t) => {
  const secret = { password: 'open sesame', password_hint: 'cave' }
  const { person, session } = await begun('Dora', secret)
  const waitsFor = (what: string) => refused(400, `Bad Request: the link session waits for ${what}`)
  t.match(await verify(session, { password: 'open sesame' }), waitsFor('the code'))
  const { body } = await verify(session, { otp: await client.code(person.id) })
  t.match(body.result, {
    state: 'password_needed',
    step: { number: 3, of: 3, password_may_follow: false },
    phone: hidden(person.phone),
    code_expires_in: null,
    password_hint: 'cave',
    credential: null,
  })
  t.match(await verify(session, { otp: '12345' }), waitsFor('the password'))
  t.match(
    await client.ask('POST', `/platforms/sandbox/link/${session}/resend`),
    waitsFor('the password'),
  )
  t.match(
    await verify(session, { password: 'close' }),
    refused(400, 'Bad Request: the password is wrong'),
  )
  t.match(await look(session), { state: 'password_needed', attempts_left: 4 })
  const linked = await verify(session, { password: 'open sesame' })
  t.match(linked.body.result, { state: 'linked', credential: { account: { first_name: 'Dora' } } })
})

t.test('a service that restarts between any two steps goes on', async (t) => {
  const { person, session } = await begun('Eva', { password: 'pass', password_hint: 'word' })
  const code = await client.code(person.id)
  await service.restart()
  t.match(await look(session), { state: 'code_sent', code_length: 5 })
  await verify(session, { otp: wrong(code) })
  await service.restart()
  t.match(await look(session), { state: 'code_sent', attempts_left: 4 })
  t.match(await verify(session, { otp: code }), { body: { result: { state: 'password_needed' } } })
  await service.restart()
  const step = { number: 3, of: 3 }
  const shown = { state: 'password_needed', password_hint: 'word', step }
  t.match(await look(session), { ...shown, phone: hidden(person.phone) })
  await verify(session, { password: 'wrong' })
  await service.restart()
  const linked = await verify(session, { password: 'pass' })
  t.match(linked, { status: 200, body: { result: { state: 'linked' } } })
  await service.restart()
  t.match(await look(session), { state: 'linked', credential: { account: { id: person.id } } })
  await client.state(linked.body.result.credential.credential_id, 'active')
})

t.test('a new code comes not too soon, and makes the old one worthless', async (t) => {
  const { person, session, shown } = await begun('Fay')
  const resend = () => client.ask('POST', `/platforms/sandbox/link/${session}/resend`)
  const early = await resend()
  const seconds = early.body.parameters.retry_after
  t.match(early, refused(429, `Too Many Requests: retry after ${seconds}`))
  t.equal(early.headers.get('retry-after'), `${seconds}`)
  t.ok(Math.abs(seconds - shown.resend_in) <= 1)

  const first = await client.code(person.id)
  await passes(person.id, session, 120)
  t.match(await resend(), {
    status: 200,
    body: { result: { state: 'code_sent', resend_in: Number } },
  })
  const second = await until(async () => {
    const code = await client.code(person.id)
    return code !== first && code
  })
  t.match(await verify(session, { otp: first }), refused(400, 'Bad Request: the code is wrong'))
  t.match(await verify(session, { otp: second }), { body: { result: { state: 'linked' } } })
})

t.test('a session expires', async (t) => {
  const { person, session } = await begun('Gia')
  const code = await client.code(person.id)
  await passes(person.id, session, 1_000)
  t.match(await look(session), { state: 'expired', expires_in: 0 })
  const over = refused(400, 'Bad Request: the link session is over; start again')
  t.match(await verify(session, { otp: code }), over)
  t.match(await client.ask('POST', `/platforms/sandbox/link/${session}/resend`), over)
})

t.test('a cancelled session is over', async (t) => {
  const { person, session } = await begun('Hue')
  const path = `/platforms/sandbox/link/${session}`
  t.match(await client.result('DELETE', path), { state: 'cancelled', credential: null })
  const over = refused(400, 'Bad Request: the link session is over; start again')
  t.match(await verify(session, { otp: await client.code(person.id) }), over)
  t.match(await client.result('DELETE', path), { state: 'cancelled' }, 'once more')
  await service.restart()
  t.match(await look(session), { state: 'cancelled' })
})

t.test('open links are listed, newest first, to their user alone', async (t) => {
  const caller = await service.client()
  const list = (query = '') => caller.ask('GET', `/platforms/links${query}`)
  const begin = async (name: string) => {
    const person = await caller.person(name)
    const body = { phone: person.phone }
    const flow = await caller.result('POST', '/platforms/sandbox/link/start', body)
    return { person, session: flow.session_id as string }
  }
  t.match(await list(), { status: 200, body: { ok: true, result: { items: { length: 0 } } } })
  const links = [await begin('Ida'), await begin('Jan'), await begin('Kim')]
  const [first, second, third] = links.map(({ session }) => session)
  const listed = async (query = '') => {
    const { result } = (await list(query)).body
    return { ids: result.items.map((one: { session_id: string }) => one.session_id), result }
  }
  const { ids, result } = await listed()
  t.same(ids, [third, second, first])
  t.match(result.items[0], {
    platform: 'sandbox',
    method: 'phone',
    state: 'code_sent',
    credential_id: null,
    phone: hidden(links[2]!.person.phone),
  })
  t.notOk('jid' in result.items[0])
  t.ok(result.items[0].expires_in > 800)
  const page = await listed('?limit=2')
  t.same(page.ids, [third, second])
  const rest = await listed(`?limit=2&before=${page.result.next_before}`)
  t.same(rest.ids, [first])
  t.equal(rest.result.next_before, null)
  t.same(
    (await client.result('GET', '/platforms/links?limit=1000')).items.filter(
      (one: { session_id: string }) => ids.includes(one.session_id),
    ),
    [],
    'not to others',
  )

  const { credential } = await caller.result('POST', '/platforms/sandbox/link/verify', {
    session_id: first,
    otp: await caller.code(links[0]!.person.id),
  })
  await caller.result('DELETE', `/platforms/sandbox/link/${second}`)
  t.same((await listed()).ids, [third], 'what is linked or cancelled is not open')
  const again = await caller.result('POST', '/platforms/sandbox/link/start', {
    phone: links[0]!.person.phone,
    credential_id: credential.credential_id,
  })
  t.match((await listed()).result.items[0], {
    session_id: again.session_id,
    credential_id: credential.credential_id,
  })
  await passes(links[2]!.person.id, third!, 1_000)
  t.same((await listed()).ids, [again.session_id], 'nor what is out of time')

  t.match(
    await list('?before=x'),
    refused(400, 'Bad Request: field "before" is not a cursor of this list'),
  )
  t.match(await list('?limit=0'), refused(400, 'Bad Request: field "limit" must be at least 1'))
  t.match(await fetch(`${service.url}/platforms/links`), { status: 401 })
})

/** Lets time pass for a link session: what it stored is that much older, and its actor begins anew. */
async function passes(person: number, session: string, seconds: number) {
  await service.gateway.stop()
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  await database.query(
    `update link_session set expires_at = expires_at - make_interval(secs => $2),
            step = step || jsonb_build_object('resendAt', (step ->> 'resendAt')::numeric - 1000 * $2)
      where id = $1`,
    [session, seconds],
  )
  await database.query(
    `update sandbox_challenge set sent_at = sent_at - make_interval(secs => $2)
      where person_id = $1 and state = 'code'`,
    [person, seconds],
  )
  await database.close()
  await service.restart()
}
