/** From a call to what it did: the operation, the update that it caused, and the attempts to deliver that. */
import pg from 'pg'
import t from 'tap'
import { until } from '../support/client.ts'
import { answers, Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

const { service, client, ada, credentialId, key, keyId } = await scene(t)
await client.result('PATCH', `/platforms/credentials/${credentialId}/settings`, {
  include_self_updates: true,
})

/** Sends, and resolves with the line of the log. */
async function sent(text: string) {
  const answer = await fetch(`${service.url}/bot${key}/sendMessage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chat_id: ada.id, text }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  const id = answer.headers.get('x-request-id')
  return until(async () => {
    const { items } = await client.result(
      'GET',
      `/user/logs/api-requests?api_key_id=${keyId}&request_id=${id}`,
    )
    return items[0]
  })
}
const caused = (request: { request_id: string; at: string }, id = keyId) =>
  client.result('GET', `/api_keys/${id}/requests/${request.request_id}/updates?at=${request.at}`)

t.test('an update that no webhook attempted is shown all the same', async (t) => {
  const request = await sent('nobody listens')
  const updates = await until(async () => {
    const found = await caused(request)
    return found.length > 0 && found
  })
  t.match(updates, [{ kind: 'message', chat_id: ada.id, attempts: { length: 0 } }])
  t.equal(updates.length, 1)
})

t.test('its attempts at the webhook of another key follow the update', async (t) => {
  const receiver = await Receiver.open(t, answers(500))
  const other = await client.key(credentialId)
  await client.bot(other.key, 'setWebhook', { url: receiver.url })
  const request = await sent('listened to')
  const [update] = await until(async () => {
    const found = await caused(request)
    return found[0]?.attempts.length > 0 && found
  })
  t.match(update.attempts[0], { api_key_id: other.api_key_id, attempt: 1, status: 500 })
  const path = `/user/logs/webhook-deliveries?api_key_id=${other.api_key_id}`
  const { items } = await client.result('GET', `${path}&trace_id=${request.request_id}`)
  t.match(items.at(-1), {
    update_id: update.update_id,
    trace_id: request.request_id,
    update_at: update.at,
    cause_api_key_id: keyId,
  })
  const db = new pg.Client({ connectionString: service.databaseUrl })
  await db.connect()
  t.teardown(() => db.end())
  await db.query('delete from update_log where credential_id = $1', [credentialId])
  const { items: left } = await client.result('GET', `${path}&update_id=${update.update_id}`)
  const gone = { trace_id: request.request_id, update_at: null, cause_api_key_id: null }
  t.match(left.at(-1), gone, 'the way to the call is gone with the update')
})

t.test('a call is shown with the operation that its method stands for', async (t) => {
  t.equal((await sent('operated')).operation, 'send')
  await client.bot(key, 'getMe')
  const [asked] = await until(async () => {
    const { items } = await client.result('GET', '/user/logs/api-requests?method=getMe')
    return items.length > 0 && items
  })
  t.equal(asked.operation, null, 'answered without the account')
})

t.test('only its owner follows a call, from a time that is one', async (t) => {
  const request = { request_id: 'unknown', at: new Date().toISOString() }
  t.same(await caused(request), [])
  const path = `/api_keys/${keyId}/requests/unknown/updates`
  const stranger = await service.client()
  t.match(await stranger.ask('GET', `${path}?at=${request.at}`), { status: 404 })
  t.match(await client.ask('GET', path), { status: 400 })
  t.match(await client.ask('GET', `${path}?at=yesterday`), { status: 400 })
  t.equal((await fetch(`${service.url}${path}?at=${request.at}`)).status, 401)
})
