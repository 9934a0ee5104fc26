/** Downloads over real HTTP: ranges, tags, names, and who may have them. */
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)
const client = await service.client()
const credentialId = await client.link(await client.person('Ada'))
const { key, api_key_id } = await client.key(credentialId)
const { media } = service.gateway
const { user } = await client.result('GET', '/user')
const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => database.close())

const content = randomBytes(200_000)

/** A document in the store; returns the path that it was given. */
async function issued(bytes: Buffer, name?: string, mime?: string): Promise<string> {
  const source = { from: 'stream' as const, stream: Readable.from([bytes]) }
  const [row] = await database.query<{ id: number }>('select id from app_user')
  const ingestion = { userId: user?.id ?? row?.id ?? 0, kind: 'document' as const, source }
  const { media: stored } = await media.service.ingest(ingestion, new AbortController().signal)
  const about = { size: bytes.length, ...(name && { name }), ...(mime && { mime }) }
  const folder = 'documents' as const
  const { path } = await media.paths.issue({ credentialId, folder, file: stored.file, ...about })
  return path
}

const path = await issued(content, 'отчёт "1".pdf')

async function get(target = path, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(`${service.url}/file/bot${key}/${target}`, { method, headers })
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    bytes: Buffer.from(await answer.arrayBuffer()),
  }
}

t.test('a file comes whole, as bytes that no browser shows', async (t) => {
  const { status, headers, bytes } = await get()
  t.equal(status, 200)
  t.ok(bytes.equals(content))
  t.match(headers, {
    'content-length': /^200000$/,
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
    'content-disposition':
      /^attachment; filename="[\w.-]+"; filename\*=UTF-8''%D0%BE%D1%82%D1%87.*%221%22\.pdf$/,
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/,
    etag: /^"[\w-]{27}"$/,
  })
})

t.test('two slashes before its path lead to it too', async (t) => {
  const { status, bytes } = await get(`/${path}`)
  t.equal(status, 200)
  t.ok(bytes.equals(content))
})

t.test('what runs nowhere keeps its type, what could run in a browser is bytes', async (t) => {
  const types = [
    ['image/png', 'image/png'],
    ['video/mp4', 'video/mp4'],
    ['application/pdf', 'application/pdf'],
    ['image/svg+xml', 'application/octet-stream'],
    ['text/html', 'application/octet-stream'],
    ['application/xhtml+xml', 'application/octet-stream'],
  ] as const
  for (const [mime, served] of types) {
    const { headers } = await get(await issued(randomBytes(10), 'a.bin', mime))
    t.match(headers, { 'content-type': served, 'content-disposition': /^attachment/ }, mime)
  }
})

t.test('HEAD says the same without the bytes', async (t) => {
  const [head, whole] = [await get(path, {}, 'HEAD'), await get()]
  t.equal(head.status, 200)
  t.equal(head.bytes.length, 0)
  for (const name of ['content-length', 'etag', 'content-disposition', 'accept-ranges']) {
    t.equal(head.headers[name], whole.headers[name], name)
  }
})

t.test('a range is exactly that part', async (t) => {
  const cases: [string, number, number][] = [
    ['bytes=0-0', 0, 1],
    ['bytes=0-', 0, 200_000],
    ['bytes=65535-65536', 65_535, 65_537],
    ['bytes=150000-999999999', 150_000, 200_000],
    ['bytes=-5', 199_995, 200_000],
    ['bytes=-999999999', 0, 200_000],
    ['bytes=199999-', 199_999, 200_000],
  ]
  for (const [range, from, to] of cases) {
    const { status, headers, bytes } = await get(path, { range })
    t.equal(status, 206, range)
    t.equal(headers['content-range'], `bytes ${from}-${to - 1}/200000`)
    t.equal(headers['content-length'], `${to - from}`)
    t.ok(bytes.equals(content.subarray(from, to)), range)
  }
})

t.test('a range of nothing is 416, one that is none is ignored', async (t) => {
  for (const range of ['bytes=200000-', 'bytes=-0', 'bytes=999999999999999-']) {
    const { status, headers, bytes } = await get(path, { range })
    t.equal(status, 416, range)
    t.equal(headers['content-range'], 'bytes */200000')
    t.match(JSON.parse(bytes.toString()), { ok: false, error_code: 416 })
  }
  const many = `bytes=${Array.from({ length: 1_000 }, (_, at) => `${at}-${at + 500}`).join()}`
  for (const range of ['bytes=5-4', 'bytes=', 'bytes=a-b', 'lines=0-1', 'bytes=0-1,5-6', many]) {
    t.equal((await get(path, { range })).status, 200, range.slice(0, 30))
  }
})

t.test('who has it already is told so, and a range is of the same bytes', async (t) => {
  const { etag = '' } = (await get(path, {}, 'HEAD')).headers
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const { status, bytes } = await get(path, { 'if-none-match': tag })
    t.same([status, bytes.length], [304, 0], tag)
  }
  t.equal((await get(path, { 'if-none-match': '"other"' })).status, 200)
  t.equal((await get(path, { range: 'bytes=0-1', 'if-range': etag })).status, 206)
  t.equal((await get(path, { range: 'bytes=0-1', 'if-range': '"other"' })).status, 200)
})

