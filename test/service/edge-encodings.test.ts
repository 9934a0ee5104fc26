/** Compressed bodies of bot calls, and bodies where a verb has none as a rule. */
import { deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { raw, refused, scene } from './scene.ts'

// Packed before there is an account: the process stands still meanwhile, and accounts would miss their probes.
const zeros = gzipSync(Buffer.alloc(50_000_000, '0'))
const { service, ada, key } = await scene(t)

const call = (encoding: string, type: string, body: string | Buffer, method = 'POST') =>
  raw(service.url, `/bot${key}/sendMessage`, {
    method,
    headers: { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) },
    body,
  })
const sent = (text: string) => ({ status: 200, body: { ok: true, result: { text } } })
const json = (text: string) => JSON.stringify({ chat_id: ada.id, text })
const part = (name: string, value: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const multipart = (text: string) => `${part('chat_id', `${ada.id}`)}${part('text', text)}--b--\r\n`
const MULTIPART = 'multipart/form-data; boundary=b'
const FORM = 'application/x-www-form-urlencoded'

t.test('gzip and deflate are unpacked in every encoding and with both verbs', async (t) => {
  const packers = { gzip: gzipSync, deflate: deflateSync }
  for (const method of ['GET', 'POST']) {
    for (const [encoding, pack] of Object.entries(packers)) {
      const form = pack(`chat_id=${ada.id}&text=form`)
      t.match(await call(encoding, 'application/json', pack(json('x')), method), sent('x'))
      t.match(await call(encoding, FORM, form, method), sent('form'))
      t.match(await call(encoding, MULTIPART, pack(multipart('part')), method), sent('part'))
    }
  }
  for (const encoding of ['', 'none', 'Identity']) {
    t.match(await call(encoding, 'application/json', json('plain')), sent('plain'))
  }
})

t.test('a GET may carry multipart', async (t) => {
  t.match(await call('', MULTIPART, multipart('get'), 'GET'), sent('get'))
})

t.test('what cannot be unpacked, or grows too large, is refused', async (t) => {
  const body = gzipSync(json('x'))
  const type = 'application/json'
  t.match(await call('br', type, body), refused(415, 'Unsupported Media Type'))
  t.match(await call('constructor', type, body), refused(415, 'Unsupported Media Type'))
  const broken = refused(400, "Bad Request: can't parse the request body: it is not valid gzip")
  t.match(await call('gzip', type, json('x')), broken)
  t.match(await call('gzip', type, body.subarray(0, -9)), broken)
  t.match(await call('gzip', type, zeros), refused(413, 'Request Entity Too Large'))
  t.match(await call('gzip', type, gzipSync(json('after'))), sent('after'))
})
