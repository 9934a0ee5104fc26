/** What one key, one user and one client may cost the others, as it shows over HTTP. */
import { request } from 'node:http'
import t from 'tap'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { ok, startStub, token } from '../platforms/upstream-bot/stub.ts'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { callWithFiles } from './files.ts'
import { linkedAccount, refused } from './scene.ts'

const service = await startService(t, {
  env: {
    CALL_RATE: '0.01',
    CALL_BURST: '60',
    API_KEYS_PER_ACCOUNT: '13',
    API_KEYS_PER_USER: '15',
    EVENT_STREAMS_PER_USER: '2',
  },
})
const { client, ada, bot, credentialId } = await linkedAccount(service)
const newKey = async () => (await client.key(credentialId)).key as string

t.test('calls of every kind count, and a full bucket says when to come back', async (t) => {
  const key = await newKey()
  for (let n = 0; n < 60; n++) t.equal((await client.bot(key, 'getMe')).status, 200)
  const { status, body, headers } = await client.bot(key, 'getMe')
  t.equal(status, 429)
  t.match(body, { description: /^Too Many Requests: retry after \d+$/ })
  t.equal(headers.get('retry-after'), `${body.parameters.retry_after}`)
  const file = await fetch(`${service.url}/file/bot${key}/photos/file_1.jpg`)
  t.equal(file.status, 429, 'downloads are calls, too')
  t.equal((await client.bot(await newKey(), 'getMe')).status, 200, 'other keys have their own')
})

t.test('long parameters count as several, however they come', async (t) => {
  const long = { chat_id: ada.id, text: 'x', reply_markup: '9'.repeat(900_000) }
  const ways: Record<string, (key: string) => Promise<number>> = {
    json: async (key) => (await client.bot(key, 'sendMessage', long)).status,
    multipart: async (key) =>
      (await callWithFiles(service.url, key, 'sendMessage', long, {})).status,
    chunked: (key) => chunked(`/bot${key}/sendMessage`, JSON.stringify(long)),
  }
  for (const [way, send] of Object.entries(ways)) {
    const key = await newKey()
    t.not(await send(key), 429, way)
    t.equal((await client.bot(key, 'getMe')).status, 429, way)
  }
})

t.test('parameters that are refused for their length cost little', async (t) => {
  const key = await newKey()
  const long = { chat_id: ada.id, text: 'x'.repeat(2_000_000) }
  t.equal((await client.bot(key, 'sendMessage', long)).status, 413)
  t.equal((await client.bot(key, 'getMe')).status, 200)
})

t.test('files count little, and the same when their length is not told ahead', async (t) => {
  const parameters = { chat_id: ada.id }
  const document = { bytes: Buffer.alloc(3_000_000, 'x') }
  /** Calls that are left: a call with three megabytes counts for four. */
  const left = async (key: string) => {
    for (let served = 0; ; served++) {
      if ((await client.bot(key, 'getMe')).status === 429) return served
    }
  }
  const [told, untold] = [await newKey(), await newKey()]
  for (let n = 0; n < 5; n++) {
    const sent = await callWithFiles(service.url, told, 'sendDocument', parameters, { document })
    t.equal(sent.status, 200)
    t.equal(await streamed(untold, document.bytes), 200)
  }
  t.same([await left(told), await left(untold)], [40, 40])
})

/** A document in a body whose length is told nowhere. */
async function streamed(key: string, bytes: Buffer): Promise<number> {
  const form = new FormData()
  form.set('chat_id', `${ada.id}`)
  form.set('document', new Blob([new Uint8Array(bytes)]), 'file.bin')
  const { headers, body } = new Response(form)
  const url = `${service.url}/bot${key}/sendDocument`
  return (await fetch(url, { method: 'POST', headers, body, duplex: 'half' })).status
}

t.test('of thousands of entities the first hundred that count are kept', async (t) => {
  const key = await newKey()
  const text = 'x '.repeat(2_000)
  const entities = Array.from({ length: 4_000 }, (_, n) => ({
    type: 'code',
    offset: (n * 2) % 4_000,
    length: 1,
  }))
  const { body } = await client.bot(key, 'sendMessage', { chat_id: ada.id, text, entities })
  t.equal(body.result.entities.length, 100)
  const half = JSON.stringify([{ type: 'pre', offset: 0, length: 1, language: '\ud800' }])
  const given = { chat_id: ada.id, text, entities: half }
  t.match(await client.bot(key, 'sendMessage', given), notUtf8)
  const keyboard = [[{ text: 'a\ud800', callback_data: 'x' }]]
  const markup = { chat_id: ada.id, text, reply_markup: { inline_keyboard: keyboard } }
  t.match(await client.bot(key, 'sendMessage', markup), notUtf8)
})

