/** Updates that a key will never get are told of, and what a call wrote bears the call's id. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { retainUpdates } from '../../src/updates/retention.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { scene } from './scene.ts'

const { service, client, ada, credentialId, key, keyId } = await scene(t, {
  env: { UPDATE_LIMIT: '10' },
})
const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => db.close())
const webhookInfo = async () => (await client.bot(key, 'getWebhookInfo')).body.result
const record = () => client.result('GET', `/api_keys/${keyId}`)

t.test('updates that retention took unread are told of', async (t) => {
  t.match(await record(), { dropped_update_count: 0, dropped_at: null })
  t.notOk('last_error_message' in (await webhookInfo()))
  const before = Date.now()
  for (let n = 1; n <= 13; n++) await client.write(ada.id, '@gatebot', `message ${n}`)
  await until(async () => (await webhookInfo()).pending_update_count === 13)

  const { updates } = service.gateway.core
  const removed = await retainUpdates(db, { days: 7, updates: 10 }, (credential, updateId) =>
    updates.removed(credential, updateId),
  )
  t.equal(removed, 3)

  const told = await record()
  t.match(told, { dropped_update_count: 3, pending_update_count: 10 })
  const at = Date.parse(told.dropped_at)
  t.ok(at >= before - 1_000 && at <= Date.now() + 1_000)
  t.match(await webhookInfo(), {
    pending_update_count: 10,
    last_error_date: Math.floor(at / 1_000),
    last_error_message:
      /^3 updates were dropped unread: they were older than the retention time or beyond the limit$/,
  })
  const { body } = await client.bot(key, 'getUpdates')
  t.equal(body.result.length, 10)
  t.match(body.result[0], { message: { text: 'message 4' } }, 'the newest are kept')
})

t.test('an own message in the log bears the id of the call that sent it', async (t) => {
  await client.result('PATCH', `/platforms/credentials/${credentialId}/settings`, {
    include_self_updates: true,
  })
  const sent = await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'traced' })
  t.equal(sent.status, 200)
  const id = sent.headers.get('x-request-id')
  t.ok(id)
  const rows = await db.query<{ trace_id: string; api_key_id: number }>(
    'select trace_id, api_key_id from update_log where credential_id = $1 and trace_id is not null',
    [credentialId],
  )
  t.same(rows, [{ trace_id: id, api_key_id: keyId }])
})
