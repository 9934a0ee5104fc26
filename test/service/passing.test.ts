/** Calls of a bot behind the gateway: its network is asked in the bot's own words, and answers in its own. */
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { reference } from '../../src/bot-api/reference.ts'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { cutOff, html, ok, raw, refusal, startStub, token } from '../platforms/upstream-bot/stub.ts'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'

const stub = await startStub(t)
const env = { TELEGRAM_BOT_API_URL: stub.url, UPLOAD_LIMIT: '2000000', PLATFORM_TIMEOUT_MS: '1500' }
const service = await startService(t, { env })
const client = await service.client()
const credentialId = await linkBot(client, { token })
const { key, api_key_id } = await client.key(credentialId)

const OURS = ['getUpdates', 'setWebhook', 'deleteWebhook', 'getWebhookInfo', 'logOut', 'close']
const call = (method: string, init: RequestInit = {}, by: string = key) =>
  fetch(`${service.url}/bot${by}/${method}`, init)

/** The line of the request log with this code, once it is there. */
const logged = (code: number, of = 'sendMessage') =>
  until(async () => {
    const query = `api_key_id=${api_key_id}&error_code=${code}`
    const { items } = await client.result('GET', `/user/logs/api-requests?${query}`)
    return items.find(({ method }: { method: string }) => method === of)
  })

/** A value of each type, in a form that a parser that prints again would change. */
const values: Readonly<Record<string, string>> = {
  number: '9007199254740993',
  string: '"سلام \\u0633 \\/ \\ud83d\\ude00"',
  boolean: 'true',
  chat: '-1001234567890',
  file: '"AgACAgIAAxkBAAI"',
  json: '[ {"n": 1.50, "big": 12345678901234567890, "newer": null} ]',
}

t.test('every method goes on with every parameter, as it was sent', async (t) => {
  stub.otherwise(ok(true))
  const methods = [...reference].filter(([method]) => !OURS.includes(method))
  let reached = 0
  for (const [method, parameters] of methods) {
    const json = `{${parameters.map(({ name, type }) => `"${name}" : ${values[type]}`).join(', ')} }`
    const text = ({ type }: (typeof parameters)[number]) =>
      type === 'string' ? 'سلام &=+ %' : (values[type] ?? '')
    const form = new URLSearchParams()
    for (const one of parameters) form.set(one.name, text(one))
    const parts = new FormData()
    for (const one of parameters) {
      if (one.type === 'file') parts.set(one.name, new File(['\0\r\n--\xff'], 'ی "1".bin'))
      else parts.set(one.name, text(one))
    }
    const multipart = new Response(parts)
    const sent = [
      ['application/json', Buffer.from(json)],
      ['application/x-www-form-urlencoded;charset=UTF-8', Buffer.from(form.toString())],
      [multipart.headers.get('content-type') ?? '', Buffer.from(await multipart.arrayBuffer())],
    ] as const
    for (const [type, body] of parameters.length > 0 ? sent : sent.slice(0, 1)) {
      const answer = await call(method, { method: 'POST', headers: { 'content-type': type }, body })
      const { result } = (await answer.json()) as { result: unknown }
      t.ok(method === 'getMe' ? result : result === true, method)
      const asked = stub.last(method)
      t.ok(asked?.bytes.equals(body), `${method} as ${type}`)
      t.equal(asked?.headers['content-type'], type)
      t.equal(asked?.verb, 'POST')
    }
    await (await call(`${method}?${form}`)).text()
    t.match(stub.last(method), { verb: 'GET', query: `?${form}` })
    reached += 1
  }
  t.comment(`${reached + OURS.length} of ${reference.size} methods reach the upstream or are ours`)
  t.equal(reached + OURS.length, reference.size)
})

