/** A diagnosis step by step, over a restart, and every mistake that can be made with a key. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { linkedAccount, refused } from './scene.ts'

const service = await startService(t)

async function account(name: string) {
  const account = await linkedAccount(service, name)
  const { client } = account
  const diagnose = (keyId = account.keyId, body: object = { all: true }) =>
    client.result('POST', `/api_keys/${keyId}/diagnosis`, body)
  return { ...account, diagnose }
}

t.test('step by step, and on after a restart of the service', async (t) => {
  const { client, keyId, credentialId, diagnose } = await account('stepwise')
  const started = await diagnose(keyId, {})
  t.match(started, {
    diagnosis_id: /^[\w-]{22}$/,
    api_key_id: keyId,
    credential_id: credentialId,
    step: 'get_me',
    cause: null,
    next_action: null,
  })
  const pending = {
    verdict: 'pending',
    code: null,
    evidence: [],
    evidence_codes: [],
    remedy: null,
  }
  t.same(
    started.steps,
    ['get_me', 'credential', 'send', 'receive_mode', 'webhook_info'].map((step) => ({
      step,
      ...pending,
    })),
  )
  const path = `/api_keys/${keyId}/diagnosis/${started.diagnosis_id}`
  const first = await client.result('POST', `${path}/next`)
  t.match(first, { step: 'credential', steps: [{ verdict: 'passed', evidence: [/@stepwise/] }] })
  await service.restart()
  t.same(await client.result('GET', path), first)
  await client.state(credentialId, 'active')
  const second = await client.result('POST', `${path}/next`, {})
  t.match(second, { step: 'send', steps: [{}, { verdict: 'passed' }] })
  const rest = await client.result('POST', `${path}/next`, {
    all: true,
    send_to: '@stepwise_friend',
  })
  t.match(rest, { step: null, cause: null, steps: [{}, {}, { verdict: 'passed' }] })
  const over = 'Bad Request: the diagnosis is finished; start another'
  t.match(await client.ask('POST', `${path}/next`), refused(400, over))
})

t.test('steps that another node has taken meanwhile are not taken again', async (t) => {
  const { client, keyId, diagnose } = await account('elsewhere')
  const { diagnosis_id } = await diagnose(keyId, {})
  const path = `/api_keys/${keyId}/diagnosis/${diagnosis_id}`
  const first = await client.result('POST', `${path}/next`)
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  await database.query(
    `update diagnosis set findings = findings || '[{"step": "credential", "verdict": "passed", "evidence": ["seen"]}]'
      where id = $1`,
    [diagnosis_id],
  )
  t.match(await client.result('GET', path), {
    step: 'send',
    steps: [first.steps[0], { evidence: ['seen'] }, { verdict: 'pending' }],
  })
  const rest = await client.result('POST', `${path}/next`, { all: true })
  t.match(rest, { step: null, steps: [{}, { evidence: ['seen'] }, { verdict: 'skipped' }] })
})

t.test('a key that was revoked, or is over, or is another', async (t) => {
  const { client, credentialId, key, keyId, diagnose } = await account('mistaken')
  t.match((await diagnose(keyId, { all: true, key })).cause, null, 'the right key')
  const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`
  const other = (await client.key(credentialId)).key
  for (const given of [wrong, other, 'nonsense', '']) {
    const { cause, next_action } = await diagnose(keyId, { all: true, key: given })
    t.match(cause, { step: 'get_me', code: 'wrong_secret' })
    t.match(next_action, /rotate/)
  }
  const soon = new Date(Date.now() + 1_000).toISOString()
  await client.result('PATCH', `/api_keys/${keyId}`, { expires_at: soon })
  const expired = await until(async () => {
    const { cause } = await diagnose()
    return cause?.code === 'key_expired' && cause
  })
  t.match(expired, { step: 'get_me' })
  await client.result('DELETE', `/api_keys/${keyId}`)
  t.match((await diagnose()).cause, { step: 'get_me', code: 'key_revoked' })
})

t.test('a scope that is missing, until it is there', async (t) => {
  const { client, credentialId, ada, diagnose } = await account('scoped')
  const { key, api_key_id } = await client.key(credentialId, ['bot:receive'])
  const sending = await diagnose(api_key_id, { all: true, send_to: '@scoped_friend' })
  t.match(sending.cause, { step: 'send', code: 'missing_scope' })
  await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'hi' })
  const { cause, next_action } = await diagnose(api_key_id)
  t.match(cause, { step: 'get_me', code: 'missing_scope', text: /bot:send/ })
  t.match(next_action, /PATCH/)
  await client.result('PATCH', `/api_keys/${api_key_id}`, { scopes: ['bot:send'] })
  const receiving = await diagnose(api_key_id)
  t.match(receiving, { cause: null, steps: [{}, {}, {}, { verdict: 'skipped' }, {}] })
  await client.bot(key, 'getUpdates')
  t.match((await diagnose(api_key_id)).cause, { code: 'missing_scope', text: /bot:receive/ })
})

t.test('a bot that polled until its key lost the scope for it', async (t) => {
  const { client, key, keyId, diagnose } = await account('unscoped')
  await client.bot(key, 'getUpdates')
  await client.result('PATCH', `/api_keys/${keyId}`, { scopes: ['bot:send'] })
  const { cause, next_action } = await diagnose()
  t.match(cause, { step: 'receive_mode', code: 'missing_scope', text: /bot:receive/ })
  t.match(next_action, /^Add bot:receive to the scopes/)
})

t.test('a key that may not be used where its bot is', async (t) => {
  const { client, key, keyId, diagnose } = await account('elsewhere')
  const allow = (...allowed_ips: string[]) =>
    client.result('PATCH', `/api_keys/${keyId}`, { allowed_ips })
  await allow('192.0.2.1')
  t.match(await client.bot(key, 'getUpdates'), { status: 403 })
  const { cause, next_action, steps } = await diagnose()
  t.match(steps[0].verdict, 'failed')
  t.match(cause, { step: 'get_me', code: 'address_not_allowed', text: /^Calls from 127\.0\.0\.1 / })
  t.match(next_action, `Add 127.0.0.1 to allowed_ips with PATCH /api_keys/${keyId}`)
  await allow('192.0.2.1', '127.0.0.1')
  t.match(await diagnose(), { cause: null }, 'the step that was told works')
})

t.test('a stranger at another address, beside a webhook that works', async (t) => {
  const { client, key, keyId, ada, bot, diagnose } = await account('watched')
  const receiver = await Receiver.open(t)
  await client.bot(key, 'setWebhook', { url: receiver.url })
  await client.result('PATCH', `/api_keys/${keyId}`, { allowed_ips: ['192.0.2.1'] })
  await client.write(ada.id, bot.id, 'hello')
  await receiver.count(1)
  t.match(await client.bot(key, 'getMe'), { status: 403 })
  const { cause, steps } = await diagnose()
  t.match(cause, { step: 'get_me', code: 'address_not_allowed' })
  t.notOk(steps.some(({ verdict }: { verdict: string }) => verdict === 'failed'))
})

t.test('a filter that leaves out nearly all that comes', async (t) => {
  const { client, key, ada, bot, credentialId, diagnose } = await account('chosen')
  const { key: all } = await client.key(credentialId)
  await client.bot(key, 'getUpdates', { allowed_updates: ['edited_message'] })
  const { message_id } = await client.write(ada.id, bot.id, 'one')
  const place = `/sandbox/people/${ada.id}/chats/${bot.id}/messages/${message_id}`
  await client.result('PATCH', place, { text: 'two' })
  await until(async () => (await client.bot(key, 'getUpdates')).body.result.length === 1)
  const texts = Array.from({ length: 120 }, (_, place) => `further ${place}`)
  await Promise.all(texts.map((text) => client.write(ada.id, bot.id, text)))
  for (let seen = 0, offset = 0; seen < texts.length; ) {
    const { result } = (await client.bot(all, 'getUpdates', { offset, timeout: 5 })).body
    seen += result.length
    offset = (result.at(-1)?.update_id ?? 0) + 1
  }
  t.match(await diagnose(), { cause: null })
})

t.test('a filter that leaves out all that comes', async (t) => {
  const { client, key, ada, bot, diagnose } = await account('filtered')
  await client.bot(key, 'getUpdates', { allowed_updates: ['callback_query', 'edited_message'] })
  t.match(await diagnose(), { cause: null }, 'nothing has come, so nothing was left out')
  await client.write(ada.id, bot.id, 'hello?')
  const left = await until(async () => {
    const { cause, next_action } = await diagnose()
    return cause && { cause, next_action }
  })
  t.match(left.cause, { step: 'receive_mode', code: 'updates_left_out', text: /: message$/ })
  t.match(left.next_action, /^Name message in allowed_updates of getUpdates or setWebhook/)
  await client.bot(key, 'getUpdates', { allowed_updates: ['message'] })
  await client.write(ada.id, bot.id, 'and now?')
  await until(async () => (await client.bot(key, 'getUpdates')).body.result.length === 1)
  t.match(await diagnose(), { cause: null }, 'the step that was told works')
})

t.test('two instances that poll with one key', async (t) => {
  const { client, key, keyId, diagnose } = await account('doubled')
  const first = client.bot(key, 'getUpdates', { timeout: 20 })
  await until(() => service.gateway.core.keys.peek(keyId)?.snapshot.context.waiting)
  const second = client.bot(key, 'getUpdates', { timeout: 5 })
  t.match(await first, { status: 409 })
  t.match((await diagnose()).cause, { step: 'receive_mode', code: 'two_pollers' })
  await second
})

t.test('updates that nobody fetches', async (t) => {
  const { client, bot, ada, diagnose, keyId } = await account('unread')
  await client.write(ada.id, bot.id, 'hello?')
  await until(async () => {
    const { pending_update_count } = await client.result('GET', `/api_keys/${keyId}`)
    return pending_update_count === 1
  })
  const { cause, steps } = await diagnose()
  t.match(cause, { step: 'receive_mode', code: 'nobody_receives' })
  t.match(steps[4], { verdict: 'passed', evidence: ['1 update waits'] })
})

t.test('a credential that was deleted', async (t) => {
  const { client, credentialId, diagnose } = await account('deleted')
  await client.result('DELETE', `/platforms/credentials/${credentialId}`)
  const { steps, cause, next_action } = await diagnose()
  t.match(steps, [{ code: 'key_revoked' }, { code: 'credential_deleted' }])
  t.match(cause, { code: 'credential_deleted' }, 'no key can be made for it')
  t.equal(next_action, 'Link the account again and make a key for it')
})

t.test('only its user reaches it, and only by its key', async (t) => {
  const { client, credentialId, keyId, key, diagnose } = await account('private')
  const { diagnosis_id } = await diagnose(keyId, {})
  const path = `/api_keys/${keyId}/diagnosis`
  const stranger = await service.client()
  const gone = refused(404, 'Not Found')
  t.match(await stranger.ask('POST', path, {}), gone)
  t.match(await stranger.ask('GET', `${path}/${diagnosis_id}`), gone)
  t.match(await stranger.ask('POST', `${path}/${diagnosis_id}/next`, {}), gone)
  const { api_key_id } = await client.key(credentialId)
  t.match(await client.ask('GET', `/api_keys/${api_key_id}/diagnosis/${diagnosis_id}`), gone)
  t.match(await client.ask('GET', `${path}/unheard-of`), gone)
  t.match(await client.ask('POST', '/api_keys/1/diagnosis'), gone)
  const unsigned = await fetch(`${service.url}${path}`, { method: 'POST' })
  t.match(await unsigned.json(), { ok: false, error_code: 401, description: 'Unauthorized' })
  const { items } = await client.result('GET', '/user/logs/api-requests?limit=1000')
  t.notOk(JSON.stringify(items).includes(key.split(':')[1] ?? ''), 'no key is in the log')
})

t.test('bad input is refused and names the field', async (t) => {
  const { client, keyId, diagnose } = await account('inputs')
  const path = `/api_keys/${keyId}/diagnosis`
  const { diagnosis_id } = await diagnose(keyId, {})
  const bad = [{ all: 'yes' }, { send_to: '' }, { send_to: 1 }, { extra: 1 }]
  for (const body of [...bad, { key: 1 }]) {
    const [field] = Object.keys(body)
    t.match(await client.ask('POST', path, body), { status: 400, body: { errors: [{ field }] } })
  }
  for (const body of [...bad, { key: 'x' }]) {
    const [field] = Object.keys(body)
    t.match(await client.ask('POST', `${path}/${diagnosis_id}/next`, body), {
      status: 400,
      body: { errors: [{ field }] },
    })
  }
})

t.test('a thousand are begun in a day, and no more', async (t) => {
  const { client, keyId, diagnose } = await account('often')
  await diagnose(keyId, {})
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  await database.query(
    `update quota set uses = array(select now() from generate_series(1, 1000))
     where key = 'diagnosis:user:' || (select user_id from api_key where id = $1)`,
    [keyId],
  )
  t.match(await client.ask('POST', `/api_keys/${keyId}/diagnosis`, {}), { status: 429 })
})
