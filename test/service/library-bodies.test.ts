/** What bot libraries of other languages write, byte for byte. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { type RawRequest, raw, refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t)
const to = `${ada.id}`

const post = (
  method: string,
  type: string,
  body: string | Buffer,
  headers: RawRequest['headers'] = {},
) =>
  raw(service.url, `/bot${key}/${method}`, {
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body,
  })
const done = (result: object) => ({ status: 200, body: { ok: true, result } })

/** A part is its header lines and its content. */
function form(method: string, parts: readonly (readonly [head: string, content: string])[]) {
  const body = parts.map(([head, content]) => `--abc\r\n${head}\r\n\r\n${content}\r\n`)
  return post(method, 'multipart/form-data; boundary=abc', `${body.join('')}--abc--\r\n`)
}

t.test('JSON that holds no parameters is none where none is needed', async (t) => {
  // telebot (Go), clients made with serde (Rust), json_encode of an empty array (PHP).
  for (const nothing of ['null\n', 'null', '[]', ' [] ']) {
    t.match(await post('getMe', 'application/json', nothing), done({ is_bot: true }), nothing)
    t.match(await post('getWebhookInfo', 'application/json', nothing), done({ url: '' }), nothing)
    t.match(await post('GETUPDATES', 'application/json', nothing), done([]), nothing)
  }
})

t.test(
  'a method that does not exist is not found, whatever stands in place of its parameters',
  async (t) => {
    for (const nothing of ['null', '[]']) {
      const answer = await post('BAD%20METHOD', 'application/json', nothing)
      t.match(answer, refused(404, 'Not Found: method not found'), nothing)
    }
  },
)

t.test('where a parameter is needed, what stands in place of all is named', async (t) => {
  const why = "Bad Request: can't parse the request body: a JSON object is expected"
  for (const nothing of ['null', '[]']) {
    t.match(await post('sendMessage', 'application/json', nothing), refused(400, why), nothing)
  }
  t.match(await post('getMe', 'application/json', '[1]'), refused(400, why))
  t.match(await post('getMe', 'application/json', '"text"'), refused(400, why))
})

t.test('a form of no fields is none', async (t) => {
  // go-telegram/bot names a form for calls without parameters, too.
  const type = 'multipart/form-data; boundary=abc'
  for (const body of ['', '--abc--\r\n', '\r\n--abc--\r\n']) {
    t.match(await post('getMe', type, body), done({ is_bot: true }))
    const chunked = { 'transfer-encoding': 'chunked' }
    t.match(await post('getMe', type, body, chunked), done({ is_bot: true }))
  }
})

t.test('parts say more of themselves than their name', async (t) => {
  // aiohttp, Guzzle, OkHttp, and .NET, which writes names without quotes.
  const heads: readonly ((name: string, length: number) => string)[] = [
    (name) =>
      `content-type: text/plain; charset=utf-8\r\ncontent-disposition: form-data; name="${name}"`,
    (name, length) => `content-disposition: form-data; name="${name}"\r\ncontent-length: ${length}`,
    (name) => `content-disposition: form-data; name="${name}"\r\ncontent-transfer-encoding: 8bit`,
    (name) =>
      `content-type: text/plain; charset=utf-8\r\ncontent-disposition: form-data; name=${name}`,
  ]
  for (const [at, head] of heads.entries()) {
    const text = `سلام ${at}`
    const parts = Object.entries({ chat_id: to, text }).map(
      ([name, value]) => [head(name, Buffer.byteLength(value)), value] as const,
    )
    t.match(await form('sendMessage', parts), done({ text }))
  }
})

t.test('an upload goes without a thumbnail that is no picture', async (t) => {
  // echotron (Go) adds an empty part to every upload, also of what has no thumbnail.
  const field = (name: string) => `content-disposition: form-data; name="${name}"`
  const octets = 'content-type: application/octet-stream'
  const file = (name: string) => `${field(name)}; filename="notes.txt"\r\n${octets}`
  for (const content of ['', 'no picture']) {
    const sent = await form('sendDocument', [
      [field('chat_id'), to],
      [file('document'), 'Take notes.'],
      [`${field('thumbnail')}; filename="."\r\n${octets}`, content],
    ])
    t.match(sent, done({ document: { file_name: 'notes.txt', thumbnail: undefined } }), content)
  }
})