t.test('methods that nobody knows yet go on, and names that are none do not', async (t) => {
  t.equal((await call('sendHologram?chat_id=1&x=%00', { method: 'POST' })).status, 200)
  t.match(stub.last('sendHologram'), { query: '?chat_id=1&x=%00' })
  const before = stub.asked.length
  for (const path of ['a/b', '..%2fbot1:x%2fgetMe', 'get%0aMe', 'x'.repeat(65), 'get_Me?x']) {
    t.equal((await call(path)).status, 404, path)
  }
  const asked = stub.asked.slice(before).map(({ method }) => method)
  t.strictSame(
    asked.filter((method) => !['getUpdates', 'getMe'].includes(method)),
    [],
  )
  const named = await call('', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"method":"getStarTransactions","limit":3}',
  })
  t.equal(named.status, 200)
  t.match(stub.last('getStarTransactions')?.bytes.toString(), /limit=3/)
})

t.test('what is ours never goes on, however it is written', async (t) => {
  const before = stub.asked.length
  const spelt = OURS.flatMap((method) => [method, method.toUpperCase(), method.toLowerCase()])
  for (const method of [...spelt, 'set%57ebhook', 'getChats', 'resolvephone']) {
    await (await call(method, { method: 'POST' })).text()
  }
  // The gateway itself polls, and looks whether the network is there.
  const asked = stub.asked.slice(before).map(({ method }) => method)
  t.strictSame(
    asked.filter((method) => !['getUpdates', 'getMe'].includes(method)),
    [],
  )
})

t.test('a form whose path names no method goes on, and its files are not kept', async (t) => {
  stub.next('getStarTransactions', ok({ transactions: [] }))
  const named = new FormData()
  named.set('method', 'getStarTransactions')
  named.set('limit', '3')
  t.equal((await call('', { method: 'POST', body: named })).status, 200)
  t.match(stub.last('getStarTransactions')?.bytes.toString(), /limit=3/)
  const filed = new FormData()
  filed.set('method', 'sendDocument')
  filed.set('document', new File([new Uint8Array(100_000)], 'a.bin'))
  t.match(await (await call('', { method: 'POST', body: filed })).json(), {
    error_code: 404,
    description: 'Not Found: method not found',
  })
  const all = await readdir(service.dataDir, { recursive: true, withFileTypes: true })
  const left = all.filter((one) => one.isFile() && one.parentPath.includes('/temporary/'))
  t.strictSame(left, [])
})

t.test('an upload whose chat stands behind the file counts for no other chat', async (t) => {
  const rated = await startService(t, {
    env: { ...env, CHAT_RATE: '1', CHAT_BURST: '2', SEND_RATE: '1000', SEND_BURST: '6' },
  })
  const owner = await rated.client()
  const { key } = await owner.key(await linkBot(owner, { token }))
  const statuses: number[] = []
  for (let chat = 1; chat <= 7; chat++) {
    const form = new FormData()
    form.set('document', new File(['x'], 'a.bin'))
    form.set('chat_id', `${chat}`)
    const init = { method: 'POST', body: form }
    statuses.push((await fetch(`${rated.url}/bot${key}/sendDocument`, init)).status)
  }
  t.strictSame(statuses.slice(0, 6), [200, 200, 200, 200, 200, 200])
})