t.test('only who may receive for this account gets it', async (t) => {
  const expect = async (used: string, status: number, target = path) => {
    const answer = await fetch(`${service.url}/file/bot${used}/${target}`)
    t.equal(answer.status, status)
    t.match(await answer.json(), { ok: false, error_code: status })
  }
  await expect('123456:wrong', 401)
  await expect(
    key.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A')),
    401,
  )
  const sender = await client.key(credentialId, ['bot:send'])
  await expect(sender.key, 403)
  const other = await client.key(await client.link(await client.person('Bob')))
  await expect(other.key, 404)
  const revoked = await client.key(credentialId)
  t.equal((await fetch(`${service.url}/file/bot${revoked.key}/${path}`)).status, 200)
  await client.result('DELETE', `/api_keys/${revoked.api_key_id}`)
  await expect(revoked.key, 401)
})

t.test('nothing leads out of the store', async (t) => {
  const paths = [
    ...[
      'documents/file_999.pdf',
      'documents/../documents/file_0',
      '../../etc/passwd',
      '/etc/passwd',
    ],
    ...[
      'documents/..%2f..%2fetc%2fpasswd',
      '..%252f..',
      'documents\\..\\file_0',
      'documents/file_0%00',
    ],
    ...[
      '\u2025/etc',
      `documents/${'a'.repeat(4_000)}`,
      '',
      'documents/',
      'photos/file_0.jpg?x=../..',
    ],
  ]
  for (const each of paths) {
    const { status, body } = await rawGet(`/file/bot${key}/${encodeURI(each)}`)
    t.equal(status, 404, each.slice(0, 60))
    t.match(JSON.parse(body), { ok: false, error_code: 404 })
  }
})

t.test('a path is good for an hour at least, and then no more', async (t) => {
  const temporary = await issued(Buffer.from('for a while'))
  t.equal((await get(temporary)).status, 200)
  const [row] = await database.query<{ left: number }>(
    `select extract(epoch from expires_at - now())::int as left from media_path where path = $1`,
    [temporary],
  )
  t.ok((row?.left ?? 0) >= 3_600)
  await database.query(`update media_path set expires_at = now() where path = $1`, [temporary])
  t.equal((await get(temporary)).status, 404)
  t.not(await issued(Buffer.from('for a while')), temporary, 'a new path is another one')
  t.equal(await issued(content, 'again.pdf'), path, 'a path that is still good is given again')
})

t.test('a download is in the request log, without the key', async (t) => {
  const items = await until(async () => {
    const path = `/user/logs/api-requests?api_key_id=${api_key_id}`
    const { items } = await client.result('GET', path)
    return items.length > 0 && items
  })
  t.match(items[0], { method: 'file' })
  t.notOk(JSON.stringify(items).includes(key.split(':')[1]))
})

t.test('a client that leaves in the middle disturbs nobody', async (t) => {
  const large = await issued(randomBytes(8_000_000))
  for (let times = 0; times < 5; times++) {
    await new Promise<void>((resolve) => {
      const asked = request(`${service.url}/file/bot${key}/${large}`, (answer) => {
        answer.once('data', () => asked.destroy())
        answer.once('close', resolve)
        answer.on('error', () => undefined)
      })
      asked.on('error', () => undefined).end()
    })
  }
  t.equal((await get(large)).bytes.length, 8_000_000)
})

/** Sends the path as it is: `fetch` would tidy it up. */
function rawGet(path: string): Promise<{ status: number | undefined; body: string }> {
  const { hostname, port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path }, async (answer) => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk)
      resolve({ status: answer.statusCode, body: Buffer.concat(chunks).toString() })
    })
    asked.on('error', reject).end()
  })
}

t.test('a user who reads slowly keeps the others from nothing', async (t) => {
  const large = await issued(randomBytes(18_000_000), 'large.bin')
  const leaving = new AbortController()
  // Kept: an answer that nobody holds is given up.
  const begun: Response[] = []
  const reading = Array.from({ length: 40 }, async () => {
    const whole = `${service.url}/file/bot${key}/${large}`
    begun.push(await fetch(whole, { signal: leaving.signal }))
  })
  await until(() => begun.length === 32)
  const other = await service.client()
  const of = await other.link(await other.person('Bela'))
  const source = { from: 'stream' as const, stream: Readable.from([content]) }
  const [row] = await database.query<{ user_id: number }>(
    'select user_id from credential where id = $1',
    [of],
  )
  const ingestion = { userId: row?.user_id ?? 0, kind: 'document' as const, source }
  const { media: stored } = await media.service.ingest(ingestion, new AbortController().signal)
  const about = { credentialId: of, folder: 'documents' as const, file: stored.file }
  const { path } = await media.paths.issue({ ...about, size: content.length })
  const theirs = await other.key(of)
  const answer = await fetch(`${service.url}/file/bot${theirs.key}/${path}`)
  t.ok(Buffer.from(await answer.arrayBuffer()).equals(content))
  t.equal(begun.length, 32, 'the others of the first user wait')
  leaving.abort()
  await Promise.allSettled(reading)
  t.equal((await get()).status, 200, 'whoever leaves gives the place back')
})
