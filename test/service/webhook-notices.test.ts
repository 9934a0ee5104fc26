/** An endpoint that gets nothing for long: its owner is told, once, and failures outlive a restart. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

t.test('the owner is told in the timeline, once, whatever restarts', async (t) => {
  const { service, client, ada, key, keyId, credentialId } = await scene(t, {})
  const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  // It asks to be left alone: nothing is tried again before this test says so.
  const receiver = await Receiver.open(t, (_, response) =>
    response.writeHead(500, { 'retry-after': '3600' }).end(),
  )
  await client.bot(key, 'setWebhook', { url: receiver.url })
  await client.write(ada.id, '@gatebot', 'nobody hears this')
  await receiver.count(1)
  const resting = () =>
    until(async () => {
      const { webhook } = await client.result('GET', `/api_keys/${keyId}`)
      const isResting = Date.parse(webhook.next_attempt_at) > Date.now() + 600_000
      // The next attempt is known before what went wrong is stored.
      return isResting && webhook.last_error_message && webhook
    })
  const { state, last_error_message, failing_since } = await resting()
  t.equal(state, 'resting')
  t.equal(last_error_message, 'Wrong response from the webhook: 500 Internal Server Error')
  t.type(failing_since, 'string')

  const attempts = async (): Promise<number[]> => {
    const path = `/user/logs/webhook-deliveries?api_key_id=${keyId}`
    const { items } = await client.result('GET', path)
    return items.map(({ attempt }: { attempt: number }) => attempt)
  }
  const lines = async () => {
    const path = `/platforms/credentials/${credentialId}/transitions`
    const { items } = await client.result('GET', path)
    return items.filter(({ event }: { event: string }) => event.startsWith('webhook.'))
  }
  const back = async (hours: number) => {
    await resting()
    await db.query(
      'update webhook set failing_since = now() - make_interval(hours => $1), due_at = now()',
      [hours],
    )
    const before = receiver.received.length
    await service.restart()
    await receiver.count(before + 1)
  }
  for (const hours of [2, 2, 30]) await back(hours)
  const told = await until(async () => {
    const found = await lines()
    return found.length === 2 && found
  })
  t.match(told, [
    { reason: 'failing_24_hours', actor: `api_key:${keyId}`, to: 'failing' },
    { reason: 'failing_1_hour', event: 'webhook.failing' },
  ])
  const seen = await until(async () => {
    const found = await attempts()
    return found.length === receiver.received.length && found
  })
  t.same(
    seen,
    seen.toSorted((a, b) => b - a),
    'the count of tries goes on',
  )
  t.equal(seen[0], seen.length)
})
