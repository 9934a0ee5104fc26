/** Credentials as the management API serves them: records, timeline, settings, health test, restart, end. */
import t from 'tap'
import { type Answer, until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { refused, troubledAccount } from './scene.ts'

const service = await startService(t)
const account = (name: string) => troubledAccount(service, name)

t.test('a record shows the account, its state, settings and health', async (t) => {
  const { bot, credentialId, record, write, updates } = await account('shown')
  await write('hello')
  await updates({ timeout: 5 })
  await until(async () => (await record()).health.last_event_at)
  t.match(await record(), {
    credential_id: credentialId,
    platform: 'sandbox',
    state: 'active',
    reason: null,
    action: 'none',
    account: { id: bot.id, first_name: 'Bot', username: 'shown', phone: bot.phone },
    settings: {
      include_self_updates: false,
      include_channel_updates: false,
      include_channel_update_recovery: false,
      include_deleted_updates: false,
    },
    health: { healthy: true, checked_at: String, last_event_at: String, latency_ms: Number },
    created_at: /^\d{4}-.*Z$/,
    online_since: /^\d{4}-.*Z$/,
    node: String,
  })
})

t.test('lists and timelines go by pages, newest first', async (t) => {
  const { client, credentialId, path } = await account('paged')
  const more = [await client.person('B', 'paged_b'), await client.person('C', 'paged_c')]
  const ids = [credentialId]
  for (const person of more) ids.push(await client.link(person))
  const list = (query: string) => client.result('GET', `/platforms/credentials${query}`)
  const first = await list('?limit=2')
  t.same(
    first.items.map((item: { credential_id: number }) => item.credential_id),
    ids.slice(1).reverse(),
  )
  const second = await list(`?limit=2&before=${first.next_before}`)
  t.match(second, { items: [{ credential_id: credentialId }], next_before: null })
  t.equal(second.items.length, 1)
  const timeline = await client.result('GET', `${path}/transitions?limit=2`)
  t.match(timeline.items, [
    { actor: `credential:${credentialId}`, node: String, duration_ms: Number },
    {},
  ])
  const older = await client.result(
    'GET',
    `${path}/transitions?limit=1&before=${timeline.next_before}`,
  )
  t.ok(older.items[0].at <= timeline.items[1].at)
  for (const bad of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=1e400',
    'before=abc',
    'before=-1',
  ]) {
    for (const where of ['/platforms/credentials', `${path}/transitions`]) {
      t.match(await client.ask('GET', `${where}?${bad}`), { status: 400, body: { ok: false } }, bad)
    }
  }
})

t.test('the health test tries what it can, and sends only when asked to', async (t) => {
  const { client, path, ada, fault, state } = await account('examined')
  const test = (body?: object) => client.ask('POST', `${path}/test`, body)
  const { body } = await test()
  t.match(body.result, { healthy: true, state: 'active', checked_at: String })
  t.match(body.result.checks, [
    { check: 'session', ok: true, remedy: null },
    { check: 'connection', ok: true, latency_ms: Number },
    { check: 'identity', ok: true, detail: 'Signed in as Bot (@examined)' },
    { check: 'receive', ok: true },
    { check: 'send', ok: null, remedy: null },
  ])
  const inbox = async () => (await client.result('GET', `/sandbox/people/${ada.id}/inbox`)).messages
  t.same(await inbox(), [])
  const sending = await test({ send_to: '@examined_friend' })
  t.match(sending.body.result.checks[4], { check: 'send', ok: true, latency_ms: Number })
  t.match(await inbox(), [{ text: 'Test message of Chapar' }])
  const nowhere = await test({ send_to: '@nobody_at_all' })
  t.match(nowhere.body.result, { healthy: false })
  t.match(nowhere.body.result.checks[4], { ok: false, detail: 'chat not found', remedy: String })
  for (const nonsense of ['nonsense', '0', '@']) {
    const { status, body } = await test({ send_to: nonsense })
    t.match({ status, body }, { status: 200, body: { result: { healthy: false } } }, nonsense)
  }
  t.match(await test({ send_to: '' }), { status: 400, body: { errors: [{ field: 'send_to' }] } })
  t.match(await test({ unknown: 1 }), { status: 400 })
  await fault('silence')
  await state('degraded')
  const deaf = (await test({ send_to: '@examined_friend' })).body.result
  t.match(deaf, { healthy: false, state: 'degraded' })
  t.match(deaf.checks, [
    {},
    { check: 'connection', ok: false, remedy: String },
    {},
    { ok: false },
    { ok: false },
  ])
})

t.test('a restart connects anew, also where the credential had stopped', async (t) => {
  const { client, path, state, fault, send, timeline } = await account('restarted')
  const restart = () => client.ask('POST', `${path}/restart`)
  t.match(await restart(), { status: 200 })
  await state('active')
  t.match(await send(), { status: 200 })
  t.ok((await timeline()).some(({ to }) => to === 'queued'))
  await fault('replace')
  await state('failed')
  t.match(await restart(), { status: 200 })
  t.match(await state('failed'), { reason: 'replaced_elsewhere' }, 'the other client still has it')
})

