/** What a diagnosis says of clients that poll wrongly, call too often, or are behind. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { linkedAccount } from './scene.ts'

const service = await startService(t, { env: { SEND_RATE: '1', SEND_BURST: '5' } })

interface Update {
  readonly update_id: number
}

async function account(name: string) {
  const account = await linkedAccount(service, name)
  const { client, key, keyId, ada, bot } = account
  const poll = async (parameters: object = {}): Promise<readonly Update[]> => {
    const { status, body } = await client.bot(key, 'getUpdates', { timeout: 5, ...parameters })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body.result
  }
  return {
    ...account,
    poll,
    write: async (count = 3) => {
      for (let place = 0; place < count; place++) await client.write(ada.id, bot.id, `${place}`)
    },
    diagnose: () => client.result('POST', `/api_keys/${keyId}/diagnosis`, { all: true }),
  }
}

const times = async (count: number, work: () => Promise<unknown>) => {
  for (let done = 0; done < count; done++) await work()
}

t.test('a client that never moves its offset, until it does', async (t) => {
  const { poll, write, diagnose } = await account('repeating')
  await write()
  await times(2, poll)
  t.match(await diagnose(), { cause: null }, 'it may ask once more where it lost an answer')
  await poll()
  const { cause, next_action } = await diagnose()
  t.match(cause, {
    step: 'receive_mode',
    code: 'offset_kept',
    text: 'The last 3 calls of getUpdates got updates and confirmed none of them: the offset is 0',
  })
  t.match(next_action, /^Call getUpdates with an offset one above the highest update_id/)
  const [first] = await poll({ limit: 1 })
  await poll({ offset: (first?.update_id ?? 0) + 1, limit: 1 })
  t.match(await diagnose(), { cause: null }, 'the step that was told works')
})

t.test('a slow bot is not blamed for what somebody has read by hand before', async (t) => {
  const { key, poll, write, diagnose } = await account('byhand')
  await write()
  await times(3, poll)
  const asBot = async () => {
    const headers = { 'user-agent': 'a bot' }
    const answer = await fetch(`${service.url}/bot${key}/getUpdates`, { headers })
    const { result } = (await answer.json()) as { readonly result: readonly Update[] }
    t.ok(result.length > 0)
  }
  await asBot()
  t.match(await diagnose(), { cause: null }, 'it works on the first ones')
  await times(2, asBot)
  t.match((await diagnose()).cause, { code: 'offset_kept', text: /^The last 3 calls/ })
})

t.test('a client that gives the update_id that it has, not the one after it', async (t) => {
  const { poll, write, diagnose } = await account('inclusive')
  await write(1)
  let offset = 0
  await times(4, async () => {
    const updates = await poll({ offset })
    offset = updates.at(-1)?.update_id ?? offset
  })
  t.match((await diagnose()).cause, { code: 'offset_kept', text: new RegExp(` ${offset}$`) })
})

t.test('a client with a negative offset each time', async (t) => {
  const { poll, write, diagnose } = await account('skipping')
  await times(3, async () => {
    await write()
    await poll({ offset: -1 })
  })
  const { cause, next_action } = await diagnose()
  t.match(cause, { step: 'receive_mode', code: 'offset_negative', text: /offset -1: all that/ })
  t.match(next_action, /^Use a negative offset only once/)
})

t.test('a client that skips what waits, and goes on', async (t) => {
  const { poll, write, diagnose } = await account('beginning')
  await write()
  const [newest] = await poll({ offset: -1 })
  let offset = (newest?.update_id ?? 0) + 1
  await times(4, async () => {
    await write()
    const updates = await poll({ offset, limit: 1 })
    offset = (updates[0]?.update_id ?? 0) + 1
  })
  t.match(await diagnose(), { cause: null }, 'one update at a time is slow, and well')
})

t.test('a client with the offset of another account', async (t) => {
  const { poll, write, diagnose } = await account('ahead')
  await write()
  await times(3, () => poll({ offset: 2_000_000_000 }))
  const { cause, next_action } = await diagnose()
  t.match(cause, { code: 'offset_ahead', text: /with the offset 2000000000, while the newest/ })
  t.match(next_action, /^Let the bot begin without an offset/)
})

t.test('a client that is told to slow down', async (t) => {
  const { client, key, ada, diagnose } = await account('hasty')
  const send = () => client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'again' })
  const answers = await Promise.all(Array.from({ length: 12 }, send))
  const refusals = answers.filter(({ status }) => status === 429).length
  t.ok(refusals > 2)
  const { cause, next_action, steps } = await diagnose()
  const text = `${refusals} calls were answered with 429 in the last ten minutes: too much for the service, the network or a chat`
  t.match(cause, { step: 'get_me', code: 'calls_too_fast', text })
  t.match(next_action, /retry_after/)
  t.match(steps[0], { verdict: 'passed' })
})

t.test('a client that was told so once, and waited', async (t) => {
  const { client, key, diagnose } = await account('patient')
  const set = () => client.bot(key, 'setWebhook', { url: 'http://127.0.0.1:9/hook' })
  await set()
  t.equal((await set()).status, 429)
  const { cause, steps } = await diagnose()
  t.equal(cause, null)
  const text =
    '1 call was answered with 429 in the last ten minutes: too much for the service, the network or a chat'
  t.ok(steps[0].evidence.includes(text))
})

t.test('an endpoint that answers well, and slowly', async (t) => {
  const server = createServer((request, response) => {
    request.resume()
    setTimeout(() => response.end(), 1_200)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { client, key, write, diagnose } = await account('slow_hook')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  await client.bot(key, 'setWebhook', { url })
  await write(12)
  const { cause, next_action } = await until(async () => {
    const found = await diagnose()
    return found.cause !== null && found
  })
  t.match(cause, {
    step: 'webhook_info',
    code: 'endpoint_slow',
    text: /^Its last answers took 1\d\d\d ms/,
  })
  t.match(next_action, /^Answer first and work afterwards/)
})
