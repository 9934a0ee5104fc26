/** Two nodes side by side: whichever is called, the owner of the account answers. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import t from 'tap'
import { OwnershipLost } from '../../machines/model/failure.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { Peer } from '../../src/nodes/peers.ts'
import { linkedAccount } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { askPeer } from './ask-peer.ts'

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

/** Resolves once the first has looked who is there: a node that believes to be alone passes nothing on. */
async function beaten(url: string): Promise<void> {
  const db = openDatabase({ url, logger: quietLogger })
  const beats = async () => {
    const [row] = await db.query<{ beats: number }>("select beats from node where name = 'one'", [])
    return row?.beats ?? 0
  }
  const before = await beats()
  await until(async () => (await beats()) >= before + 2)
  await db.close()
}

/** The account belongs to the first: only that one could be asked for a code, which any node may print. */
async function twoNodes(t: Parameters<typeof startService>[0], name: string, env = {}) {
  const one = await startService(t, { env: { NODE_NAME: 'one', HOLD_MS, CLUSTER_ADDRESS, ...env } })
  const account = await linkedAccount(one, name)
  const DATA_DIR = one.dataDir
  const two = await startService(t, {
    databaseUrl: one.databaseUrl,
    env: { NODE_NAME: 'two', DATA_DIR, HOLD_MS, CLUSTER_ADDRESS, ...env },
  })
  await beaten(one.databaseUrl)
  return { one, two, ...account }
}

/** In the table alone: neither node is told. */
const claimedByTwo = (db: Database, credentialId: number) =>
  db.query(
    `with claimed as (
     update credential_log set epoch = epoch + 1, owner = (select id from node where name = 'two')
      where credential_id = $1 returning credential_id, epoch)
   update credential c set epoch = claimed.epoch from claimed where c.id = claimed.credential_id
   returning c.epoch`,
    [credentialId],
  )

