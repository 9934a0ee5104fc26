/** Raw bytes at the edge: what two servers could read differently, and what Node would answer by itself. */
import { connect } from 'node:net'
import t from 'tap'
import { joinService } from '../support/shared-service.ts'

const { url } = await joinService(t)
const port = Number(new URL(url).port)

/** All that comes back until the server closes the connection, which the last of these asks for. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes, 'latin1')
  return Buffer.concat(await socket.toArray()).toString()
}

const line = (first: string, ...headers: string[]) =>
  [`${first} HTTP/1.1`, 'Host: a', ...headers, 'Connection: close', '', ''].join('\r\n')
const live = 'GET /health/live'
const json = 'Content-Type: application/json'
const unreadable = "Bad Request: can't parse the request"
const tooLarge = 'Request Header Fields Too Large'
const [missing, wrongVerb] = ['Not Found', 'Method Not Allowed']

const refusals: readonly (readonly [what: string, bytes: string, status: number, why: string])[] = [
  [
    'a length beside chunks',
    line('POST /auth/login', json, 'Content-Length: 2', 'Transfer-Encoding: chunked'),
    400,
    unreadable,
  ],
  [
    'two lengths',
    line('POST /auth/login', json, 'Content-Length: 2', 'Content-Length: 3'),
    400,
    unreadable,
  ],
  ['a negative length', line('POST /auth/login', json, 'Content-Length: -1'), 400, unreadable],
  [
    'an unknown transfer encoding',
    line('POST /auth/login', json, 'Transfer-Encoding: gzip'),
    400,
    unreadable,
  ],
  ['a folded header', line(live, 'X-Folded: a', ' b'), 400, unreadable],
  ['a bare line feed', `${live} HTTP/1.1\nHost: a\n\n`, 400, unreadable],
  ['NUL in a header', line(live, 'X-Nul: \0'), 400, unreadable],
  ['NUL in the path', line('GET /health/\0live'), 400, unreadable],
  ['a space before the colon', line(live, 'Content-Length : 1'), 400, unreadable],
  ['a header of 20 kB', line(live, `X-Large: ${'x'.repeat(20_000)}`), 431, tooLarge],
  ['10,000 headers', line(live, ...Array<string>(10_000).fill('X-Many: 1')), 431, tooLarge],
  ['a path of 20 kB', line(`GET /${'x'.repeat(20_000)}`), 431, tooLarge],
  [
    'a whole address',
    line('GET http://a/health/live'),
    404,
    'Not Found: absolute URI is specified in the Request-Line',
  ],
  ['no path', line('OPTIONS *'), 404, 'Not Found: absolute URI is specified in the Request-Line'],
  ['a bad escape', line('GET /user/%zz'), 400, unreadable],
  ['an escape that is no UTF-8', line('GET /user/sessions/%ff'), 400, unreadable],
  ['a file outside', line('GET /docs/static/..%2f..%2fpackage.json'), 404, missing],
  ['NUL in the name of a file', line('GET /docs/static/%00'), 404, missing],
  [
    'a range beyond an asset',
    line('GET /docs/static/index.css', 'Range: bytes=99999999-'),
    416,
    'Range Not Satisfiable',
  ],
  [
    'an asset that is another one',
    line('GET /docs/static/index.css', 'If-Match: "another"'),
    412,
    'Precondition Failed',
  ],
  ['TRACE', line('TRACE /health/live'), 405, wrongVerb],
  ['CONNECT', line('CONNECT a:80'), 405, wrongVerb],
  ['an expectation nobody can meet', line(live, 'Expect: a miracle'), 417, 'Expectation Failed'],
]

for (const [what, bytes, status, description] of refusals) {
  t.test(`${what} is ${status}, in the envelope`, async (t) => {
    const [head = '', body = '', ...more] = (await exchange(bytes)).split('\r\n\r\n')
    t.match(head, new RegExp(`^HTTP/1.1 ${status} `))
    t.match(head, /^x-request-id: [\w-]{22}$/im)
    t.match(head, /^content-security-policy: /im)
    t.same(JSON.parse(body), { ok: false, error_code: status, description })
    t.same(more, [], 'and nothing is answered twice')
  })
}

t.test('hundreds of requests in one go are answered in order', async (t) => {
  const paths = Array.from({ length: 900 }, (_, n) => (n % 2 ? '/health/live' : '/nothing'))
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')
  const statuses = (await exchange(`${requests}${line(live)}`)).match(/HTTP\/1\.1 \d+/g)
  const expected = [...paths, ''].map((path) => `HTTP/1.1 ${path === '/nothing' ? 404 : 200}`)
  t.same(statuses, expected)
})

t.test('extensions of chunks are read over, but not without end', async (t) => {
  const chunked = line('POST /auth/login', json, 'Transfer-Encoding: chunked')
  const some = await exchange(`${chunked}2;a=1;b="2"\r\n{}\r\n0\r\n\r\n`)
  t.match(some, /^HTTP\/1.1 400 .*field \\"(phone|otp)\\" is required/s)
  const many = await exchange(`${chunked}2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`)
  t.match(many, /^HTTP\/1.1 413 .*"error_code":413/s)
})

t.test('a body that is expected to be waited for is asked for', async (t) => {
  const socket = connect(port, '127.0.0.1')
  socket.write(line('POST /auth/login', json, 'Content-Length: 2', 'Expect: 100-continue'))
  socket.once('data', () => socket.write('{}'))
  const text = Buffer.concat(await socket.toArray()).toString()
  t.match(text, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 400 /)
})
