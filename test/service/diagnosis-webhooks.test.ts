/** Webhooks that fail, refuse, or are polled beside are recognised by the right step of a diagnosis. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { until } from '../support/client.ts'
import { joinService } from '../support/shared-service.ts'
import { linkedAccount } from './scene.ts'

const service = await joinService(t)

/** Answers with this status, once the secret token is right. */
const endpoint = { status: 200, secret: 'right', taken: 0 }
const server = createServer((request, response) => {
  const isRight = request.headers['x-telegram-bot-api-secret-token'] === endpoint.secret
  request.resume()
  if (isRight) endpoint.taken += 1
  response.writeHead(isRight ? endpoint.status : 401).end()
}).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=hidden`

async function hooked(name: string, secret_token = 'right') {
  const account = await linkedAccount(service, name)
  const { client, key, keyId, ada, bot } = account
  const set = await client.bot(key, 'setWebhook', { url, secret_token })
  if (set.status !== 200) throw new Error(JSON.stringify(set.body))
  const diagnose = () => client.result('POST', `/api_keys/${keyId}/diagnosis`, { all: true })
  const cause = (code: string) =>
    until(async () => {
      const found = await diagnose()
      return found.cause?.code === code && found
    })
  return { ...account, diagnose, cause, write: () => client.write(ada.id, bot.id, 'hello') }
}

t.test('an endpoint that takes its updates', async (t) => {
  const { diagnose, write } = await hooked('taking_bot')
  await write()
  await until(() => endpoint.taken > 0)
  const found = await diagnose()
  t.match(found, { cause: null, steps: [{}, {}, {}, { evidence: [/127\.0\.0\.1/] }, {}] })
  t.notOk(JSON.stringify(found).includes('hidden'), 'its query stays hidden')
})

t.test('one that fails', async (t) => {
  const { cause, write } = await hooked('failing_bot')
  endpoint.status = 500
  await write()
  t.match(await cause('endpoint_failing'), {
    cause: { step: 'webhook_info', text: /500|Internal/ },
    next_action: /2xx/,
  })
  endpoint.status = 200
})

t.test('one with another secret token', async (t) => {
  const { cause, write } = await hooked('secretive_bot', 'wrong')
  await write()
  t.match(await cause('secret_refused'), {
    cause: { step: 'webhook_info' },
    next_action: /secret_token/,
  })
})

t.test('polling while a webhook is set', async (t) => {
  const { client, key, cause } = await hooked('polled_bot')
  t.match(await client.bot(key, 'getUpdates'), { status: 409 })
  t.match(await cause('polling_and_webhook'), {
    cause: { step: 'receive_mode' },
    next_action: /deleteWebhook/,
  })
})
