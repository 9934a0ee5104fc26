/** Operators and support: they find users, read what users see with texts and phones masked, diagnose, and change nothing. */
import t from 'tap'
import { SERVICE } from '../../src/alerts/rules.ts'
import { openDatabase } from '../../src/database/database.ts'
import { routesOnBehalf, shownTo } from '../../src/http/on-behalf.ts'
import { maskTexts } from '../../src/security/redact.ts'
import { type Answer, type Client, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

const phones = { operator: '+14155557001', support: '+14155557002', user: '+14155557003' }
const service = await startService(t, {
  env: { OPERATOR_PHONES: phones.operator, SUPPORT_PHONES: phones.support },
})
const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => db.close())
const user = await service.client(phones.user)
const operator = await service.client(phones.operator)
const support = await service.client(phones.support)
const { user_id: userId } = await user.result('GET', '/user')
const bot = await user.person('Bot', 'staff_bot')
const account = await user.link(bot)
const ada = await user.person('Ada')
const { key, api_key_id: keyId } = await user.key(account)

/** Asks on behalf of a user. */
async function behalf(
  client: Client,
  path: string,
  { method = 'GET', body, of = userId }: { method?: string; body?: object; of?: unknown } = {},
) {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${client.token}`,
      'on-behalf-of': `${of}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

t.test('a user has no role, the staff has one', async (t) => {
  t.notOk('role' in (await user.result('GET', '/user')))
  t.match(await operator.result('GET', '/user'), { role: 'operator', operator: true })
  const own = await support.result('GET', '/user')
  t.equal(own.role, 'support')
  t.notOk('operator' in own)
  t.equal((await support.ask('GET', '/operators/nodes')).status, 403, 'nodes are for operators')
})

t.test('the staff finds users by what is known of them, with masked phones', async (t) => {
  const masked = '+*******7003'
  for (const query of [
    `phone=${encodeURIComponent(phones.user)}`,
    `user_id=${userId}`,
    `credential_id=${account}`,
    `api_key_id=${keyId}`,
  ]) {
    const { items } = await support.result('GET', `/users?${query}`)
    t.match(items, [{ user_id: userId, phone: masked, accounts: 1, accounts_out: 0, api_keys: 1 }])
    t.equal(items.length, 1, query)
  }
  t.equal((await support.result('GET', `/users/${userId}`)).phone, masked)
  t.equal((await support.ask('GET', '/users/999999')).status, 404)
  const first = await operator.result('GET', '/users?limit=2')
  const rest = await operator.result('GET', `/users?limit=2&before=${first.next_before}`)
  const ids = [...first.items, ...rest.items].map((one: { user_id: number }) => one.user_id)
  t.same(
    ids,
    ids.toSorted((a, b) => b - a),
  )
  t.equal(new Set(ids).size, 3)
  t.match(await support.ask('GET', '/users?phone=12'), {
    status: 400,
    body: { errors: [{ field: 'phone' }] },
  })
})

t.test('a user is refused, and so is who is not signed in', async (t) => {
  for (const path of ['/users', `/users/${userId}`]) {
    t.match(await user.ask('GET', path), { status: 403, body: { ok: false, error_code: 403 } })
    t.equal((await fetch(`${service.url}${path}`)).status, 401)
  }
  t.equal(
    (await user.ask('POST', `/users/${userId}/unmask`, { reason: 'I am curious' })).status,
    403,
  )
  t.equal((await behalf(user, '/api_keys', { of: 1 })).status, 403)
  t.equal((await behalf(user, '/api_keys')).status, 403, 'not even for themselves')
  const byToken = async (scopes: readonly string[]) => {
    const { token } = await operator.result('POST', '/user/tokens', { name: 'script', scopes })
    const headers = { authorization: `apikey ${token}`, 'on-behalf-of': `${userId}` }
    return (await fetch(`${service.url}/api_keys`, { headers })).status
  }
  t.equal(await byToken(['read', 'keys']), 403, 'nor by a token that is not for it')
  t.equal(await byToken(['operate']), 403)
  t.equal(await byToken(['read', 'operate']), 200)
})

t.test('support sees what the user sees, without the phone', async (t) => {
  const own = await user.result('GET', `/platforms/credentials/${account}`)
  t.match(own.account, { phone: bot.phone })
  for (const client of [support, operator]) {
    const seen = await behalf(client, `/platforms/credentials/${account}`)
    t.equal(seen.status, 200)
    t.not(seen.body.result.account.phone, bot.phone)
    // A check of its health may come between.
    t.same({ ...seen.body.result, account: own.account, health: own.health }, own)
  }
  const { body } = await behalf(support, '/api_keys')
  t.equal(body.result.items[0].api_key_id, keyId)
  t.same((await support.result('GET', '/api_keys')).items, [], 'its own list is its own')
  const stream = await fetch(`${service.url}/platforms/credentials/${account}/events`, {
    headers: { authorization: `Bearer ${support.token}`, 'on-behalf-of': `${userId}` },
  })
  const { value } = (await stream.body?.getReader().read()) ?? {}
  const text = new TextDecoder().decode(value)
  t.match(text, 'event: state')
  t.notMatch(text, bot.phone)
})

t.test('on behalf of an operator nobody sees what is of the service', async (t) => {
  const { user_id: operatorId } = await operator.result('GET', '/user')
  const [node] = await operator.result('GET', '/operators/nodes')
  await operator.result('POST', `/operators/nodes/${node.incarnation}/undrain`)
  await db.query(
    `insert into incident (user_id, rule, subject, state, affected, opened_at)
     values ($1, 'node_lost', 'node-7', 'open', 1, now())`,
    [SERVICE],
  )
  const rules = (items: { rule: string }[]) => items.map(({ rule }) => rule)
  const actions = (items: { action: string }[]) => items.map(({ action }) => action)
  t.ok(actions((await operator.result('GET', '/audit')).items).includes('node.undrained'))
  t.same(rules((await operator.result('GET', '/alerts')).items), ['node_lost'])
  const audit = await behalf(support, '/audit', { of: operatorId })
  t.equal(audit.status, 200)
  t.notOk(actions(audit.body.result.items).includes('node.undrained'))
  t.same((await behalf(support, '/alerts', { of: operatorId })).body.result.items, [])
  const summary = await behalf(support, '/alerts/summary', { of: operatorId })
  t.equal(summary.body.result.open, 0)
})

t.test('a diagnosis ends with a cause, and sends nothing', async (t) => {
  const path = `/api_keys/${keyId}/diagnosis`
  const { status, body } = await behalf(support, path, { method: 'POST', body: { all: true } })
  t.equal(status, 200)
  t.equal(body.result.steps.length, 5)
  const found = await behalf(support, `${path}/${body.result.diagnosis_id}`)
  t.same(found.body.result, body.result)
  const sending = { method: 'POST', body: { all: true, send_to: `${ada.id}` } }
  t.equal((await behalf(support, path, sending)).status, 403)
  const test = `/platforms/credentials/${account}/test`
  t.equal((await behalf(support, test, { method: 'POST', body: {} })).status, 200)
  t.equal((await behalf(operator, test, sending)).status, 400, 'a field that the route has not')
  const sends = { method: 'POST', body: { send_to: `${ada.id}` } }
  t.equal((await behalf(operator, test, sends)).status, 403)
})

t.test('every other route refuses, whatever the role', async (t) => {
  const spec = (await user.ask('GET', '/openapi.json')).body
  let refused = 0
  for (const [path, verbs] of Object.entries<object>(spec.paths)) {
    if (path.startsWith('/bot') || path.startsWith('/file')) continue
    for (const [verb, { security }] of Object.entries<{ security?: object[] }>(verbs as never)) {
      if (!security?.length || !('jwt' in (security[0] ?? {}))) continue
      const method = verb.toUpperCase()
      const route = `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
      if (routesOnBehalf.has(route)) continue
      const answer = await behalf(operator, path.replaceAll(/\{\w+\}/g, '1'), { method })
      t.equal(answer.status, 403, route)
      refused++
    }
  }
  t.ok(refused > 80, `${refused} routes`)
  t.match(await user.result('GET', `/platforms/credentials/${account}`), { state: 'active' })
})

t.test('every route that is allowed is one of the service', async (t) => {
  const spec = (await user.ask('GET', '/openapi.json')).body
  for (const route of routesOnBehalf) {
    const [verb = '', path = ''] = route.split(' ')
    const known = spec.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[verb.toLowerCase()]
    t.ok(known, route)
  }
})

t.test('nobody is found behind a number that is none', async (t) => {
  for (const named of ['0', '-1', 'x', '1e3', '999999', '9'.repeat(30)]) {
    t.equal((await behalf(operator, '/api_keys', { of: named })).status, 404, named)
  }
})

t.test(
  'texts are masked until a reason is given, for that user and that one of the staff',
  async (t) => {
    await user.result('PUT', `/api_keys/${keyId}/requests/exchanges`, { keep: 'all' })
    const call = await fetch(`${service.url}/bot${key}/sendMessage`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ chat_id: ada.id, text: 'my heart is heavy' }),
    })
    const id = call.headers.get('x-request-id')
    const path = `/api_keys/${keyId}/requests/${id}/exchange`
    await until(async () => (await user.result('GET', path)).exchange !== null)
    const own = await user.result('GET', path)
    t.match(own.exchange.parameters.text, 'my heart is heavy')

    const seen = await behalf(support, path)
    t.same(JSON.parse(seen.body.result.exchange.parameters.text), {
      chat_id: `${ada.id}`,
      text: '•••',
    })
    const answer = JSON.parse(seen.body.result.exchange.answer.text)
    t.match(answer, { ok: true, result: { text: '•••', chat: { id: ada.id } } })
    t.notMatch(JSON.stringify(seen.body), 'heart')
    t.equal((await behalf(support, '/user/logs/webhook-deliveries?text=heart')).status, 403)

    const unmask = `/users/${userId}/unmask`
    for (const body of [
      {},
      { reason: '  ' },
      { reason: 'x'.repeat(501) },
      { reason: 'why', more: 1 },
    ]) {
      t.equal((await support.ask('POST', unmask, body)).status, 400)
    }
    t.equal((await support.ask('POST', '/users/999999/unmask', { reason: 'ticket 7' })).status, 404)
    const until15 = await support.result('POST', unmask, { reason: 'ticket 7' })
    const minutes = (Date.parse(until15.unmasked_until) - Date.now()) / 60_000
    t.ok(minutes > 14 && minutes <= 15)
    t.same((await behalf(support, path)).body.result, own)
    t.equal((await support.result('GET', `/users/${userId}`)).phone, phones.user)
    const { items } = await support.result('GET', '/users')
    for (const { user_id, phone } of items) t.equal(phone.includes('*'), user_id !== userId)
    t.notMatch(JSON.stringify((await behalf(operator, path)).body), 'heart', 'not for another one')
    t.equal((await behalf(support, '/user/logs/webhook-deliveries?text=heart')).status, 200)
  },
)

t.test('the user reads who looked, and why', async (t) => {
  const { items } = await user.result('GET', '/audit?action=user')
  const [support_id] = [(await support.result('GET', '/user')).user_id]
  t.match(items, [
    { action: 'user.unmasked', author_id: support_id, after: { reason: 'ticket 7' } },
  ])
  t.equal(items.length, 1)
  const diagnosed = await user.result('GET', '/audit?action=key.diagnosed')
  t.match(diagnosed.items, [{ author_id: support_id }])
})

t.test('calls of the staff stand in the log of the staff alone', async (t) => {
  const own = await user.result('GET', '/user/logs/api-requests?limit=1000')
  const isOfStaff = (one: { method: string; status: number }) =>
    one.method === 'POST /api_keys/:id/diagnosis' ||
    (one.method.includes('unmask') && one.status === 200)
  t.notOk(own.items.some(isOfStaff))
  await until(async () => {
    const { items } = await support.result('GET', '/user/logs/api-requests?limit=1000')
    return items.some((one: { method: string }) =>
      one.method.startsWith('GET /api_keys/:id/requests'),
    )
  })
})

t.test('a stream on behalf of a user ends when they are erased', async (t) => {
  const leaving = await service.client('+14155557004')
  const { user_id: of } = await leaving.result('GET', '/user')
  const stream = await fetch(`${service.url}/platforms/credentials/events`, {
    headers: { authorization: `Bearer ${support.token}`, 'on-behalf-of': `${of}` },
    signal: AbortSignal.timeout(12_000),
  })
  await leaving.result('DELETE', '/user')
  t.match(await stream.text(), 'event: state')
})

t.test('addresses of accounts are masked as phones are', async (t) => {
  const acting = { id: 1, role: 'support' as const, isMasked: true }
  const answer = {
    account: { id: 7, first_name: 'ada.l', username: 'ada.l@example.org' },
    other: { id: 8, first_name: 'Grace', username: 'gracebot' },
    steps: [{ evidence: ['getMe answers as @ada.l@example.org', 'Mention @gracebot'] }],
  }
  t.same(shownTo({ acting }, answer), {
    account: { id: 7, first_name: '•••', username: 'a***@example.org' },
    other: answer.other,
    steps: [{ evidence: ['getMe answers as @a***@example.org', 'Mention @gracebot'] }],
  })
  t.equal(shownTo({ acting: { ...acting, isMasked: false } }, answer), answer)
  const sought = encodeURIComponent('l@example')
  t.equal((await behalf(operator, `/platforms/credentials?search=${sought}`)).status, 403)
  t.equal((await behalf(operator, '/platforms/credentials?search=%40staff')).status, 200)
  await user.result('PATCH', `/api_keys/${keyId}`, { name: 'Zoë zanzibar.l@example.org' })
  const found = async (search: string) =>
    (
      await behalf(operator, `/api_keys?search=${encodeURIComponent(search)}`)
    ).body.result.items.map(({ name }: { name: string }) => name)
  const shown = ['Zoë z***@example.org']
  for (const search of ['zoe', 'z', 'example', 'org']) t.same(await found(search), shown, search)
  for (const search of ['za', 'zanzibar', 'bar.l']) t.same(await found(search), [], search)
  const hostile = 'a'.repeat(200_000)
  const begun = performance.now()
  t.same(shownTo({ acting }, { hostile }), { hostile })
  t.ok(performance.now() - begun < 1_000)
})

t.test('what people write is hidden in JSON that is cut anywhere', async (t) => {
  const json = JSON.stringify({
    chat_id: '12',
    text: 'a "quoted" \\ text',
    caption: 1234,
    entities: [{ type: 'bold', offset: 0 }],
    from: { id: 5, first_name: 'Ada', phone_number: 4155550123 },
  })
  t.same(JSON.parse(maskTexts(json, '•')), {
    chat_id: '12',
    text: '•',
    caption: '•',
    entities: [{ type: 'bold', offset: 0 }],
    from: { id: 5, first_name: '•', phone_number: '•' },
  })
  for (let cut = 1; cut <= json.length; cut++) {
    const shown = maskTexts(json.slice(0, cut), '•')
    for (const secret of ['quoted', 'Ada', '1234', '4155']) t.notMatch(shown, secret, `${cut}`)
  }
  t.equal(maskTexts('<p>words</p>', '•'), '•')
  for (const written of [
    '[error] my heart',
    '{text: my heart}',
    '{"ok":true} my heart',
    '[1] no',
  ]) {
    t.equal(maskTexts(written, '•'), '•', written)
  }
  const refused = '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}'
  t.equal(maskTexts(refused, '•'), refused)
  t.same(JSON.parse(maskTexts('{"description":"I am","ok":true,"latitude":35.7}', '•')), {
    description: '•',
    ok: true,
    latitude: '•',
  })
  for (const [written, shown] of [
    [
      '{"text":["a",{"text":"b","type":"bold"}," the secret"],"id":["a"]}',
      '{"text":["•",{"text":"•","type":"bold"},"•"],"id":["•"]}',
    ],
    ['{"chat_id":12,"rows":["1","2"', '{"chat_id":12,"rows":["•","•"'],
    ['{"method":"sendPhoto" , "x" : [] , "y"', '{"method":"sendPhoto" , "x" : [] , "•"'],
    ['{"ok":true,"result":{"description":"ours"}}', '{"ok":true,"result":{"description":"•"}}'],
  ] as const) {
    t.equal(maskTexts(written, '•'), shown)
  }
  const hostile = `{${'1-e'.repeat(50_000)}x`
  const begun = performance.now()
  t.equal(maskTexts(hostile, '•'), '•')
  t.ok(performance.now() - begun < 1_000)
  t.equal(maskTexts('', '•'), '')
})
