/** How fast is too fast: sends of a key, sends to a chat, and guesses at keys. */
import t from 'tap'
import type { Answer } from '../support/client.ts'
import { raw, scene } from './scene.ts'

const slow = { SEND_RATE: '0.1', SEND_BURST: '6', CHAT_RATE: '0.05', CHAT_BURST: '3' }

t.test('sends beyond the rate are refused with the time to wait', async (t) => {
  const { client, ada, key, credentialId, bot } = await scene(t, { env: slow })
  const eve = await client.person('Eve', 'eve_slow')
  const send = (chat_id: number | string, by = key) =>
    client.bot(by, 'sendMessage', { chat_id, text: 'hi' })
  const refuses = (answer: Answer, most: number) => {
    const seconds = answer.body.parameters?.retry_after
    t.match(answer, {
      status: 429,
      body: {
        ok: false,
        error_code: 429,
        description: `Too Many Requests: retry after ${seconds}`,
      },
    })
    t.equal(answer.headers.get('retry-after'), `${seconds}`)
    t.ok(seconds >= 1 && seconds <= most, `${seconds}`)
  }
  for (const _ of 'abc') t.match(await send(ada.id), { status: 200 })
  refuses(await send(ada.id), 20)
  for (const _ of 'abc') t.match(await send(eve.id), { status: 200 }, 'another chat has its own')
  refuses(await send(eve.id), 20)
  const bystander = await client.person('Bo', 'bo_slow')
  refuses(await send(bystander.id), 10)
  const other = (await client.key(credentialId)).key
  t.match(await send(ada.id, other), { status: 200 }, 'another key has its own')
  for (const method of ['getMe', 'getUpdates', 'getWebhookInfo']) {
    t.match(await client.bot(key, method), { status: 200 }, method)
  }
  t.match(await client.bot(key, 'sendChatAction', { chat_id: ada.id, action: 'typing' }), {
    status: 200,
  })
  const inbox = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
  const sent = inbox.messages.filter(({ from }: { from: { id: number } }) => from.id === bot.id)
  t.equal(sent.length, 4, 'what was refused was not sent')
})

t.test('whoever guesses keys is slowed down, and nobody else', async (t) => {
  const { service, key, client } = await scene(t, {})
  const guess = (n: number) => `${200_000 + n}:${'a'.repeat(43)}`
  const statuses: number[] = []
  for (let n = 0; n < 22; n++) statuses.push((await client.bot(guess(n), 'getMe')).status)
  t.same(statuses, [...Array(20).fill(401), 429, 429])
  const last = await raw(service.url, `/bot${guess(0)}/getMe`)
  const seconds = last.body.parameters.retry_after
  t.match(last, {
    status: 429,
    headers: { 'retry-after': new RegExp(`^${seconds}$`) },
    body: { error_code: 429, description: `Too Many Requests: retry after ${seconds}` },
  })
  t.ok(seconds > 0 && seconds <= 60)
  t.match(await client.bot(key, 'getMe'), { status: 200 }, 'a right key from there still works')
})

t.test('a personal access token serves where it may', async (t) => {
  const { service, client, credentialId } = await scene(t, {})
  const { token } = await client.result('POST', '/user/tokens', { name: 'script' })
  const headers = { authorization: `apikey ${token}` }
  const ask = (path: string) => raw(service.url, path, { headers })
  const paths = [
    '/platforms',
    '/platforms/credentials',
    '/api_keys',
    '/user/usage',
    '/sandbox/people',
  ]
  for (const path of [
    ...paths,
    `/platforms/credentials/${credentialId}`,
    '/user/logs/api-requests',
  ]) {
    t.match(await ask(path), { status: 200, body: { ok: true } }, path)
  }
  for (const path of ['/user/tokens', '/user/sessions']) {
    t.match(await ask(path), { status: 401, body: { error_code: 401 } }, path)
  }
})
