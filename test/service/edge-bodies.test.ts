/** Bodies of the management API at the edge of what is read at all. */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { raw, refused, scene } from './scene.ts'

const { service, client, credentialId, keyId } = await scene(t)

const send = (method: string, path: string, body: string | Buffer, headers: object = {}) =>
  raw(service.url, path, {
    method,
    headers: {
      authorization: `Bearer ${client.token}`,
      'content-type': 'application/json',
      ...headers,
    },
    body,
  })
const post = (body: string | Buffer, headers?: object) => send('POST', '/api_keys', body, headers)

t.test('what is not JSON is called so', async (t) => {
  const why = "Bad Request: can't parse the request body: it is not valid JSON"
  for (const body of ['{"name":', '{name:1}', "{'name':1}", '{"name":1}}', 'name=x']) {
    t.match(await post(body), refused(400, why), body)
  }
})

t.test('what is nested too deeply or has too many members is refused', async (t) => {
  const unreadable = "Bad Request: can't parse the request body"
  const nested = (depth: number) => `{"name":${'['.repeat(depth)}${']'.repeat(depth)}}`
  t.match(await post(nested(32)), refused(400, `${unreadable}: the JSON is nested too deeply`))
  t.match(await post(nested(100_000)), refused(400, `${unreadable}: the JSON is nested too deeply`))
  t.match(
    (await post(nested(31))).body.description,
    /^Bad Request: field "\w+" is (required|unknown)$/,
  )
  const object = (members: number) =>
    JSON.stringify({ a: Object.fromEntries(Array.from({ length: members }, (_, n) => [n, n])) })
  const wide = refused(400, `${unreadable}: the JSON has too many members`)
  t.match(await post(object(1_001)), wide)
  t.match(await post(JSON.stringify({ a: Array(10_001).fill(0) })), wide)
  t.match(
    (await post(object(1_000))).body.description,
    /^Bad Request: field "\w+" is (required|unknown)$/,
  )
  t.match(await post('{"__proto__":{"name":"x"}}'), { status: 400, body: { ok: false } })
  t.match(await post('{"constructor":{"prototype":{}}}'), { status: 400, body: { ok: false } })
})

t.test('an empty body is none, whatever it calls itself', async (t) => {
  const test = `/platforms/credentials/${credentialId}/test`
  const types = ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data', 'x']
  for (const type of types) {
    const headers = { 'content-type': type }
    t.match(await send('POST', test, '', headers), { status: 200, body: { ok: true } }, type)
    t.match(await send('POST', test, 'a=b', headers), { status: 415 }, type)
    const expected = "Bad Request: can't parse the request body: a JSON object is expected"
    t.match(await post('', headers), refused(400, expected), type)
  }
})

t.test('an empty JSON body is none', async (t) => {
  for (const empty of ['', ' \n']) {
    const test = await send('POST', `/platforms/credentials/${credentialId}/test`, empty)
    t.match(test, { status: 200, body: { ok: true } })
    const restart = await send('POST', `/platforms/credentials/${credentialId}/restart`, empty)
    t.match(restart, { status: 200, body: { ok: true } })
    await client.state(credentialId, 'active')
    const rotate = await send('POST', `/api_keys/${keyId}/rotate`, empty)
    t.match(rotate, { status: 200, body: { ok: true } })
  }
  t.match(await send('DELETE', `/api_keys/${keyId}`, ''), { status: 200, body: { ok: true } })
})

t.test('a compressed body is refused, an encoding that changes nothing is not', async (t) => {
  const body = JSON.stringify({ name: 1 })
  const compressed = await post(gzipSync(body), { 'content-encoding': 'gzip' })
  t.match(compressed, refused(415, 'Unsupported Media Type'))
  const same = await post(body, { 'content-encoding': 'Identity' })
  t.match(same, {
    status: 400,
    body: { description: /^Bad Request: field "credential_id" is required$/ },
  })
})
