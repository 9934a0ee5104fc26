/** What pages of other sites may read: answers that a key in the path opens, and nothing that a browser is signed in to. */
import t from 'tap'
import { joinService } from '../support/shared-service.ts'

const service = await joinService(t)
const client = await service.client()
const { key } = await client.key(await client.link(await client.person('Ada')))

/** Which origins may read an answer. */
async function readers(path: string, init: RequestInit = {}) {
  const headers = { ...init.headers, origin: 'https://elsewhere.example' }
  const { status, headers: answered } = await fetch(service.url + path, { ...init, headers })
  t.equal(answered.get('access-control-allow-credentials'), null)
  const loaded = answered.get('cross-origin-resource-policy')
  const reader = answered.get('access-control-allow-origin')
  t.equal(loaded, reader === '*' ? 'cross-origin' : 'same-origin', 'pictures are shown alike')
  return [status, reader]
}

t.test('the bot API and its files, refusals too', async (t) => {
  t.same(await readers(`/bot${key}/getMe`), [200, '*'])
  t.same(await readers(`/bot${key}/sendMessage`, { method: 'POST' }), [400, '*'])
  t.same(await readers('/bot123456:wrong/getMe'), [401, '*'])
  t.same(await readers(`/file/bot${key}/documents/file_1.txt`), [404, '*'])
})

t.test('nothing else', async (t) => {
  const authorization = `Bearer ${client.token}`
  t.same(await readers('/user', { headers: { authorization } }), [200, null])
  t.same(await readers('/user'), [401, null])
  t.same(await readers('/auth/sendOtp', { method: 'POST' }), [400, null])
  t.same(await readers('/openapi.json'), [200, null])
  t.same(await readers('/nowhere'), [404, null])
})