t.test('a body of another type is the file `file`, and the query has the parameters', async (t) => {
  // Scripts that send a file as it is, and Bot API proxies.
  const sent = `sendDocument?chat_id=${to}&document=attach://file`
  const document = (file_size: number) => done({ document: { file_size } })
  t.match(await post(sent, 'text/plain', 'Take notes.'), document(11))
  t.match(await post(sent, 'application/pdf', 'Take notes.'), document(11))
  const octets = 'application/octet-stream'
  t.match(await post(sent, octets, 'Take notes.', { 'transfer-encoding': 'chunked' }), document(11))
  const packed = gzipSync('Take notes.')
  t.match(await post(sent, octets, packed, { 'content-encoding': 'gzip' }), document(11))
  const long = Buffer.alloc(3_000_000, 'long')
  t.match(await post(sent, octets, long), document(3_000_000), 'longer than parameters may be')
  const path = `/bot${key}/${sent}`
  const untyped = await raw(service.url, path, { method: 'POST', body: 'Take notes.' })
  t.match(untyped, document(11), 'without a type')
  t.match(await post('getMe', octets, '{}'), done({ is_bot: true }), 'nothing asks for it')
})

/** What comes back for these pieces, each sent on its own over one connection. */
async function answersTo(...pieces: readonly (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  let answers = ''
  socket.on('data', (bytes) => {
    answers += bytes
  })
  for (const piece of pieces) {
    socket.write(piece)
    await pause(100)
  }
  if (!socket.closed) await once(socket, 'close')
  return answers
}

const words = 'سلام é 🤖'.replaceAll(' ', '+')
const heading = 'HTTP/1.1\r\nHost: chapar.test\r\n'
const line = `/bot${key}/sendMessage?chat_id=${to}&text=`
const shown = '"text":"سلام é 🤖"'

t.test('letters that are not escaped are read as they are', async (t) => {
  // curl, scripts of a shell, PHP's file_get_contents, and echotron (Go).
  const alone = await answersTo(`GET ${line}${words} ${heading}\r\n`)
  t.match(alone, /^HTTP\/1\.1 200 OK/)
  t.ok(alone.includes(shown), alone)
  t.match(alone, /\r\nconnection: close/i)

  const later = await answersTo(
    `GET ${line}first ${heading}\r\n`,
    `GET ${line}${words} ${heading}\r\n`,
  )
  t.ok(later.includes('"text":"first"') && later.includes(shown), later)

  const whole = Buffer.from(`GET ${line}${words} ${heading}\r\n`)
  const within = whole.indexOf(Buffer.from('🤖')) + 2
  const cut = await answersTo(whole.subarray(0, within), whole.subarray(within))
  t.ok(cut.includes(shown), 'cut within a letter')

  const form = 'content-type: application/x-www-form-urlencoded\r\ncontent-length: 21\r\n'
  const posted = await answersTo(
    `POST ${line}${words} ${heading}${form}\r\n`,
    'disable_notification=',
  )
  t.ok(posted.includes(shown), posted)
})

t.test('a line that is wrong however it is escaped is refused once', async (t) => {
  for (const wrong of ['\x7f', '\x01', 'é\x7f', 'é\x01', 'é\t']) {
    const answers = await answersTo(`GET ${line}${wrong} ${heading}\r\n`)
    t.match(answers, /^HTTP\/1\.1 400 Bad Request/, JSON.stringify(wrong))
    t.equal(answers.split('HTTP/1.1').length, 2)
  }
  t.match(await raw(service.url, '/health/live'), { status: 200 })
})

t.test('a file and a long answer come for such a line, too', async (t) => {
  const { body } = await form('sendDocument', [
    ['content-disposition: form-data; name="document"; filename="a.txt"', 'in the file'],
    ['content-disposition: form-data; name="chat_id"', to],
  ])
  const { file_id } = body.result.document
  const got = await raw(service.url, `/bot${key}/getFile?file_id=${file_id}`)
  const path = `/file/bot${key}/${got.body.result.file_path}`
  const file = await answersTo(`GET ${path}?é ${heading}\r\n`)
  t.match(file, /^HTTP\/1\.1 200 OK/)
  t.match(file, /in the file$/)
  const api = await answersTo(`GET /openapi.json?é ${heading}\r\n`)
  t.match(api, /^HTTP\/1\.1 200 OK/)
  t.ok(api.length > 500_000 && api.endsWith('}'), `${api.length}`)
})

t.test('the rest of a request is no request, and none is carried out twice', async (t) => {
  const inside = `GET ${line}${words} ${heading}\r\n`
  t.match(await answersTo('GET /health/live?it=', inside), /^HTTP\/1\.1 400 /)
  const body = 'content-type: text/plain\r\ncontent-length: 11\r\n\r\nPOST /x?it='
  const after = await answersTo(`POST /bot${key}/getMe ${heading}${body}${inside}`)
  t.notOk(after.includes(shown), after)

  await answersTo(`GET ${line}only+once ${heading}\r\n${inside}`)
  const { messages } = await client.result('GET', `/sandbox/people/${to}/inbox?chat=${bot.id}`)
  const texts = messages.map(({ text }: { readonly text?: string }) => text)
  t.equal(texts.filter((text: string) => text === 'only once').length, 1)
})