t.test('deleting signs out, wipes the secrets and ends the keys', async (t) => {
  const { client, bot, path, key, updates, keyId, credentialId } = await account('deleted')
  const waiting = updates({ timeout: 20 })
  await until(() => service.gateway.core.keys.peek(keyId)?.snapshot.context.waiting)
  t.match(await client.ask('DELETE', path), { status: 200, body: { ok: true, result: true } })
  const unauthorized = refused(401, 'Unauthorized')
  const deleted = 'Forbidden: the credential was deleted; link the account again'
  t.match(await waiting, refused(403, deleted), 'the waiting poll ends')
  for (const method of ['getMe', 'getUpdates', 'sendMessage', 'getWebhookInfo', 'sendPhoto']) {
    t.match(await client.bot(key, method, { chat_id: 1, text: 'x' }), unauthorized, method)
  }
  const gone = refused(404, 'Not Found')
  t.match(await client.ask('DELETE', path), gone)
  t.match(await client.ask('GET', path), gone)
  t.match(await client.ask('POST', `${path}/restart`), gone)
  t.match(await client.ask('PATCH', `${path}/settings`, {}), gone)
  const create = { name: 'late', credential_id: credentialId, scopes: ['bot:send'] }
  t.match(await client.ask('POST', '/api_keys', create), gone)
  t.match(await client.result('GET', `/api_keys/${keyId}`), { revoked_at: String })
  t.match(await client.result('GET', `/sandbox/people/${bot.id}`), { linked_sessions: 0 })
  t.notOk((await client.result('GET', '/platforms/credentials')).items.length)
  await service.restart()
  t.match(await client.ask('GET', path), gone)
  t.match(await client.bot(key, 'getMe'), unauthorized)
  t.not(await client.link(bot), credentialId, 'linked again it is another credential')
})

t.test("another user's credential is not there", async (t) => {
  const { path } = await account('private')
  const stranger = await service.client()
  const routes = [
    ['GET', path],
    ['GET', `${path}/transitions`],
    ['GET', `${path}/events`],
    ['POST', `${path}/test`],
    ['POST', `${path}/restart`],
    ['PATCH', `${path}/settings`, { include_self_updates: true }],
    ['DELETE', path],
  ] as const
  for (const [method, where, body] of routes) {
    t.match(
      await stranger.ask(method, where, body),
      { status: 404, body: { description: 'Not Found' } },
      where,
    )
  }
})

t.test('the stream of events tells every change as it happens', async (t) => {
  const { client, fault, state, path } = await account('watched')
  const leaving = new AbortController()
  const stream = await fetch(`${service.url}${path}/events`, {
    headers: { authorization: `Bearer ${client.token}` },
    signal: leaving.signal,
  })
  t.match(stream.headers.get('content-type'), 'text/event-stream')
  t.ok(stream.headers.get('x-request-id'))
  let heard = ''
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  const hears = async (text: string) => {
    while (!heard.includes(text)) {
      const { value, done } = await reader.read()
      if (done) return false
      heard += value
    }
    return true
  }
  t.ok(await hears('event: state\ndata: {"credential_id":'))
  await fault('revoke')
  t.ok(await hears('"state":"logged_out"'))
  const change = heard.split('\n').findLast((line) => line.startsWith('data: '))
  t.match(JSON.parse(change!.slice(6)), {
    at: /^\d{4}-.*Z$/,
    to: 'signedOut',
    reason: 'session_revoked',
    state: 'logged_out',
    action: 'link_again',
    node: String,
    duration_ms: Number,
  })
  await state('logged_out')
  const ended = hears('nothing more')
  await service.restart()
  t.notOk(await ended, 'it ends when the service goes down')
  leaving.abort()
})

t.test('settings take booleans and nothing else', async (t) => {
  const { client, path, record } = await account('settled')
  const patch = (body: unknown): Promise<Answer> => client.ask('PATCH', `${path}/settings`, body)
  t.match(await patch({ include_self_updates: true }), {
    status: 200,
    body: { result: { settings: { include_self_updates: true, include_deleted_updates: false } } },
  })
  const wrong = await patch({
    include_channel_updates: 'yes',
    include_self_updates: false,
    extra: 1,
  })
  t.match(wrong, { status: 400, body: { ok: false, error_code: 400 } })
  t.match(wrong.body.description, /^Bad Request: field "\w+" (is unknown|must be a boolean)$/)
  t.same(wrong.body.errors.map(({ field }: { field: string }) => field).sort(), [
    'extra',
    'include_channel_updates',
  ])
  t.match(await patch([]), { status: 400 })
  t.match(await patch({}), { status: 200 })
  t.match((await record()).settings, { include_self_updates: true, include_channel_updates: false })
  await service.restart()
  t.match((await record()).settings, { include_self_updates: true })
})

t.test('settings that are changed at the same time are all kept', async (t) => {
  const { client, path, credentialId } = await account('settled_together')
  const names = ['self_updates', 'channel_updates', 'channel_update_recovery', 'deleted_updates']
  const change = (name: string) =>
    client.result('PATCH', `${path}/settings`, { [`include_${name}`]: true })
  await Promise.all(names.map(change))
  const told = service.gateway.core.supervisor.peek(credentialId)?.snapshot.context.settings
  t.same(Object.values(told ?? {}), [true, true, true, true])
  t.same(Object.values((await client.result('GET', path)).settings), [true, true, true, true])
})
