/** Files that come along with a call: received as a stream, bounded, and gone once the call is answered. */
import { randomBytes } from 'node:crypto'
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'

const LIMIT = 2_000_000
const service = await startService(t, { env: { UPLOAD_LIMIT: `${LIMIT}` } })
const client = await service.client()
const ada = await client.person('Ada')
const { key } = await client.key(await client.link(ada))

/** Temporary files of the service. */
async function temporary(): Promise<number> {
  const folder = join(service.dataDir, 'media', 'temporary')
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  return found.filter((entry) => entry.isFile()).length
}

async function call(method: string, parts: Record<string, string | Blob>) {
  const body = new FormData()
  for (const [name, part] of Object.entries(parts)) body.append(name, part)
  const answer = await fetch(`${service.url}/bot${key}/${method}`, { method: 'POST', body })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

const bytes = (size: number) => new Blob([randomBytes(size)])
const boundary = 'a-boundary'
const multipart = { 'content-type': `multipart/form-data; boundary=${boundary}` }
const octets = { 'content-type': 'application/octet-stream' }
const opening = (name: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="a.bin"\r\n\r\n`

/** Sends these chunks as they are; resolves with the status, or undefined when there is no answer. */
function send(
  chunks: Iterable<Buffer | string> | AsyncIterable<Buffer | string>,
  headers: Record<string, string> = multipart,
) {
  return new Promise<number | undefined>((resolve) => {
    const options = { method: 'POST', headers }
    const asked = request(`${service.url}/bot${key}/getMe`, options, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.on('error', () => resolve(undefined))
    Readable.from(chunks)
      .on('error', () => asked.destroy())
      .pipe(asked)
  })
}

t.afterEach(async () => {
  await until(async () => (await temporary()) === 0)
})

t.test('files that nobody asked for are received and forgotten', async (t) => {
  const answer = await call('getMe', { one: bytes(10), two: bytes(LIMIT), text: 'text' })
  t.match(answer, { status: 200, body: { ok: true } })
  t.equal(await temporary(), 0)
})

t.test('files that the service cannot keep are not the fault of the caller', async (t) => {
  const place = join(service.dataDir, 'media', 'temporary')
  await rename(place, `${place}-away`)
  try {
    const removed = await call('getMe', { one: bytes(10) })
    const description = 'Service Unavailable: files cannot be read or kept now'
    t.match(removed, { status: 503, body: { description, parameters: { retry_after: 5 } } })
    await writeFile(place, 'no folder')
    t.match(await call('getMe', { one: bytes(10) }), { status: 500 })
  } finally {
    await rm(place, { recursive: true, force: true })
    await rename(`${place}-away`, place)
  }
  t.match(await call('getMe', { one: bytes(10) }), { status: 200 })
})

t.test('of files without a length only some come at once', async (t) => {
  const { promise: whole, resolve: end } = Promise.withResolvers<void>()
  async function* slowly() {
    yield opening('a')
    await whole
    yield `x\r\n--${boundary}--\r\n`
  }
  const coming = Array.from({ length: 50 }, () => send(slowly()))
  const short = [opening('a'), `x\r\n--${boundary}--\r\n`]
  await until(async () => (await send(short)) === 429)
  t.equal((await call('getMe', { one: bytes(10) })).status, 200, 'others say their length')
  end()
  t.same(new Set(await Promise.all(coming)), new Set([200]))
  t.equal(await send(short), 200, 'one that has come makes room')
})

t.test('a file beyond the limit is 413, whatever the method', async (t) => {
  t.match(await call('getMe', { file: bytes(LIMIT + 1) }), {
    status: 413,
    body: { ok: false, error_code: 413, description: 'Request Entity Too Large' },
  })
  const many = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`part${index}`, bytes(LIMIT)]),
  )
  t.match(await call('getMe', many), { status: 413 }, 'so is more than an album of them')
  t.equal(await send([randomBytes(LIMIT + 1)], octets), 413, 'and one that is the body as a whole')
})

t.test('a body without an end or of too many parts is refused', async (t) => {
  const crowd = Array.from({ length: 60 }, (_, index) => `${opening(`p${index}`)}x\r\n`)
  const cases: [string, string, number][] = [
    ['no final boundary', `${opening('a')}x`, 400],
    ['no headers', `--${boundary}\r\n\r\n\r\n`, 400],
    ['nothing at all', '', 200],
    ['more files than allowed', `${crowd.join('')}--${boundary}--\r\n`, 413],
    [
      'a name of a megabyte, which is no part',
      `${opening('n'.repeat(1_000_000))}x\r\n--${boundary}--\r\n`,
      200,
    ],
  ]
  for (const [name, body, status] of cases) t.equal(await send([body]), status, name)
})

t.test('a part cannot reach what objects are made of', async (t) => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const status = await send([`${opening(name)}x\r\n--${boundary}--\r\n`])
    t.ok(status === 200 || status === 400, `${name}: ${status}`)
  }
})

t.test('a client that leaves in the middle leaves nothing behind', async (t) => {
  let wasThere = 0
  async function* broken(first: string) {
    yield first
    // A megabyte would still be in memory.
    yield randomBytes(1_500_000)
    await until(async () => (await temporary()) > 0)
    wasThere += 1
    throw new Error('the client leaves')
  }
  t.equal(await send(broken(opening('file'))), undefined)
  await until(async () => (await temporary()) === 0)
  t.equal(await send(broken('x'), octets), undefined)
  t.equal(wasThere, 2)
})

t.test('a document goes to a chat and its bytes come back', async (t) => {
  const content = Buffer.from('the same bytes ✓')
  const sent = await call('sendDocument', {
    chat_id: `${ada.id}`,
    document: new File([content], 'note.txt', { type: 'text/plain' }),
    caption: 'read this',
  })
  t.match(sent.body, {
    ok: true,
    result: { caption: 'read this', document: { file_name: 'note.txt', mime_type: 'text/plain' } },
  })
  const { file_id } = sent.body.result.document
  const got = await client.bot(key, 'getFile', { file_id })
  t.match(got.body, {
    ok: true,
    result: { file_path: /^documents\/file_\d+\.txt$/, file_size: 18 },
  })
  const { file_path } = got.body.result
  const answer = await fetch(`${service.url}/file/bot${key}/${file_path}`)
  t.ok(content.equals(Buffer.from(await answer.arrayBuffer())))
})