const notUtf8 = refused(400, 'Bad Request: strings must be encoded in UTF-8')

t.test('halves of characters are refused on every route', async (t) => {
  const field = (name: string) => ({
    status: 400,
    body: {
      description: `Bad Request: field "${name}" must not contain half of a character (a lone surrogate)`,
    },
  })
  const phone = '+14155550177'
  const person = { phone, first_name: '\ud800x' }
  t.match(await client.ask('POST', '/sandbox/people', person), field('first_name'))
  const one = { phone, first_name: 'x', last_name: '\udc00' }
  t.match(await client.ask('POST', '/sandbox/people', one), field('last_name'))
  const path = `/sandbox/people/${bot.id}`
  t.match(await client.ask('PATCH', path, { first_name: '\ud800' }), field('first_name'))
  const scopes = ['bot:send']
  const key = { name: '\ud800', credential_id: credentialId, scopes }
  t.match(await client.ask('POST', '/api_keys', key), field('name'))
})

t.test('a user has so many event streams, and one that ends makes room', async (t) => {
  const authorization = `Bearer ${client.token}`
  const paths = ['/platforms/credentials/events', `/platforms/credentials/${credentialId}/events`]
  const leaving = new AbortController()
  t.teardown(() => leaving.abort())
  const open = (path = paths[0], signal = leaving.signal) =>
    fetch(`${service.url}${path}`, { headers: { authorization }, signal })
  const first = new AbortController()
  const opened = [await open(paths[0], first.signal), await open(paths[1])]
  t.strictSame(
    opened.map(({ status }) => status),
    [200, 200],
  )
  for (const path of paths) t.equal((await open(path)).status, 429)
  first.abort()
  await until(async () => (await open()).status === 200)
})

t.test('an account and a user have so many keys', async (t) => {
  const scopes = ['bot:send']
  const make = (credential_id: number) =>
    client.ask('POST', '/api_keys', { name: 'x', credential_id, scopes })
  let last = await make(credentialId)
  for (let n = 0; n < 15 && last.status === 200; n++) last = await make(credentialId)
  const most = 'Bad Request: there are 13 API keys of this account already; revoke one first'
  t.match(last, refused(400, most))
  const other = await client.link(await client.person('Other'))
  last = await make(other)
  for (let n = 0; n < 5 && last.status === 200; n++) last = await make(other)
  const mostOfUser = 'Bad Request: there are 15 API keys of this user already; revoke one first'
  t.match(last, refused(400, mostOfUser))
  const { items } = await client.result('GET', '/api_keys')
  await client.result('DELETE', `/api_keys/${items[0].api_key_id}`)
  t.equal((await make(other)).status, 200)
})

function chunked(path: string, body: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  const sent = request(`${service.url}${path}`, { method: 'POST', headers }, (answer) => {
    answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
  })
  sent.once('error', reject).end(body)
  return promise
}

t.test('an upload that costs more than a key has left is owed, not cut', async (t) => {
  const stub = await startStub(t)
  stub.otherwise(ok(true))
  const poor = await startService(t, {
    env: { TELEGRAM_BOT_API_URL: stub.url, CALL_RATE: '0.01', CALL_BURST: '4' },
  })
  const owner = await poor.client()
  const { key } = await owner.key(await linkBot(owner, { token }))
  const form = new FormData()
  form.set('chat_id', '42')
  for (const name of ['a', 'b', 'c', 'd']) {
    form.set(name, new File([new Uint8Array(1_900_000)], name))
  }
  const { body, headers } = new Response(form)
  const before = stub.asked.length
  // Of unknown length: only as it comes it shows that it is more than the key has left.
  const answer = await fetch(`${poor.url}/bot${key}/sendMediaGroup`, {
    method: 'POST',
    headers: { 'content-type': headers.get('content-type') ?? '' },
    body,
    duplex: 'half',
  })
  t.equal(answer.status, 200)
  const sent = stub.asked.slice(before).filter(({ method }) => method === 'sendMediaGroup')
  t.equal(sent.length, 1)
  t.ok(sent[0]!.bytes.length > 7_600_000)
  const next = await fetch(`${poor.url}/bot${key}/getMe`)
  t.equal(next.status, 429, 'the calls after it wait for that')
  // The debt is never more than another burst.
  const { parameters } = (await next.json()) as { parameters: { retry_after: number } }
  t.ok(parameters.retry_after <= 500)
})
