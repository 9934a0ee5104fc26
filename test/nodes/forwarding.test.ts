/** Two nodes side by side: whichever is called, the owner of the account answers. */
import { join } from 'node:path'
import t from 'tap'
import { linkedAccount } from '../service/scene.ts'
import { type Service, startService } from '../support/service.ts'

interface Answer {
  readonly ok: boolean
  readonly error_code?: number
  readonly result?: unknown
}

const HOLD_MS = '5000'
const CLUSTER_ADDRESS = 'https://127.0.0.1:0'

async function call(url: string, key: string, method: string, parameters: object = {}) {
  const response = await fetch(`${url}/bot${key}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  })
  return (await response.json()) as Answer
}

async function twoNodes(t: Parameters<typeof startService>[0]): Promise<[Service, Service]> {
  const one = await startService(t, { env: { NODE_NAME: 'one', HOLD_MS, CLUSTER_ADDRESS } })
  const KEY_FILE = join(one.dataDir, 'keys')
  const two = await startService(t, {
    databaseUrl: one.databaseUrl,
    env: { NODE_NAME: 'two', KEY_FILE, HOLD_MS, CLUSTER_ADDRESS },
  })
  return [one, two]
}

t.test('a bot is served through the wrong node as through the right one', async (t) => {
  const [one, two] = await twoNodes(t)
  const { client, ada, bot, key } = await linkedAccount(one, 'wrongnode')

  const me = await call(one.url, key, 'getMe')
  t.match(me, { ok: true })
  t.same(await call(two.url, key, 'getMe'), me)
  t.match(await call(two.url, `${key}x`, 'getMe'), { error_code: 401 }, 'a wrong key stays wrong')
  t.match(await call(two.url, key, 'noSuchMethod'), { error_code: 404 })
  t.match(await call(two.url, key, 'sendMessage', { chat_id: ada.id, text: 'hi' }), { ok: true })

  const held = call(two.url, key, 'getUpdates', { timeout: 20 })
  await client.write(ada.id, `@${bot.username}`, 'through the wrong node')
  t.match(await held, { result: [{ message: { text: 'through the wrong node' } }] })
})
