/** What bot libraries of other languages write, byte for byte. */
import t from 'tap'
import { type RawRequest, raw, refused, scene } from './scene.ts'

const { service, ada, key } = await scene(t)
const to = `${ada.id}`

const post = (method: string, type: string, body: string, headers: RawRequest['headers'] = {}) =>
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
