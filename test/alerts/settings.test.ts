/** Where to tell of incidents, over HTTP: set, tried out, refused; and a chat that arrives, also after a kill. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { startRemote } from '../nodes/remote-service.ts'
import { refused, scene } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { httpReceiver } from '../support/http-receiver.ts'
import { mailServer } from '../support/mail-server.ts'

const mails = await mailServer(t)
const env = {
  SMTP_URL: mails.url,
  SMTP_FROM: 'Chapar <alerts@example.com>',
  WEBHOOK_ALLOW_PRIVATE: 'true',
}
const { service, client, ada, bot, credentialId, keyId } = await scene(t, { env })
const receiver = await httpReceiver(t)

const put = (body: object, by = client) => by.ask('PUT', '/alerts/settings', body)
const tryOut = (channel: string, by = client) =>
  by.ask('POST', '/alerts/settings/test', { channel })

t.test('at first nothing is set', async (t) => {
  const { version, ...settings } = await client.result('GET', '/alerts/settings')
  t.match(version, /^[\w-]{22}$/)
  t.strictSame(settings, {
    minutes: 5,
    backlog_minutes: 15,
    webhook: null,
    chat: null,
    email: null,
    email_available: true,
  })
  t.match(await tryOut('email'), refused(400, 'Bad Request: field "channel" is not set'))
})

t.test('all ways are set and tried out', async (t) => {
  const url = `${receiver.url}/0123456789abcdef0123456789abcdef`
  const { body } = await put({
    minutes: 10,
    backlog_minutes: 30,
    webhook: { url },
    chat: { api_key_id: keyId, chat_id: `${ada.id}` },
    email: 'ada@example.com',
  })
  t.match(body.result, {
    minutes: 10,
    backlog_minutes: 30,
    webhook: { url: `${receiver.url}/[hidden]`, secret: /^whsec_/, previous_until: null },
    chat: { api_key_id: keyId, chat_id: new RegExp(`^${ada.id}$`) },
    email: 'ada@example.com',
  })
  t.strictSame(await client.result('GET', '/alerts/settings'), body.result)

  t.match((await tryOut('webhook')).body.result, { state: 'sent', attempts: 1, code: null })
  const [sent] = receiver.received
  const verified = new Webhook(body.result.webhook.secret).verify(sent!.text, sent!.headers)
  t.match(verified, { type: 'alert.test', data: { text: /^This is a test/ } })

  t.match((await tryOut('chat')).body.result, { state: 'sent' })
  const inbox = await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`)
  t.match(inbox.messages.at(-1), { text: /^This is a test/ })

  t.match((await tryOut('email')).body.result, { state: 'sent', ended_at: /Z$/, next_at: null })
  t.match(mails.mails, [{ to: ['ada@example.com'] }])
  const { items } = await client.result('GET', '/alerts/notifications?limit=2')
  t.match(items, [{ channel: 'email' }, { channel: 'chat' }])
  t.match(await client.result('GET', '/alerts/notifications?state=lost'), { items: { length: 0 } })
})

t.test('the shown address may be sent back, and the secret is replaced on request', async (t) => {
  const before = await client.result('GET', '/alerts/settings')
  const { url, secret } = before.webhook
  const { body } = await put({ minutes: 10, webhook: { url } })
  t.match(body.result, { webhook: { url, secret }, chat: null, email: null })
  const rotated = await client.result('POST', '/alerts/settings/secret')
  t.not(rotated.webhook.secret, secret)
  t.match(rotated.webhook.previous_until, /Z$/)
  await tryOut('webhook')
  const sent = receiver.received.at(-1)!
  for (const one of [secret, rotated.webhook.secret]) {
    t.match(new Webhook(one).verify(sent.text, sent.headers), { type: 'alert.test' })
  }
})

t.test('what cannot be is refused', async (t) => {
  const stranger = await service.client()
  const theirs = { chat: { api_key_id: keyId, chat_id: '1' } }
  t.match(await put(theirs, stranger), { status: 404 })
  const silent = await client.key(credentialId, ['bot:receive'])
  t.match(
    await put({ chat: { api_key_id: silent.api_key_id, chat_id: '1' } }),
    refused(403, 'Forbidden: the key lacks the scope bot:send'),
  )
  t.match(await put({ webhook: { url: 'ftp://example.com' } }), { status: 400 })
  t.match(await put({ webhook: { url: 'https://a:b@example.com/' } }), { status: 400 })
  for (const email of ['a@b, c@d', 'Ada <a@b>', 'a b@c', 'nobody', 'a@b\nBcc: c@d']) {
    t.match(await put({ email }), { status: 400 }, email)
  }
  for (const minutes of [0, 1_441, 1.5]) t.match(await put({ minutes }), { status: 400 })
  t.match(await put({ phone: '+1' }), { status: 400 })
  t.match(await tryOut('pigeon'), { status: 400 })
  t.match(
    await stranger.ask('POST', '/alerts/settings/secret'),
    refused(400, 'Bad Request: there is no webhook for alerts'),
  )
  t.match(await stranger.result('GET', '/alerts/notifications'), { items: { length: 0 } })
  t.match(await client.ask('GET', '/alerts/notifications?state=eaten'), { status: 400 })
})

t.test('a chat that is not there and a key that is revoked are told at once', async (t) => {
  const other = await service.client()
  const cy = await other.person('Cy', 'cy_of_alerts')
  const key = await other.key(await other.link(cy))
  await put({ chat: { api_key_id: key.api_key_id, chat_id: '4711' } }, other)
  t.match((await tryOut('chat', other)).body.result, { state: 'lost', code: 'chat_failed' })
  await other.result('DELETE', `/api_keys/${key.api_key_id}`)
  t.match((await tryOut('chat', other)).body.result, { state: 'lost', code: 'key_gone' })
})

t.test('a change that was made meanwhile is not lost', async (t) => {
  const other = await service.client()
  const { version } = await other.result('GET', '/alerts/settings')
  const one = await put({ email: 'one@example.com', version }, other)
  t.equal(one.status, 200)
  t.match(
    await put({ webhook: { url: receiver.url }, version }, other),
    refused(409, 'Conflict: the settings were changed meanwhile'),
  )
  t.strictSame(await other.result('GET', '/alerts/settings'), one.body.result)
  const both = { email: 'one@example.com', webhook: { url: receiver.url } }
  const { body } = await put({ ...both, version: one.body.result.version }, other)
  const renewed = await other.result('POST', '/alerts/settings/secret')
  t.equal(renewed.version, body.result.version, 'another secret is no other setting')
  t.equal((await put({ ...both, minutes: 7, version: renewed.version }, other)).status, 200)
})

t.test('of many changes at once none has a secret that is not kept', async (t) => {
  const other = await service.client()
  const first = await Promise.all(
    [1, 2, 3].map(() => put({ webhook: { url: receiver.url } }, other)),
  )
  const secrets = new Set(first.map(({ body }) => body.result.webhook.secret))
  t.equal(secrets.size, 1, 'all of them show the one that signs')
  const renewing = other.result('POST', '/alerts/settings/secret')
  const setting = [1, 2, 3].map((minutes) =>
    put({ minutes, webhook: { url: receiver.url } }, other),
  )
  const [renewed] = await Promise.all([renewing, ...setting])
  const { webhook } = await other.result('GET', '/alerts/settings')
  t.equal(webhook.secret, renewed.webhook.secret)
})

t.test('tests are few', async (t) => {
  const other = await service.client()
  await put({ email: 'many@example.com' }, other)
  for (let n = 0; n < 5; n++) t.equal((await tryOut('email', other)).status, 200)
  t.equal((await tryOut('email', other)).status, 429)
})

t.test('an export has the settings, and nothing that is sealed', async (t) => {
  const other = await service.client()
  await put({ email: 'kept@example.com' }, other)
  await tryOut('email', other)
  const { alert_setting, alert_notification } = await other.result('GET', '/user/export')
  t.match(alert_setting, [{ minutes: 5, channels: ['email'] }])
  t.notOk('sealed' in alert_setting[0])
  t.match(alert_notification, [{ channel: 'email', state: 'sent' }])
})

t.test('a killed service leaves what it was sending to the next one', async (t) => {
  const { url: databaseUrl, database } = await testDatabase(t)
  const folder = await mkdtemp(join(tmpdir(), 'chapar-alerts-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const more = { KEY_FILE: join(folder, 'keys'), WEBHOOK_ALLOW_PRIVATE: 'true' }
  const first = await startRemote(t, { databaseUrl, name: 'first', env: more })
  const user = await first.client('+14155559001')
  const slow = await httpReceiver(t)
  slow.hangs = true
  const { result } = (await put({ webhook: { url: slow.url } }, user)).body
  t.equal(result.email_available, false)
  t.match(
    await put({ email: 'ada@example.com' }, user),
    refused(400, 'Bad Request: field "email" cannot be used: this service sends no mail'),
  )
  const cut = tryOut('webhook', user).then(
    () => t.fail('the service was killed'),
    () => undefined,
  )
  await slow.count(1)
  await first.end('SIGKILL')
  await cut
  slow.hangs = false
  // As if a minute were over.
  await database.query('update alert_notification set next_at = now()')
  const second = await startRemote(t, { databaseUrl, name: 'second', env: more })
  const again = user.at(second.url)
  await until(async () => {
    const { items } = await again.result('GET', '/alerts/notifications')
    return items[0].state === 'sent'
  })
  const [one, two] = slow.received
  t.equal(slow.received.length, 2)
  t.equal(one!.headers['webhook-id'], two!.headers['webhook-id'])
  t.match(new Webhook(result.webhook.secret).verify(two!.text, two!.headers), {
    type: 'alert.test',
  })
})
