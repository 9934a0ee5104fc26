/** A delivery that crashes: its owner sees it, nothing is lost, and setting the webhook again is the way out. */
import t from 'tap'
import { until } from '../support/client.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

t.test('giving up is shown, and setWebhook ends it', async (t) => {
  const { service, client, ada, key, keyId, credentialId } = await scene(t, {})
  const { port } = service.gateway.core.webhooks
  let isBroken = true
  const receiver = await Receiver.open(t, (_, response) =>
    response.writeHead(isBroken ? 500 : 200).end(),
  )
  const { saveState } = port
  port.saveState = (...told) => {
    if (isBroken) throw new Error('boom')
    return saveState(...told)
  }
  await client.bot(key, 'setWebhook', { url: receiver.url })
  await client.write(ada.id, '@gatebot', 'one')
  const webhook = async () => (await client.result('GET', `/api_keys/${keyId}`)).webhook
  const info = async () => (await client.bot(key, 'getWebhookInfo')).body.result
  await until(async () => (await webhook()).state === 'crashed')
  t.match(await info(), {
    last_error_message: /^The delivery crashed inside the service; it goes on in a moment$/,
    pending_update_count: 1,
  })
  await until(async () => (await webhook()).state === 'failed', 60_000)
  const shown = await until(async () => {
    const found = await webhook()
    return /again and again/.test(found.last_error_message) && found
  })
  t.match(await info(), {
    last_error_message: shown.last_error_message,
    last_error_date: shown.last_error_date,
  })
  const { items } = await client.result('GET', `/platforms/credentials/${credentialId}/transitions`)
  const lines = items.filter(({ event }: { event: string }) => event === 'webhook.failed')
  t.match(lines, [{ reason: 'crash_loop', to: 'failed', actor: `api_key:${keyId}` }])

  isBroken = false
  receiver.received.length = 0
  await client.write(ada.id, '@gatebot', 'two')
  const set = await client.bot(key, 'setWebhook', { url: receiver.url })
  t.equal(set.body.description, 'Webhook was set', 'the same address is no reason to do nothing')
  await receiver.count(2)
  const texts = receiver.received.map(({ update }) => update.message.text)
  t.same(texts, ['one', 'two'])
  t.match(await webhook(), { state: 'delivering', last_error_message: undefined })
})