t.test('a bot is served through the wrong node as through the right one', async (t) => {
  const { one, two, client, ada, bot, key } = await twoNodes(t, 'wrongnode')

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

t.test('what people write at one node reaches the account at the other at once', async (t) => {
  const { one, two, client, ada, bot, key } = await twoNodes(t, 'otherside')
  const there = client.at(two.url)
  const held = call(one.url, key, 'getUpdates', { timeout: 20 })
  const began = performance.now()
  await there.write(ada.id, `@${bot.username}`, 'from the other node')
  t.match(await held, { result: [{ message: { text: 'from the other node' } }] })
  t.ok(performance.now() - began < 2_000, 'not only when it is looked for')
})

t.test(
  'a call at the owner that loses the account while it waits is answered by the next one',
  async (t) => {
    const { one, two, client, ada, bot, key, credentialId } = await twoNodes(t, 'lostbot')
    const db = openDatabase({ url: one.databaseUrl, logger: quietLogger })
    t.teardown(() => db.close())
    t.match(await call(one.url, key, 'getMe'), { ok: true })
    await client.result('PUT', `/sandbox/people/${bot.id}/faults/drop`, { seconds: 3 })
    await client.state(credentialId, 'connecting')
    const texts = ['one', 'two', 'three']
    const sends = texts.map((text) => call(one.url, key, 'sendMessage', { chat_id: ada.id, text }))
    t.equal((await claimedByTwo(db, credentialId)).length, 1)
    for (const answer of await Promise.all(sends)) t.match(answer, { ok: true })
    t.notOk(one.gateway.core.supervisor.factsOf(credentialId), 'the first has lost it')
    t.ok(two.gateway.core.supervisor.factsOf(credentialId), 'the second has it')
    const stored = await db.query<{ text: string }>(
      `select content ->> 'text' as text from sandbox_message where sender_id = $1`,
      [bot.id],
    )
    t.same(stored.map(({ text }) => text).sort(), texts.toSorted(), 'each was sent once')
    const rows = await until(async () => {
      const found = await db.query<{ status: number }>(
        `select status from request_log where method = 'sendMessage'`,
      )
      return found.length >= texts.length && found
    })
    t.same(
      rows.map(({ status }) => status),
      [200, 200, 200],
      'and is one line of the log',
    )
  },
)

t.test('a form that is half sent when its account is lost goes to the next owner', async (t) => {
  const { one, two, ada, bot, key, credentialId } = await twoNodes(t, 'halfbot')
  const db = openDatabase({ url: one.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  t.match(await call(one.url, key, 'getMe'), { ok: true })
  const { gate } = one.gateway.core
  const lost = Promise.withResolvers<void>()
  // Where the key begins, the node learns that another one has claimed the account.
  gate.admit = async () => {
    await claimedByTwo(db, credentialId)
    queueMicrotask(lost.resolve)
    throw new OwnershipLost()
  }
  const form = (...fields: readonly (readonly [string, string])[]) =>
    `${fields.map(([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--x--\r\n`
  const body = form(['chat_id', `${ada.id}`], ['text', 'sent in halves'])
  const sent = request(`${one.url}/bot${key}/sendMessage`, {
    method: 'POST',
    headers: {
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': body.length,
    },
  })
  sent.write(body.slice(0, 40))
  await lost.promise
  sent.end(body.slice(40))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const answer = JSON.parse(Buffer.concat(await response.toArray()).toString())
  t.match(answer, { ok: true, result: { text: 'sent in halves' } }, JSON.stringify(answer))
  t.ok(two.gateway.core.supervisor.factsOf(credentialId), 'the second has it')
  const rows = await until(async () => {
    const found = await db.query<{ status: number }>(
      `select status from request_log where method = 'sendMessage'`,
    )
    return found.length > 0 && found
  })
  t.same(rows, [{ status: 200 }])
  const stored = await db.query('select from sandbox_message where sender_id = $1', [bot.id])
  t.equal(stored.length, 1)
})

t.test('a link begun at one node is finished at another', async (t) => {
  const { one, two, client } = await twoNodes(t, 'linker')
  const there = client.at(two.url)
  const bot = await client.person('Bot', 'linkbot')
  const path = '/platforms/sandbox/link'
  const { session_id } = await client.result('POST', `${path}/start`, { phone: bot.phone })
  t.match(await there.result('GET', `${path}/${session_id}`), { state: 'code_sent' })
  const otp = await there.code(bot.id)
  const { credential } = await there.result('POST', `${path}/verify`, { session_id, otp })
  const credentialId = credential.credential_id
  await there.state(credentialId, 'active')
  t.ok(one.gateway.core.supervisor.factsOf(credentialId), 'it runs where it was begun')
  const { key, api_key_id } = await there.key(credentialId)
  t.match(await call(one.url, key, 'getMe'), { ok: true })
  await there.result('DELETE', `/api_keys/${api_key_id}`)
  t.match(await call(one.url, key, 'getMe'), { error_code: 401 }, 'revoked there, ended here')
})

t.test('the stream of all accounts tells what happens at the other node', async (t) => {
  const { two, client, bot, credentialId } = await twoNodes(t, 'streambot')
  const leaving = new AbortController()
  const response = await fetch(`${two.url}/platforms/credentials/events`, {
    headers: { authorization: `Bearer ${client.token}` },
    signal: leaving.signal,
  })
  const reading = (async () => {
    let text = ''
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString()
      if (/event: changes/.test(text)) break
    }
    return text
  })()
  await client.result('PUT', `/sandbox/people/${bot.id}/faults/drop`, { seconds: 1 })
  t.match(await reading, new RegExp(`"credential_id":${credentialId}`))
  leaving.abort()
})

t.test('an address with escaped letters goes to the owner, too', async (t) => {
  const { one, two, client, credentialId, key, keyId } = await twoNodes(t, 'escapedbot')
  const escaped = `${keyId}`.replace(/^./, (digit) => `%3${digit}`)
  t.match(await call(two.url, key.replace(`${keyId}`, escaped), 'getMe'), { ok: true })
  const other = client.at(two.url)
  const account = `/platforms/cred%65ntials/${credentialId}`
  t.equal((await other.ask('POST', `${account}/test`)).status, 200)
  const made = { name: 'x', credential_id: credentialId, scopes: ['bot:send'] }
  const added = await other.result('POST', '/api_keys?a', made)
  t.match(await call(one.url, added.key, 'getMe'), { ok: true })
  await other.result('DELETE', `/api_%6Beys/${added.api_key_id}`)
  t.match(await call(one.url, added.key, 'getMe'), { error_code: 401 })
  await other.result('DELETE', `/api_keys/${escaped}`)
  t.match(await call(one.url, key, 'getMe'), { error_code: 401 }, 'the owner knows of it')
})

t.test('a file goes through the wrong node both ways, and in parts', async (t) => {
  const { two, ada, key } = await twoNodes(t, 'filebot')
  const bytes = Buffer.alloc(3_000_000, 'a file through another node ')
  const form = new FormData()
  form.set('chat_id', `${ada.id}`)
  form.set('document', new Blob([bytes]), 'large.bin')
  const sent = await fetch(`${two.url}/bot${key}/sendDocument`, { method: 'POST', body: form })
  const { result } = (await sent.json()) as { result: { document: { file_id: string } } }
  const { file_id } = result.document
  const file = await call(two.url, key, 'getFile', { file_id })
  const { file_path } = file.result as { file_path: string }
  const url = `${two.url}/file/bot${key}/${file_path}`
  t.ok(bytes.equals(Buffer.from(await (await fetch(url)).arrayBuffer())))
  const part = await fetch(url, { headers: { range: 'bytes=5-9' } })
  t.equal(part.status, 206)
  t.equal(await part.text(), bytes.subarray(5, 10).toString())
})

t.test(
  'the owner knows the address of the client, and believes no client that names one',
  async (t) => {
    const { one, two, key } = await twoNodes(t, 'addressbot', { TRUST_PROXY: '127.0.0.1' })
    const from = (ip: string) => ({ 'x-forwarded-for': ip, 'x-chapar-client': '192.0.2.66' })
    await fetch(`${two.url}/bot${key}/getMe`, { headers: from('203.0.113.9') })
    await fetch(`${one.url}/bot${key}/getMe`, { headers: from('203.0.113.8') })
    const db = openDatabase({ url: one.databaseUrl, logger: quietLogger })
    t.teardown(() => db.close())
    const logged = () =>
      db.query<{ ip: string }>(`select ip from request_log where method = 'getMe' order by ip`)
    const rows = await until(async () => {
      const found = await logged()
      return found.length > 1 && found
    })
    t.same(
      rows.map(({ ip }) => ip),
      ['203.0.113.8', '203.0.113.9'],
    )
  },
)

t.test('the port for nodes is closed to whoever lacks the key file', async (t) => {
  const { two, key } = await twoNodes(t, 'closedbot')
  const db = openDatabase({ url: two.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  const [row] = await db.query<{ address: string }>('select address from node')
  const stranger = new Peer(row?.address ?? '', randomBytes(32))
  t.teardown(() => stranger.destroy())
  for (const kind of ['short', 'held', 'long'] as const) {
    const asked = askPeer(stranger.connections(kind), {
      path: `/bot${key}/getMe`,
      method: 'GET',
    })
    await t.rejects(asked, { message: /SSL routines/ }, kind)
  }
  await t.rejects(fetch(`${row?.address}/bot${key}/getMe`), 'nor does it speak to a browser')
})

t.test('a node that was drained is ready again once no other takes accounts', async (t) => {
  const { one, two } = await twoNodes(t, 'drainedbot')
  const db = openDatabase({ url: one.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  const becomes = (status: number) =>
    until(async () => (await fetch(`${one.url}/health/ready`)).status === status)
  await db.query(`update node set drain = true where name = 'one'`)
  await becomes(503)
  await two.gateway.stop()
  await becomes(200)
  const [row] = await db.query<{ state: string }>(`select state from node where name = 'one'`)
  t.equal(row?.state, 'draining', 'its order stands')
})
