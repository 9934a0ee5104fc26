/** API keys from their making to their end, and what they are let through for. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { service, client, ada, credentialId } = await scene(t, {})

const unauthorized = refused(401, 'Unauthorized')
const gone = refused(404, 'Not Found')
const create = (more: object = {}) =>
  client.ask('POST', '/api_keys', {
    name: 'a key',
    credential_id: credentialId,
    scopes: ['bot:send', 'bot:receive'],
    ...more,
  })
const made = async (more: object = {}) => (await create(more)).body.result
const me = (key: string) => client.bot(key, 'getMe')
const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString()
const isHeld = (id: number) =>
  until(() => service.gateway.core.keys.peek(id)?.snapshot.context.waiting !== undefined)

t.test('a key is shown once, in the shape that libraries check', async (t) => {
  const { status, body } = await create({ scopes: ['bot:send'], expires_at: soon(60_000) })
  t.equal(status, 200)
  const { key, ...record } = body.result
  t.match(key, /^[1-9]\d{5,}:[\w-]{43}$/)
  t.match(record, {
    api_key_id: Number(key.split(':')[0]),
    name: 'a key',
    credential_id: credentialId,
    scopes: ['bot:send'],
    key_hint: `…${key.slice(-4)}`,
    receive_mode: 'none',
    webhook: null,
    pending_update_count: 0,
    last_used_at: null,
    created_at: /^\d{4}-.*Z$/,
    expires_at: /^\d{4}-.*Z$/,
    revoked_at: null,
  })
  const again = await client.ask('GET', `/api_keys/${record.api_key_id}`)
  t.same(again.body.result, record, 'afterwards without the key')
  t.notOk(JSON.stringify((await client.ask('GET', '/api_keys')).body).includes(key.split(':')[1]))
  t.match(await me(key), { status: 200 })
})

t.test('keys are listed by pages, newest first', async (t) => {
  const ids: number[] = []
  for (const name of ['one', 'two', 'three']) ids.push((await made({ name })).api_key_id)
  const first = await client.result('GET', '/api_keys?limit=2')
  t.match(first.items, [{ name: 'three' }, { name: 'two' }])
  const next = await client.result('GET', `/api_keys?limit=1&before=${first.next_before}`)
  t.match(next, { items: [{ api_key_id: ids[0] }], next_before: new RegExp(`^${ids[0]}$`) })
  t.match(await client.result('GET', '/api_keys?before=1'), {
    items: { length: 0 },
    next_before: null,
  })
  for (const bad of ['limit=0', 'limit=1001', 'limit=a', 'before=a']) {
    t.match(await client.ask('GET', `/api_keys?${bad}`), { status: 400, body: { ok: false } }, bad)
  }
})

t.test('scopes decide what a key may do', async (t) => {
  const lacks = (scope: string) => refused(403, `Forbidden: the key lacks the scope ${scope}`)
  const message = { chat_id: ada.id, text: 'x' }
  const sender = (await made({ scopes: ['bot:send'] })).key
  const receiver = (await made({ scopes: ['bot:receive'] })).key
  for (const method of ['getUpdates', 'getWebhookInfo', 'deleteWebhook']) {
    t.match(await client.bot(sender, method), lacks('bot:receive'), method)
    t.match(await client.bot(receiver, method), { status: 200 }, method)
  }
  const acts = ['sendMessage', 'sendChatAction', 'forwardMessage', 'copyMessage']
  for (const method of [...acts, 'editMessageText', 'deleteMessage', 'answerCallbackQuery']) {
    t.match(await client.bot(receiver, method, message), lacks('bot:send'), method)
  }
  t.match(await client.bot(sender, 'sendMessage', message), { status: 200 })
  for (const key of [sender, receiver]) {
    t.match(await me(key), { status: 200 })
    t.match(await client.bot(key, 'getChat', { chat_id: ada.id }), { status: 200 })
    t.match(await client.bot(key, 'sendWidget'), { status: 400 }, 'unsupported before unauthorised')
  }
})

t.test('a change counts at once', async (t) => {
  const { key, api_key_id } = await made()
  const patch = (body: object) => client.ask('PATCH', `/api_keys/${api_key_id}`, body)
  t.match(await me(key), { status: 200 }, 'its actor lives')
  t.match(await patch({ name: 'renamed' }), {
    body: { result: { name: 'renamed', scopes: ['bot:send', 'bot:receive'] } },
  })
  await patch({ scopes: ['bot:send'] })
  t.match(await client.bot(key, 'getUpdates'), { status: 403 })
  await patch({ scopes: ['bot:receive'] })
  t.match(await client.bot(key, 'getUpdates'), { status: 200 })
  t.match(await patch({ expires_at: soon(300) }), { status: 200 })
  await until(async () => (await me(key)).status === 401)
  t.match(await patch({ expires_at: null }), { body: { result: { expires_at: null } } })
  t.match(await me(key), { status: 200 }, 'and back again')
})

t.test('a rotated key has a new secret, and the old one for as long as is wanted', async (t) => {
  const { key: first, api_key_id } = await made()
  const rotate = (body?: object) => client.ask('POST', `/api_keys/${api_key_id}/rotate`, body)
  const second = (await rotate({ overlap_seconds: 1 })).body.result.key
  t.match(second, new RegExp(`^${api_key_id}:`), 'the id stays')
  t.not(second, first)
  t.match(await me(first), { status: 200 })
  t.match(await me(second), { status: 200 })
  await pause(1_050)
  t.match(await me(first), unauthorized)
  t.match(await me(second), { status: 200 })

  const waiting = client.bot(second, 'getUpdates', { timeout: 20 })
  await isHeld(api_key_id)
  const third = (await rotate()).body.result.key
  t.match(await waiting, unauthorized, 'nobody stays in with the old secret')
  t.match(await me(second), unauthorized)
  t.match(await me(third), { status: 200 })
  t.match(await rotate({ overlap_seconds: -1 }), { status: 400 })
  t.match(await rotate({ overlap_seconds: 86_401 }), { status: 400 })
})

t.test('a revoked key is of no use, and its waiting poll ends', async (t) => {
  const { key, api_key_id } = await made()
  const path = `/api_keys/${api_key_id}`
  const waiting = client.bot(key, 'getUpdates', { timeout: 20 })
  await isHeld(api_key_id)
  t.match(await client.ask('DELETE', path), { status: 200, body: { ok: true, result: true } })
  t.match(await waiting, unauthorized)
  for (const method of ['getMe', 'sendMessage', 'noSuchMethod', 'sendPhoto']) {
    t.match(await client.bot(key, method, { chat_id: ada.id, text: 'x' }), unauthorized, method)
  }
  t.match(await client.ask('DELETE', path), gone)
  t.match(await client.ask('PATCH', path, { name: 'x' }), { status: 400 })
  t.match(await client.ask('POST', `${path}/rotate`), { status: 400 })
  t.match(await client.result('GET', path), { revoked_at: /^\d{4}-/ })
  await service.restart()
  t.match(await me(key), unauthorized)
})

t.test('an expired key is of no use', async (t) => {
  const { key } = await made({ expires_at: soon(600) })
  t.match(await me(key), { status: 200 })
  await pause(650)
  t.match(await me(key), unauthorized)
  t.match(await client.bot(key, 'getUpdates'), unauthorized)
  const asleep = (await made({ expires_at: soon(200) })).key
  await pause(250)
  t.match(await me(asleep), unauthorized, 'also one that was never used')
})

t.test('its owner sees that a key is used which has ended', async (t) => {
  const { key, api_key_id } = await made()
  const log = async () =>
    (await client.result('GET', `/user/logs/api-requests?api_key_id=${api_key_id}`)).items
  await client.result('DELETE', `/api_keys/${api_key_id}`)
  t.match(await me(key), unauthorized)
  t.match(await me(`${api_key_id}:${'x'.repeat(43)}`), unauthorized, 'whoever guesses is nobody')
  t.match(await fetch(`${service.url}/file/bot${key}/photos/file_1.jpg`), { status: 401 })
  const seen = await until(async () => {
    const items = await log()
    return items.length === 2 && items
  })
  const refusal = { status: 401, error_code: 401, credential_id: credentialId }
  t.match(seen, [refusal, refusal])
})

t.test('an expiry is a time to come, however it is written', async (t) => {
  const wrong = (time: string) => create({ expires_at: time })
  for (const past of ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00+20:00']) {
    t.match((await wrong(past)).body.errors, [{ reason: 'must be in the future' }], past)
  }
  // Two spellings that a schema lets pass, and a year that has five digits in UTC.
  const never = ['2020-01-01T00:00:00+05', '2020-06-30T23:59:60Z', '9999-12-31T23:59:59-14:00']
  for (const time of never) {
    const { status, body } = await wrong(time)
    t.match({ status, body }, { status: 400, body: { errors: [{ field: 'expires_at' }] } }, time)
  }
  const far = await made({ expires_at: '2130-01-01T00:00:00-23:00' })
  t.equal(far.expires_at, '2130-01-01T23:00:00.000Z', 'the database alone takes no such zone')
  const path = `/api_keys/${far.api_key_id}`
  const changed = await client.result('PATCH', path, { expires_at: '2131-01-01T20:00:00+20:00' })
  t.equal(changed.expires_at, '2131-01-01T00:00:00.000Z')
})

t.test("another user's key is not there", async (t) => {
  const { api_key_id } = await made()
  const stranger = await service.client()
  const path = `/api_keys/${api_key_id}`
  t.match(await stranger.ask('GET', path), gone)
  t.match(await stranger.ask('PATCH', path, { name: 'mine' }), gone)
  t.match(await stranger.ask('POST', `${path}/rotate`, {}), gone)
  t.match(await stranger.ask('DELETE', path), gone)
  const theirs = { name: 'x', credential_id: credentialId, scopes: ['bot:send'] }
  t.match(await stranger.ask('POST', '/api_keys', theirs), gone, 'nor is the credential')
  t.same((await stranger.result('GET', '/api_keys')).items, [])
})

t.test('bad input lists every offending field', async (t) => {
  const fields = async (body: unknown) => {
    const answer = await client.ask('POST', '/api_keys', body)
    t.match(answer, { status: 400, body: { ok: false, error_code: 400 } })
    const { errors = [], description } = answer.body
    if (errors.length > 0) t.match(description, `field "${errors[0].field}" ${errors[0].reason}`)
    return [...new Set<string>(errors.map(({ field }: { field: string }) => field))].sort()
  }
  const good = { name: 'x', credential_id: credentialId, scopes: ['bot:send'] }
  t.same(await fields({}), ['credential_id', 'name', 'scopes'])
  t.same(await fields({ ...good, name: '' }), ['name'])
  t.same(await fields({ ...good, name: '   ' }), ['name'])
  t.same(await fields({ ...good, name: 'x'.repeat(101) }), ['name'])
  t.same(await fields({ ...good, credential_id: '1' }), ['credential_id'])
  t.same(await fields({ ...good, credential_id: 1.5 }), ['credential_id'])
  t.same(await fields({ ...good, scopes: [] }), ['scopes'])
  t.same(await fields({ ...good, scopes: ['bot:send', 'bot:send'] }), ['scopes'])
  t.same((await fields({ ...good, scopes: ['bot:all'] }))[0], 'scopes.0')
  t.same((await fields({ ...good, expires_at: 'tomorrow' }))[0], 'expires_at')
  t.same(await fields({ ...good, expires_at: '2020-01-01T00:00:00Z' }), ['expires_at'])
  t.same(await fields({ ...good, more: 1 }), ['more'])
  t.match(await create({ name: 'nul \u0000' }), {
    status: 400,
    body: { errors: [{ field: 'name' }] },
  })
  t.match(await create({ credential_id: 999_999 }), gone)
})
