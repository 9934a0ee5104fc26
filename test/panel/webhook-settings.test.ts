/** A webhook in its owner's api: set, tried and removed without the key itself. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)
const client = await service.client()
const person = await client.person('Bot', 'hooked_bot')
const friend = await client.person('Friend')
const credentialId = await client.link(person)
const { api_key_id } = await client.key(credentialId)
const path = `/api_keys/${api_key_id}/webhook`

const received: { headers: Record<string, unknown>; body: unknown }[] = []
let status = 200
const receiver = createServer(async (request, response) => {
  received.push({ headers: request.headers, body: JSON.parse(await text(request)) })
  response.writeHead(status).end()
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
t.teardown(() => receiver.close())
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`

/** At most one of these calls a second is let through. */
const patient = (method: string, suffix: string, body?: object) =>
  until(async () => {
    const answer = await client.ask(method, `${path}${suffix}`, body)
    return answer.status !== 429 && answer
  })

t.test('a test delivery says how it went, before anything is set', async (t) => {
  t.match(await patient('POST', '/test', { url, secret_token: 's-1' }), {
    body: { ok: true, result: { delivered: true, status: 200, error: null, duration_ms: Number } },
  })
  t.match(received.pop(), {
    headers: { 'x-telegram-bot-api-secret-token': 's-1', 'webhook-id': String },
    body: { update_id: 0 },
  })
  status = 503
  t.match(await patient('POST', '/test', { url }), {
    body: { result: { delivered: false, status: 503, error: /503/ } },
  })
  status = 200
  received.length = 0
  t.match(await patient('POST', '/test', {}), {
    status: 400,
    body: { description: 'Bad Request: the key has no webhook' },
  })
})

t.test('once set, updates arrive; removed, they wait', async (t) => {
  t.match(await patient('PUT', '', { url, allowed_updates: ['message'] }), {
    body: { result: { receive_mode: 'webhook', webhook: { url, allowed_updates: ['message'] } } },
  })
  await client.write(friend.id, '@hooked_bot', 'through the hook')
  const { body } = await until(() => received.pop())
  t.match(body, { update_id: Number, message: { text: 'through the hook' } })
  t.match(await client.ask('DELETE', path), {
    body: { ok: true, result: { api_key_id, webhook: null } },
  })
  t.match(await client.ask('DELETE', path), { status: 400 })
})

t.test('bad input, other people and keys that may not are refused', async (t) => {
  t.match(await client.ask('PUT', path, {}), { status: 400, body: { errors: [{ field: 'url' }] } })
  t.match(await patient('PUT', '', { url: 'ftp://x' }), { status: 400 })
  t.match(await client.ask('PUT', path, { url, allowed_updates: ['nothing'] }), { status: 400 })
  t.match(await client.ask('POST', `${path}/test`, { more: 1 }), { status: 400 })
  const stranger = await service.client()
  for (const [method, end] of [
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/test'],
  ] as const) {
    const body = method === 'DELETE' ? undefined : { url }
    t.match(await stranger.ask(method, `${path}${end}`, body), { status: 404 }, method + end)
  }
  const sender = await client.key(credentialId, ['bot:send'])
  t.match(await client.ask('PUT', `/api_keys/${sender.api_key_id}/webhook`, { url }), {
    status: 403,
    body: { description: 'Forbidden: the key lacks the scope bot:receive' },
  })
})
