/** logOut and close: the key's stay ends, the account's does not. */
import t from 'tap'
import { until } from '../support/client.ts'
import { scene } from './scene.ts'

const { client, ada, credentialId, key, keyId } = await scene(t)
const call = (method: string, parameters: object = {}) => client.bot(key, method, parameters)
const write = (text: string) => client.write(ada.id, '@gatebot', text)

t.test('close lets go of a waiting poll and keeps everything', async (t) => {
  const waiting = call('getUpdates', { timeout: 50 })
  await until(
    async () => (await client.result('GET', `/api_keys/${keyId}`)).receive_mode === 'polling',
  )
  t.match(await call('close'), { status: 200, body: { ok: true, result: true } })
  t.strictSame((await waiting).body, { ok: true, result: [] })
  await write('kept')
  t.match(await call('getUpdates', { timeout: 5 }), {
    body: { result: [{ message: { text: 'kept' } }] },
  })
})

t.test('logOut removes the webhook and drops what is pending', async (t) => {
  await write('dropped')
  await call('setWebhook', { url: 'http://127.0.0.1:9/hook' })
  // It and the one before, which no poll has confirmed; or it would come after the end, and stay.
  await until(async () => {
    const { pending_update_count: count } = (await call('getWebhookInfo')).body.result
    return count === 2
  })
  t.match(await call('logOut'), { status: 200, body: { ok: true, result: true } })
  t.match(await call('getWebhookInfo'), { body: { result: { url: '', pending_update_count: 0 } } })
  t.match(await client.state(credentialId, 'active'), { state: 'active' })
})