t.test('refusals come as they came', async (t) => {
  const texts = [
    [400, '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}'],
    [403, '{ "description":"Forbidden: bot was kicked", "error_code":403, "ok":false }'],
    [
      429,
      '{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 17","parameters":{"retry_after":17}}',
    ],
    [409, '{"ok":false,"error_code":409,"description":"Conflict: x"}'],
    [500, '{"ok":false,"error_code":500,"description":"Internal Server Error"}'],
    [404, '{"ok":false,"error_code":404,"description":"Not Found"}'],
    [418, '{"ok":false,"error_code":40001,"description":"odd"}'],
  ] as const
  for (const [status, text] of texts) {
    stub.next('sendMessage', raw(status, text))
    const answer = await call('sendMessage?chat_id=1&text=x')
    t.equal(answer.status, status)
    t.equal(await answer.text(), text)
    t.equal(answer.headers.get('retry-after'), status === 429 ? '17' : null)
    t.match(answer.headers.get('content-type'), 'application/json')
  }
  const soft = '{"ok":false,"error_code":422,"description":"Bad Request: odd","parameters":[]}'
  stub.next('sendMessage', raw(200, soft))
  const said = await call('sendMessage?chat_id=1&text=x')
  t.equal(await said.text(), soft, 'under the status of a success, with a list for an object')
  await logged(422)
  await logged(418)
  stub.next('sendMessage', raw(999, '{"ok":false,"error_code":400,"description":"x"}'))
  t.match(await (await call('sendMessage?chat_id=1&text=x')).json(), { error_code: 502 })
  stub.next('sendMessage', html)
  t.match(await (await call('sendMessage?chat_id=1&text=x')).json(), { error_code: 502 })
  stub.next('sendMessage', raw(200, '{"ok":true,"result":{'))
  t.match(await (await call('sendMessage?chat_id=1&text=x')).json(), { error_code: 502 })
  stub.next('sendMessage', cutOff)
  t.match(await (await call('sendMessage?chat_id=1&text=x')).json(), { error_code: 504 })
  stub.next('sendMessage', () => undefined)
  t.match(await (await call('sendMessage?chat_id=1&text=x')).json(), {
    error_code: 504,
    description:
      'Gateway Timeout: the platform did not answer in time; the message may have been sent',
  })
  const huge = Buffer.alloc(17_000_000, 'x').toString()
  stub.next('getChat', raw(200, `{"ok":true,"result":"${huge}"}`))
  t.match(await (await call('getChat?chat_id=1')).json(), { error_code: 502 })
  const large = `{"ok":true,"result":"${huge.slice(0, 9_000_000)}"}`
  stub.next('getChat', raw(200, large))
  t.ok((await (await call('getChat?chat_id=1')).text()) === large, 'a large answer comes whole')
})

t.test('files go on while they come', async (t) => {
  const boundary = 'edge'
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="chat_id"\r\n\r\n42\r\n--${boundary}\r\ncontent-disposition: form-data; name="document"; filename="a.bin"\r\n\r\n`
  const seen: Buffer[] = []
  stub.watch((chunk) => void seen.push(chunk))
  const answered = Promise.withResolvers<number | undefined>()
  const upload = request(`${service.url}/bot${key}/sendDocument`, {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  upload.on('response', (response) => {
    response.resume()
    answered.resolve(response.statusCode)
  })
  upload.write(head + 'x'.repeat(100_000))
  await until(() => Buffer.concat(seen).includes(head))
  t.pass('it arrives before its end')
  upload.end(`${'y'.repeat(1_000_000)}\r\n--${boundary}--\r\n`)
  t.equal(await answered.promise, 200)
  t.equal(stub.last('sendDocument')?.bytes.length, Buffer.byteLength(head) + 1_100_000 + 12)
  stub.watch(() => undefined)
})

t.test('limits of bodies hold', async (t) => {
  const form = new FormData()
  form.set('chat_id', '42')
  form.set('document', new File([new Uint8Array(2_100_000)], 'a.bin'))
  const tooLarge = await call('sendDocument', { method: 'POST', body: form })
  t.match(await tooLarge.json(), { ok: false, error_code: 413 })
  const words = new FormData()
  words.set('text', 'x'.repeat(1_100_000))
  const tooLong = await call('sendMessage', { method: 'POST', body: words })
  t.match(await tooLong.json(), { ok: false, error_code: 413 })
  const headers = { 'content-type': 'application/json' }
  const body = `{"text":"${'x'.repeat(1_100_000)}"}`
  t.equal((await call('sendMessage', { method: 'POST', headers, body })).status, 413)
  const two = new FormData()
  for (const name of ['a', 'b']) two.set(name, new File([new Uint8Array(1_900_000)], name))
  t.equal((await call('sendMediaGroup', { method: 'POST', body: two })).status, 200)
  const one = { method: 'POST', body: new Uint8Array(2_100_000) }
  t.equal((await call('sendDocument?document=attach://file', one)).status, 413)
  t.equal((await call('getMe')).status, 200, 'and the next call is served')
})

t.test('a body that is a file as a whole goes on as it is', async (t) => {
  stub.otherwise(ok(true))
  const bytes = Buffer.alloc(1_500_000, 'long')
  const headers = { 'content-type': 'text/csv' }
  const method = 'sendDocument?chat_id=42&document=attach://file'
  for (const body of [bytes, new Blob([bytes]).stream()]) {
    const answer = await call(method, { method: 'POST', headers, body, duplex: 'half' } as never)
    t.equal(answer.status, 200)
    t.ok(stub.last('sendDocument')?.bytes.equals(bytes))
    t.equal(stub.last('sendDocument')?.headers['content-type'], 'text/csv')
  }
  const untyped = new Uint8Array([0, 1])
  t.equal((await call(method, { method: 'POST', body: untyped })).status, 200)
  t.match(stub.last('sendDocument')?.headers['content-type'], 'application/octet-stream')
})

t.test('a file that is too large leaves its connection to the next call', async (t) => {
  const boundary = 'boundary-of-parts'
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="document"; filename="a"\r\n\r\n`
  const body = Buffer.concat([Buffer.from(head), Buffer.alloc(6_000_000), Buffer.from('\r\n')])
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
  })
  const type = `multipart/form-data; boundary=${boundary}`
  socket.write(
    `POST /bot${key}/sendDocument HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`,
  )
  socket.write(body)
  socket.write(`GET /bot${key}/getMe HTTP/1.1\r\nhost: a\r\n\r\n`)
  // What is left unread is cut off after ten seconds.
  await until(() => received.split('HTTP/1.1 ').length > 2, 8_000)
  t.match(received, /^HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 200 /)
})

