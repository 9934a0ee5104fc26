/** setWebhook, deleteWebhook and getWebhookInfo over HTTP, and getUpdates beside them. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { good } from '../webhooks/certificates.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { refused, scene } from './scene.ts'

const { service, client, key, ada, credentialId } = await scene(t, {})
/** Setting is paced by key: each test has one of its own. */
const bot = async () => {
  const { key, api_key_id: id } = await client.key(credentialId)
  return {
    id: id as number,
    key,
    call: (method: string, body: unknown = {}) => client.bot(key, method, body),
  }
}
const described = (description: string) => ({ ok: true, result: true, description })
const bad = (reason: string) => refused(400, `Bad Request: ${reason}`)

t.test('a webhook is set, found to be set, and deleted', async (t) => {
  const receiver = await Receiver.open(t)
  const { call } = await bot()
  const secret_token = 'a-Secret_1'
  const set = await call('setWebhook', { url: receiver.url, secret_token, max_connections: 700 })
  t.same(set.body, described('Webhook was set'))
  t.same((await call('getWebhookInfo')).body.result, {
    url: receiver.url,
    has_custom_certificate: false,
    pending_update_count: 0,
    max_connections: 100,
    ip_address: '127.0.0.1',
  })
  await client.write(ada.id, '@gatebot', 'hello')
  const [first] = await receiver.count(1)
  t.match(first?.headers, {
    'x-telegram-bot-api-secret-token': secret_token,
    'content-type': 'application/json',
    'webhook-id': /^\d+-\d+$/,
    'webhook-timestamp': /^\d{10}$/,
    connection: 'keep-alive',
  })
  t.equal(first?.path, '/hook')
  t.same(Object.keys(first?.update), ['update_id', 'message'])
  t.equal(first?.update.message.text, 'hello')

  t.same((await call('deleteWebhook')).body, described('Webhook was deleted'))
  t.same((await call('deleteWebhook')).body, described('Webhook is already deleted'))
  t.equal((await call('getWebhookInfo')).body.result.url, '')
  t.same((await call('getUpdates')).body.result, [], 'what was delivered is not polled again')
})

t.test('the address is shown as it was given', async (t) => {
  const receiver = await Receiver.open(t)
  const { origin, host } = new URL(receiver.url)
  const addresses = {
    [origin]: '/',
    [`${origin}/`]: '/',
    [`${origin}?a=1`]: '/?a=1',
    [`HTTP://${host}/a/../{t}#part`]: '/%7Bt%7D',
  }
  for (const [url, path] of Object.entries(addresses)) {
    const { call } = await bot()
    t.match(await call('setWebhook', { url }), { status: 200 })
    t.equal((await call('getWebhookInfo')).body.result.url, url)
    const before = receiver.received.length
    await client.write(ada.id, '@gatebot', url)
    t.equal((await receiver.count(before + 1))[before]?.path, path)
    await call('deleteWebhook')
  }
})

t.test('whether it is set already is told by what was given', async (t) => {
  const { id, call } = await bot()
  const given = 'localhost:443/{t}#part'
  const set = async (url: string) => {
    await new Promise((resolve) => setTimeout(resolve, 1_050))
    return (await call('setWebhook', { url })).body
  }
  t.same(await set(given), described('Webhook was set'))
  t.equal((await call('getWebhookInfo')).body.result.url, `https://${given}`)
  t.same(await set(given), described('Webhook is already set'))
  t.same(await set('https://localhost/%7Bt%7D'), described('Webhook was set'))
  const { webhook } = await client.result('GET', `/api_keys/${id}`)
  t.equal(webhook.url, 'https://localhost/%7Bt%7D', 'the owner sees where it leads')
})

