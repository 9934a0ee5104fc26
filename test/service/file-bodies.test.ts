/** Files of networks that send anything: the service outlives them, and promises no client what it does not send. */
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { BodyServer, content, type ShapeName } from '../support/body-server.ts'
import { exemptFromReference } from '../support/reference-check.ts'
import { startService } from '../support/service.ts'

// The stub says of a file no more than its path.
exemptFromReference()

const LIMIT = 500_000

const upstream = await BodyServer.start(t)
const env = { TELEGRAM_BOT_API_URL: upstream.url, DOWNLOAD_LIMIT: `${LIMIT}` }
const service = await startService(t, { env })
const client = await service.client()
const { credential } = await client.result('POST', '/platforms/telegram-bot/link/start', {
  token: '123456:AAsecret-of-the-bot-0123456789abcdef',
})
await client.state(credential.credential_id, 'active')
const { key } = await client.key(credential.credential_id)

let files = 0

/** Each file has a name of its own on the network, and so a path of its own here. */
async function getFile(shape: ShapeName) {
  upstream.nextPath = `photos/${BodyServer.path(shape)}.jpg`
  const { body } = await client.bot(key, 'getFile', { file_id: `file ${files++}` })
  return body
}

const download = (path: string, headers = {}) =>
  fetch(`${service.url}/file/bot${key}/${path}`, { headers })

t.test('getFile of whatever is sent answers, and the file can be had', async (t) => {
  for (const shape of ['at once', 'in pieces', 'in pieces without a length'] as const) {
    for (let turn = 0; turn < 20; turn++) t.match(await getFile(shape), { ok: true }, shape)
    const { result } = await getFile(shape)
    const answer = await download(result.file_path)
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(content), shape)
  }
})

t.test('a file whose size nobody told breaks off where it becomes too big', async (t) => {
  const { result } = await getFile('goes on for ever')
  t.equal(result.file_size, undefined)
  const answer = await download(result.file_path)
  t.equal(answer.status, 200)
  let bytes = 0
  await t.rejects(async () => {
    for await (const chunk of answer.body ?? []) bytes += chunk.length
  })
  t.ok(bytes <= LIMIT, `${bytes} were served`)
})

t.test('one that breaks off breaks off for the client too', async (t) => {
  for (const shape of ['breaks off', 'breaks off without a length'] as const) {
    const { result } = await getFile(shape)
    const answer = await download(result.file_path)
    await t.rejects(answer.arrayBuffer(), shape)
  }
})

t.test('one that turns out larger than it was said to be ends where that was', async (t) => {
  const { result } = await getFile('exceeds its length')
  // Whoever shares the connection must not read the rest as an answer.
  upstream.nextPath = `photos/${BodyServer.path('at once')}.jpg`
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  let seen = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    seen += text
  })
  const lines = `GET /file/bot${key}/${result.file_path} HTTP/1.1\r\nhost: x\r\n\r\n`
  socket.write(lines)
  for (let wait = 0; wait < 100 && bodyOf(seen).length < 1_000; wait++) await pause(20)
  await pause(100)
  t.match(seen, /content-length: 1000\r\n/)
  t.equal(bodyOf(seen).length, 1_000)
})

const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4)

t.test('clients that leave take their connections along', async (t) => {
  const { result } = await getFile('goes on for ever')
  for (let turn = 0; turn < 40; turn++) {
    const leaving = new AbortController()
    const { signal } = leaving
    const answer = await fetch(`${service.url}/file/bot${key}/${result.file_path}`, { signal })
    await answer.body?.getReader().read()
    leaving.abort()
  }
  const { result: next } = await getFile('at once')
  t.equal((await download(next.file_path)).status, 200)
})
