/** A credential whose platform was turned off: it is shown, says why it does nothing, and can be deleted. */
import t from 'tap'
import { scene } from './scene.ts'

const env = { SANDBOX: 'true' }
const { service, client, credentialId, key, ada } = await scene(t, { env })
env.SANDBOX = 'false'
await service.restart()

t.test('nothing of the platform is offered any more', async (t) => {
  const platforms = await client.result('GET', '/platforms')
  t.notOk(platforms.some(({ platform }: { platform: string }) => platform === 'sandbox'))
  t.match(await client.ask('GET', '/sandbox/people'), { status: 404 })
  const start = await client.ask('POST', '/platforms/sandbox/link/start', { phone: ada.phone })
  t.match(start, { status: 404, body: { ok: false, error_code: 404 } })
})

t.test('its credential is listed, and its key is refused in the envelope', async (t) => {
  const { items } = await client.result('GET', '/platforms/credentials')
  t.match(items, [{ credential_id: credentialId, platform: 'sandbox' }])
  t.not(items[0].state, 'active')
  for (const method of ['getMe', 'getUpdates', 'sendMessage']) {
    const answer = await client.bot(key, method, { chat_id: ada.id, text: 'hi' })
    t.ok(answer.status < 500 || answer.status === 503, `${method}: ${answer.status}`)
    t.equal(answer.body.error_code ?? 200, answer.status, method)
  }
  t.not((await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'hi' })).status, 200)
})

t.test('it can be deleted, once', async (t) => {
  const path = `/platforms/credentials/${credentialId}`
  t.match(await client.ask('DELETE', path), { status: 200, body: { ok: true, result: true } })
  t.match(await client.ask('DELETE', path), { status: 404 })
  t.match(await client.bot(key, 'getMe'), { status: 401 })
  t.same((await client.result('GET', '/platforms/credentials')).items, [])
})