t.test('setting the same again changes nothing but the kinds', async (t) => {
  const receiver = await Receiver.open(t)
  const { call } = await bot()
  await call('setWebhook', { url: receiver.url })
  const soon = await call('setWebhook', { url: receiver.url })
  t.match(soon, { status: 429, body: { parameters: { retry_after: 1 } } }, 'once a second')
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  const again = await call('setWebhook', { url: receiver.url, allowed_updates: ['poll'] })
  t.same(again.body, described('Webhook is already set'))
  t.same((await call('getWebhookInfo')).body.result.allowed_updates, ['poll'])
})

t.test('a secret token has up to 256 characters, and only those of the reference', async (t) => {
  const allowed = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'
  for (const secret_token of ['x', allowed.repeat(4)]) {
    const receiver = await Receiver.open(t)
    const { call } = await bot()
    const set = await call('setWebhook', { url: receiver.url, secret_token })
    t.same(set.body, described('Webhook was set'), `${secret_token.length} characters`)
    await client.write(ada.id, '@gatebot', 'hello')
    const [first] = await receiver.count(1)
    t.equal(first?.headers['x-telegram-bot-api-secret-token'], secret_token)
    await call('deleteWebhook')
  }
  const refusals = [
    ...['.', 'x\n', 'é', '٣', `${allowed}:`].map((secret_token) => ({
      ...{ secret_token, reason: 'secret token contains unallowed characters' },
    })),
    { secret_token: `${allowed.repeat(4)}x`, reason: 'secret token is too long' },
    { secret_token: 'é'.repeat(129), reason: 'secret token is too long' },
  ]
  for (const { secret_token, reason } of refusals) {
    const url = 'https://bot.example.org/hook'
    const { call } = await bot()
    const answer = await call('setWebhook', { url, secret_token })
    t.match(answer, bad(reason), JSON.stringify(secret_token))
    t.equal((await call('getWebhookInfo')).body.result.url, '')
  }
})

t.test('what cannot be a webhook is refused, and the old one stays', async (t) => {
  const receiver = await Receiver.open(t)
  const refusals: [object, string][] = [
    [{ url: 'ftp://example.org/' }, 'invalid webhook URL specified'],
    [{ url: 'https://exa mple.org/' }, 'invalid webhook URL specified'],
    [{ url: 'https://' }, 'invalid webhook URL specified'],
    [{ url: receiver.url, secret_token: 'a b' }, 'secret token contains unallowed characters'],
    [{ url: receiver.url, secret_token: 'a'.repeat(257) }, 'secret token is too long'],
    [{ url: receiver.url, ip_address: 'localhost' }, 'bad webhook: Invalid IP address specified'],
    [
      { url: 'https://nobody.invalid/' },
      'bad webhook: Failed to resolve host: Name or service not known',
    ],
  ]
  const old = await bot()
  await old.call('setWebhook', { url: receiver.url })
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  for (const [index, [body, reason]] of refusals.entries()) {
    const { call } = index === refusals.length - 1 ? old : await bot()
    t.match(await call('setWebhook', body), bad(reason), reason)
  }
  await client.write(ada.id, '@gatebot', 'still there')
  await receiver.count(1)
  t.same(receiver.texts, ['still there'])
  await old.call('deleteWebhook')
})

t.test('polling and a webhook exclude each other', async (t) => {
  const receiver = await Receiver.open(t)
  const { call, id } = await bot()
  const waiting = call('getUpdates', { timeout: 20 })
  await until(() => service.gateway.core.keys.peek(id)?.snapshot.context.waiting)
  await call('setWebhook', { url: receiver.url })
  t.match(await waiting, refused(409, 'Conflict: terminated by setWebhook request'))
  t.match(
    await call('getUpdates'),
    refused(
      409,
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    ),
  )
  await call('deleteWebhook')
  t.equal((await call('getUpdates')).status, 200)
})

t.test('pending updates can be dropped on the way', async (t) => {
  const receiver = await Receiver.open(t)
  const { call } = await bot()
  await client.write(ada.id, '@gatebot', 'old')
  const pending = async () => (await call('getWebhookInfo')).body.result.pending_update_count
  await until(async () => (await pending()) === 1)
  await call('setWebhook', { url: receiver.url, drop_pending_updates: true })
  t.equal(await pending(), 0)
  await client.write(ada.id, '@gatebot', 'new')
  await receiver.count(1)
  t.same(receiver.texts, ['new'])
})

