/** Two nodes side by side: the account stays with its owner, whichever is called, and goes to the other at the end of the first. */
import t from 'tap'
import { linkedAccount } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'

interface Answer {
  readonly ok: boolean
  readonly error_code?: number
  readonly parameters?: { readonly retry_after?: number }
}

async function call(url: string, key: string, method: string, parameters: object = {}) {
  const response = await fetch(`${url}/bot${key}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  })
  return (await response.json()) as Answer
}

t.test('an account stays with its owner until that ends', async (t) => {
  const one = await startService(t, { env: { NODE_NAME: 'one' } })
  const { client, ada, bot, credentialId, key } = await linkedAccount(one, 'nodebot')
  const two = await startService(t, {
    databaseUrl: one.databaseUrl,
    env: { NODE_NAME: 'two', DATA_DIR: one.dataDir },
  })
  const epochOf = async ({ gateway }: Service) =>
    (await gateway.core.store.account(credentialId)).epoch
  const epoch = await epochOf(one)

  for (const method of ['getMe', 'getUpdates', 'sendMessage', 'deleteWebhook']) {
    const answer = await call(two.url, key, method, { chat_id: ada.id, text: 'hi' })
    t.match(answer, { ok: false, error_code: 503, parameters: { retry_after: 1 } }, method)
  }
  t.match(await call(two.url, `${key}x`, 'getMe'), { error_code: 401 }, 'a wrong key stays wrong')
  t.match(await call(one.url, key, 'getMe'), { ok: true })
  t.equal(await epochOf(one), epoch, 'nothing has moved')

  await client.write(ada.id, `@${bot.username}`, 'before')
  const began = performance.now()
  await one.gateway.stop({ atOnce: true })
  const stopped = performance.now()
  await until(async () => (await call(two.url, key, 'getMe')).ok)
  const served = performance.now()
  t.comment(
    `stop ${Math.round(stopped - began)} ms, then served ${Math.round(served - stopped)} ms`,
  )
  t.ok(served - stopped < 5_000)
  t.equal(await epochOf(two), epoch + 1)
  await until(
    async () => (await call(two.url, key, 'sendMessage', { chat_id: ada.id, text: 'hi' })).ok,
  )
  const updates = (await call(two.url, key, 'getUpdates')) as { result?: { message?: object }[] }
  t.match(updates.result, [{ message: { text: 'before' } }], 'and nothing is lost')
})