t.test('files of the network are served at our address', async (t) => {
  const path = '{"ok":true,"result":{"file_id":"AgAC","file_path":"photos/file 3.jpg"}}'
  stub.next('getFile', raw(200, path))
  t.equal(await (await call('getFile?file_id=AgAC')).text(), path)
  const address = `${service.url}/file/bot${key}/photos/file%203.jpg`
  stub.next('file%203.jpg', raw(200, 'bytes', { 'content-type': 'image/jpeg', etag: '"a"' }))
  const whole = await fetch(address)
  t.equal(await whole.text(), 'bytes')
  t.match(
    [whole.status, whole.headers.get('content-type'), whole.headers.get('etag')],
    [200, 'image/jpeg', '"a"'],
  )
  t.match(whole.headers.get('content-disposition'), /^attachment; filename="file_3.jpg"/)
  const range = { 'content-range': 'bytes 1-2/5', 'content-type': 'text/html' }
  stub.next('file%203.jpg', raw(206, 'yt', range))
  const part = await fetch(address, { headers: { range: 'bytes=1-2' } })
  t.equal(await part.text(), 'yt')
  t.equal(part.status, 206)
  t.equal(part.headers.get('content-type'), 'application/octet-stream', 'nothing runs in a browser')
  t.equal(stub.last('file%203.jpg')?.headers.range, 'bytes=1-2')
  stub.next('file%203.jpg', refusal(404, 'Not Found'))
  t.same(await (await fetch(address)).json(), {
    ok: false,
    error_code: 404,
    description: 'Not Found',
  })
  stub.next('file%203.jpg', raw(416, '', { 'content-range': 'bytes */5' }))
  const beyond = await fetch(address, { headers: { range: 'bytes=9-' } })
  t.match([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */5'])
  const later = { retry_after: 17 }
  stub.next('file%203.jpg', refusal(429, 'Too Many Requests: retry after 17', later))
  const refused = await fetch(address)
  t.match([refused.status, refused.headers.get('retry-after')], [429, /^17$/])
  stub.next('file%203.jpg', html)
  t.match(await (await fetch(address)).json(), { error_code: 502 })
  stub.next('file%203.jpg', raw(503, '<p>'.repeat(40_000)))
  t.match(await (await fetch(address)).json(), { error_code: 502 }, 'however long it is')
  stub.next('file%203.jpg', refusal(403, `Forbidden: /bot${token}/photos`))
  t.match(await (await fetch(address)).json(), { description: 'Forbidden: /bot<token>/photos' })
  const packed = gzipSync('bytes')
  stub.next('file%203.jpg', (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
  })
  t.equal(await (await fetch(address)).text(), 'bytes', 'compressed without being asked for')
  const ownDisk = `{"ok":true,"result":{"file_path":"/var/lib/${token}/photos/file_1.jpg"}}`
  stub.next('getFile', raw(200, ownDisk))
  const { result } = (await (await call('getFile?file_id=AgAC')).json()) as never
  t.match(result, { file_path: '/var/lib/<token>/photos/file_1.jpg' })
  const { key: deaf } = await client.key(credentialId, ['bot:send'])
  t.equal((await fetch(address.replace(key, deaf))).status, 403)
  t.equal((await fetch(`${service.url}/file/bot${key}/..%2f..%2fbot1:x/getMe`)).status, 404)
})

t.test('scopes, rates and the request log are of the key', async (t) => {
  const { key: reader } = await client.key(credentialId, ['bot:receive'])
  for (const method of ['sendInvoice', 'sendHologram', 'answerInlineQuery', 'getManagedBotToken']) {
    const answer = await call(method, { method: 'POST' }, reader)
    t.match(await answer.json(), {
      error_code: 403,
      description: 'Forbidden: the key lacks the scope bot:send',
    })
  }
  t.equal((await call('getMyStarBalance', {}, reader)).status, 200)
  stub.next('sendInvoice', refusal(400, 'Bad Request: CURRENCY_INVALID'))
  await call('sendInvoice', { method: 'POST', body: new URLSearchParams({ chat_id: '1' }) })
  t.match(await logged(400, 'sendInvoice'), {
    method: 'sendInvoice',
    status: 400,
    description: 'Bad Request: CURRENCY_INVALID',
    api_key_id,
  })
})

t.test('a key that may not receive gets no updates and no webhook', async (t) => {
  const { key: deaf } = await client.key(credentialId, ['bot:send'])
  const url = 'https://bot.example.org/hook'
  const body = new URLSearchParams({ url, secret_token: 'open-sesame' })
  for (const method of ['getUpdates', 'setWebhook', 'deleteWebhook', 'getWebhookInfo']) {
    const answer = await call(method, { method: 'POST', body }, deaf)
    t.equal(answer.status, 403, method)
    t.match(await answer.json(), {
      ...{ ok: false, error_code: 403 },
      description: 'Forbidden: the key lacks the scope bot:receive',
    })
  }
  t.equal(stub.last('setWebhook'), undefined, 'the network is not asked')
  const invalid = new URLSearchParams({ url, secret_token: 'open sesame' })
  t.match(await (await call('setWebhook', { method: 'POST', body: invalid })).json(), {
    error_code: 400,
    description: 'Bad Request: secret token contains unallowed characters',
  })
})

t.test('a token that was taken back logs the account out', async (t) => {
  stub.next('getChat', refusal(401, 'Unauthorized'))
  t.match(await (await call('getChat?chat_id=1')).json(), {
    error_code: 403,
    description: 'Forbidden: the credential is logged out; link it again',
  })
  await client.state(credentialId, 'logged_out')
  t.equal((await call('getChat?chat_id=1')).status, 403)
})

t.test('so does one that is taken back while a file is asked for', async (t) => {
  const credential = await linkBot(client, { token })
  const { key } = await client.key(credential)
  stub.next('file_9', refusal(401, 'Unauthorized'))
  const answer = await fetch(`${service.url}/file/bot${key}/documents/file_9`)
  t.match(await answer.json(), {
    error_code: 403,
    description: 'Forbidden: the credential is logged out; link it again',
  })
  await client.state(credential, 'logged_out')
})