t.test('updates that waited are delivered, in order', async (t) => {
  const receiver = await Receiver.open(t)
  const { call } = await bot()
  const texts = Array.from({ length: 12 }, (_, index) => `number ${index}`)
  for (const text of texts) await client.write(ada.id, '@gatebot', text)
  await call('setWebhook', { url: receiver.url, max_connections: 5 })
  await receiver.count(12)
  t.same(receiver.texts, texts)
  t.equal(receiver.mostOpen, 1, 'one at a time in a chat')
})

t.test('the record of a key tells of its webhook', async (t) => {
  const receiver = await Receiver.open(t)
  const { call, id } = await bot()
  const { port } = receiver
  await call('setWebhook', { url: `http://user:pass@127.0.0.1:${port}/a?token=1` })
  await client.write(ada.id, '@gatebot', 'hello')
  const [first] = await receiver.count(1)
  t.equal(first?.headers.authorization, `Basic ${Buffer.from('user:pass').toString('base64')}`)
  t.equal(first?.path, '/a?token=1')
  const record = await client.result('GET', `/api_keys/${id}`)
  t.match(record, {
    receive_mode: 'webhook',
    webhook: {
      url: `http://127.0.0.1:${port}/a`,
      has_custom_certificate: false,
      max_connections: 40,
      state: 'delivering',
    },
  })
})

t.test('a key polls from its getUpdates until a webhook is set', async (t) => {
  const receiver = await Receiver.open(t)
  const { call, id } = await bot()
  const mode = async () => (await client.result('GET', `/api_keys/${id}`)).receive_mode
  const isMode = (wanted: string) => until(async () => (await mode()) === wanted)
  await call('getUpdates')
  await isMode('polling')
  await call('setWebhook', { url: receiver.url, allowed_updates: ['message'] })
  t.equal(await mode(), 'webhook')
  await call('deleteWebhook', { drop_pending_updates: true })
  // What the key has read is stored a moment later.
  await pause(300)
  t.equal(await mode(), 'none')
  await call('getUpdates')
  await isMode('polling')
})

t.test('a certificate of its own is uploaded and trusted', async (t) => {
  const receiver = await Receiver.open(t, undefined, good)
  const { key, call } = await bot()
  const form = new FormData()
  form.set('url', receiver.url)
  form.set('certificate', new Blob([good.cert]), 'cert.pem')
  const set = await fetch(`${client.url}/bot${key}/setWebhook`, { method: 'POST', body: form })
  t.same(await set.json(), described('Webhook was set'))
  t.match((await call('getWebhookInfo')).body.result, { has_custom_certificate: true })
  await client.write(ada.id, '@gatebot', 'over TLS')
  await receiver.count(1)
  t.same(receiver.texts, ['over TLS'])
  const wrong = await bot()
  form.set('certificate', new Blob(['no certificate']), 'cert.pem')
  const refusal = await fetch(`${client.url}/bot${wrong.key}/setWebhook`, {
    method: 'POST',
    body: form,
  })
  t.match(await refusal.json(), {
    error_code: 400,
    description: "Bad Request: bad webhook: can't parse the certificate",
  })
})

t.test('a key without the scope may not', async (t) => {
  const { key } = await client.key(credentialId, ['bot:send'])
  // logOut does what deleteWebhook does, and close ends the polls: both are about receiving alone.
  for (const method of ['setWebhook', 'deleteWebhook', 'getWebhookInfo', 'logOut', 'close']) {
    const answer = await client.bot(key, method)
    t.match(answer, refused(403, 'Forbidden: the key lacks the scope bot:receive'), method)
  }
})

t.test('an empty address deletes', async (t) => {
  t.same((await client.bot(key, 'setWebhook')).body, described('Webhook is already deleted'))
})
