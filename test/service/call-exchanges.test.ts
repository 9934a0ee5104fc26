/** Parameters and answers of calls: kept as each key chooses, bounded, without secrets, sealed, exported and erased. */
import pg from 'pg'
import t from 'tap'
import { Arguments } from '../../src/bot-api/arguments.ts'
import type { Database } from '../../src/database/database.ts'
import { CallLog, searchCalls } from '../../src/exchanges/calls.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { linkedAccount, scene } from './scene.ts'

const { service, client, ada, key, keyId } = await scene(t)
const db = new pg.Client({ connectionString: service.databaseUrl })
await db.connect()
t.teardown(() => db.end())

const choose = (keep: string) =>
  client.result('PUT', `/api_keys/${keyId}/requests/exchanges`, { keep })
const exchangeOf = async (id: string) =>
  client.result('GET', `/api_keys/${keyId}/requests/${id}/exchange`)
/** Makes a call and looks at what is kept of it. */
async function kept(method: string, parameters: object | string, type = 'application/json') {
  const answer = await fetch(`${service.url}/bot${key}/${method}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof parameters === 'string' ? parameters : JSON.stringify(parameters),
  })
  const id = answer.headers.get('x-request-id') ?? ''
  const body = await answer.text()
  // The log is written once the answer is out.
  await until(async () => {
    const path = `/user/logs/api-requests?api_key_id=${keyId}&request_id=${id}`
    return (await client.result('GET', path)).items.length > 0
  })
  return { id, body, ...(await exchangeOf(id)) }
}
const failing = { chat_id: 1, text: 'nobody is there' }

t.test('a failed call is kept, one that worked is not', async (t) => {
  const bad = await kept('sendMessage', failing)
  t.equal(bad.keep, 'failed')
  t.same(JSON.parse(bad.exchange.parameters.text), { chat_id: '1', text: 'nobody is there' })
  t.same(bad.exchange.answer, { text: bad.body, is_cut: false })
  t.match(JSON.parse(bad.body), { ok: false })
  const good = await kept('sendMessage', { chat_id: ada.id, text: 'hello' })
  t.match(JSON.parse(good.body), { ok: true })
  t.equal(good.exchange, null)
})

t.test('a key chooses, with an effect from its next call on', async (t) => {
  t.same(await choose('all'), { keep: 'all' })
  const good = await kept(
    'sendMessage',
    `chat_id=${ada.id}&text=by+form`,
    'application/x-www-form-urlencoded',
  )
  t.same(JSON.parse(good.exchange.parameters.text), { chat_id: `${ada.id}`, text: 'by form' })
  t.equal(good.exchange.answer.text, good.body, 'as it was sent')
  t.equal((await kept('getUpdates', { limit: 1 })).exchange, null, 'updates are not kept twice')
  await choose('none')
  const bad = await kept('sendMessage', failing)
  t.match(bad, { exchange: null, keep: 'none' })
  t.ok((await exchangeOf(good.id)).exchange, 'what is kept already stays')
  await choose('all')
})

t.test('long and secret things are cut and hidden', async (t) => {
  const long = await kept('sendMessage', { chat_id: 1, text: 'x'.repeat(20_000) })
  t.equal(long.exchange.parameters.text.length, 16_384)
  t.equal(long.exchange.parameters.is_cut, true)
  const secret = await kept('setWebhook', {
    url: 'ftp://example.org',
    secret_token: 'open-sesame',
    certificate: key,
  })
  t.match(secret.exchange.parameters.text, 'ftp://example.org')
  t.notMatch(secret.exchange.parameters.text, 'open-sesame')
  t.notMatch(secret.exchange.parameters.text, key.split(':')[1] ?? '')
  const form = new FormData()
  form.append('chat_id', '1')
  form.append('document', new Blob(['bytes of a file']), 'a.txt')
  const answer = await fetch(`${service.url}/bot${key}/sendDocument`, {
    method: 'POST',
    body: form,
  })
  const id = answer.headers.get('x-request-id') ?? ''
  const { exchange } = await until(async () => {
    const found = await exchangeOf(id)
    return found.exchange && found
  })
  t.same(JSON.parse(exchange.parameters.text), { chat_id: '1' }, 'no bytes of files')
})

t.test(
  'the address of a webhook is kept as it is shown, and answers with secrets are not',
  async (t) => {
    await choose('failed')
    for (const url of [
      'https://u:p@h/0123456789abcdef0123',
      'http://u:p@h/0123456789abcdef0123?code',
      'u:p@h/0123456789abcdef0123',
    ]) {
      const { body, exchange } = await kept('setWebhook', { url })
      t.match(JSON.parse(body), { ok: false })
      const shown = JSON.parse(exchange.parameters.text).url
      t.match(shown, /^(https?:\/\/)?h\/\[hidden\]$/, url)
    }
    const odd = await kept('setWebhook', { url: 'https://no host' })
    t.same(JSON.parse(odd.exchange.parameters.text), { url: 'https://no host' }, 'no address')
    await choose('all')
    for (const method of ['getWebhookInfo', 'GETWEBHOOKINFO']) {
      const info = await kept(method, {})
      t.match(JSON.parse(info.body), { ok: true })
      t.equal(info.exchange, null, method)
    }
    for (const method of ['getManagedBotToken', 'replaceManagedBotToken']) {
      t.equal((await kept(method, { user_id: 1 })).exchange, null, method)
    }
  },
)

t.test(
  'of many calls of one key, twenty are kept between two writes; others have room',
  async (t) => {
    const stored: unknown[][] = []
    let isAway = false
    const log = new CallLog({
      db: {
        async query(text: string, values: unknown[]) {
          if (isAway) throw new Error('away')
          if (/insert into call_exchange/.test(text)) stored.push(values[2] as unknown[])
          return []
        },
      } as unknown as Database,
      vault: { seal: async () => Buffer.alloc(0) },
      logger: quietLogger,
      days: 3,
    })
    const add = (apiKeyId: number, times: number) => {
      for (let n = 0; n < times; n++) {
        const call = { at: n, userId: 1, apiKeyId, requestId: `${n}`, answer: '' }
        log.add({ ...call, args: new Arguments([['text', 'x']]) })
      }
    }
    const twenty = (apiKeyId: number) => Array.from({ length: 20 }, () => apiKeyId)
    add(1, 200)
    add(2, 1)
    isAway = true
    await log.flush()
    add(1, 1)
    isAway = false
    await log.flush()
    t.strictSame(stored, [[...twenty(1), 2]], 'also while the database is away')
    add(1, 21)
    await log.flush()
    t.strictSame(stored[1], twenty(1), 'and again after the write')
    for (let key = 1; key <= 1_001; key++) add(key, 1)
    await log.flush()
    t.equal(stored[2]?.length, 1_000)
    for (let key = 1; key <= 1_001; key++) add(key, 1)
    await log.flush()
    t.equal(stored[3]?.length, 1_000, 'what is written has left its place')
  },
)

t.test('a bot that fails in a loop does not fill the disk', async (t) => {
  let stored = 0
  const log = new CallLog({
    db: {
      async query(text: string, values: unknown[]) {
        if (/insert into call_exchange/.test(text)) stored += (values[2] as unknown[]).length
        return []
      },
    } as unknown as Database,
    vault: { seal: async () => Buffer.alloc(0) },
    logger: quietLogger,
    days: 3,
  })
  const fail = async (times: number, at: number) => {
    for (let n = 0; n < times; n++) {
      const call = { at, userId: 1, apiKeyId: 1, requestId: `${n}`, answer: '' }
      log.add({ ...call, args: new Arguments([['text', 'x'.repeat(100_000)]]) })
      await log.flush()
    }
  }
  await fail(1_200, 0)
  t.ok(stored > 900 && stored < 1_100, `${stored} of 16 kB are kept in an hour`)
  stored = 0
  await fail(1, 3_600_000)
  t.equal(stored, 1, 'and more in the next one')
})

t.test('its owner alone is told what is kept of a key, and for how long', async (t) => {
  await choose('all')
  const path = `/api_keys/${keyId}/exchanges`
  t.same(await client.result('GET', path), { calls: 'all', deliveries: 'failed', days: 3 })
  const stranger = await service.client()
  t.match(await stranger.ask('GET', path), { status: 404 })
  t.match(await client.ask('GET', `/api_keys/${'1'.repeat(21)}/exchanges`), { status: 400 })
  t.equal((await fetch(`${service.url}${path}`)).status, 401)
})

t.test('calls are searched by chat, and by text of parameters or answer', async (t) => {
  await choose('all')
  const needle = await kept('sendMessage', { chat_id: 1, text: 'a Needle in "hay"' })
  const good = await kept('sendMessage', { chat_id: ada.id, text: 'plain hay' })
  const logs = '/user/logs/api-requests'
  const search = (query: string) => client.result('GET', `${logs}?api_key_id=${keyId}&${query}`)
  const found = async (query: string) =>
    (await search(query)).items.map(({ request_id }: { request_id: string }) => request_id)
  t.same(await found('text=needle'), [needle.id], 'whatever the case')
  t.same(await found(`text=${encodeURIComponent('in "hay"')}`), [needle.id], 'as it was written')
  t.same(await found('text=hay'), [good.id, needle.id])
  t.same(await found('text=hay&chat_id=1'), [needle.id])
  t.same(await found(`chat_id=${ada.id}&text=hay`), [good.id])
  t.same(await found('text=hay&status=4xx'), [needle.id], 'with the other filters')
  t.same(await found('text=hay&method=getMe'), [])
  t.same(await found('text=chat+not+found&limit=1'), [needle.id], 'in the answer')
  t.same(await found(`text=hay&until=${new Date(0).toISOString()}`), [])
  const page = await search('text=hay&limit=1')
  t.same(await found(`text=hay&limit=1&before=${page.next_before}`), [needle.id])
  const stranger = await service.client()
  t.same((await stranger.result('GET', `${logs}?text=hay`)).items, [])
  for (const query of ['text=', 'chat_id=x', `text=${'x'.repeat(201)}`]) {
    t.match(await client.ask('GET', `${logs}?${query}`), { status: 400 }, query)
  }
  const far = await search('text=hay&before=999999999999999-1')
  t.equal(far.items.length, 2, 'from any time on')
  await db.query(
    `update call_exchange set sealed = set_byte(sealed, length(sealed) - 1, 255 - get_byte(sealed, length(sealed) - 1))
      where request_id = $1`,
    [good.id],
  )
  t.same(await found('text=hay'), [needle.id], 'what cannot be read keeps nobody from the others')
  t.equal((await exchangeOf(good.id)).exchange, null)
})

t.test('a search gets past many calls of one millisecond, and leaves out none', async (t) => {
  await choose('all')
  const search = `/user/logs/api-requests?api_key_id=${keyId}&text=all+at+once`
  const found = async (limit: number) => {
    const ids: string[] = []
    let before = ''
    for (let pages = 0; pages < 40; pages++) {
      const page = await client.result('GET', `${search}&limit=${limit}${before}`)
      ids.push(...page.items.map(({ request_id }: { request_id: string }) => request_id))
      if (page.next_before === null) return ids.sort()
      before = `&before=${page.next_before}`
    }
    return 'it goes in a circle'
  }
  const call = () => kept('sendMessage', { chat_id: 1, text: 'all at once' })
  const ids = (await Promise.all(Array.from({ length: 20 }, call))).map(({ id }) => id).sort()
  t.same(await found(1), ids, 'page by page')
  // More than one search looks at. None of them can be read, since each is sealed for its own place.
  await db.query(
    `insert into call_exchange (at, user_id, api_key_id, request_id, sealed)
     select date_trunc('milliseconds', now()), user_id, api_key_id, 'copy-' || n, sealed
     from call_exchange, generate_series(1, 301) n where request_id = $1`,
    [ids[0]],
  )
  t.same(await found(50), ids, 'behind three hundred others')
})

t.test('a search opens three hundred calls, and tells where it has got to', async (t) => {
  const at = new Date()
  const rows = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      ...{ at, api_key_id: 1, request_id: `${n}`, sealed: Buffer.alloc(0) },
    }))
  const searched = (count: number) =>
    searchCalls(
      {
        db: { query: async () => rows(count) as never },
        vault: { open: async () => Buffer.from('{"parameters":{"text":"{}"},"answer":null}') },
      },
      { userId: 1, until: at, text: '{' },
    )
  t.match(await searched(299), { reached: undefined, ids: { length: 299 } })
  t.same((await searched(300)).reached, at)
})

t.test('only its owner reads it, and the table holds no text', async (t) => {
  const { id } = await kept('sendMessage', failing)
  const stranger = await service.client()
  const path = `/api_keys/${keyId}/requests`
  t.match(await stranger.ask('GET', `${path}/${id}/exchange`), { status: 404 })
  t.match(await stranger.ask('PUT', `${path}/exchanges`, { keep: 'all' }), { status: 404 })
  t.match(await client.ask('PUT', `${path}/exchanges`, { keep: 'some' }), { status: 400 })
  t.match(await client.ask('GET', `${path}/${'x'.repeat(101)}/exchange`), { status: 400 })
  t.equal((await exchangeOf('unknown')).exchange, null)
  t.equal((await fetch(`${service.url}${path}/${id}/exchange`)).status, 401)
  const { rows } = await db.query('select sealed from call_exchange')
  t.ok(rows.length > 0)
  for (const { sealed } of rows) t.notMatch(sealed.toString('latin1'), 'nobody is there')
})

t.test('a service that keeps no contents keeps none of calls', async (t) => {
  const other = await startService(t, { env: { LOG_BODIES: '0' } })
  const account = await linkedAccount(other, 'keeps_none')
  await account.client.result('PUT', `/api_keys/${account.keyId}/requests/exchanges`, {
    keep: 'all',
  })
  const answer = await account.client.bot(account.key, 'getMe')
  t.equal(answer.status, 200)
  const { items } = await until(async () => {
    const found = await account.client.result('GET', `/user/logs/api-requests?method=getMe`)
    return found.items.length > 0 && found
  })
  const path = `/api_keys/${account.keyId}/requests/${items[0].request_id}/exchange`
  t.same(await account.client.result('GET', path), { exchange: null, keep: 'all' })
  const choices = await account.client.result('GET', `/api_keys/${account.keyId}/exchanges`)
  t.same(choices, { calls: 'all', deliveries: 'failed', days: 0 })
})
