/** GET /openapi.json and /docs. */
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { healthRoutes } from '../../src/http/health.ts'
import { streamAnswers } from '../../src/http/management/event-stream.ts'
import { logRoutes, usageRoutes } from '../../src/http/management/usage.ts'
import { describeRoutes } from '../../src/http/openapi.ts'
import { Nullable } from '../../src/json/schemas.ts'
import { bareServer, noVault } from './observability-rig.ts'

const home = 'https://api.example.ir'
const abroad = 'https://api.example.org'

const path = '/bot{api_key}/getMe'
const Bot = { type: 'object', properties: { id: { type: 'integer' } } }
/** As the bot API is described, which has no routes of its own. */
const beyondRoutes = () => ({
  paths: { [path]: { get: { responses: { 200: { description: 'The bot' } } } } },
  schemas: { Bot },
})

async function documented(t: Test) {
  const app = bareServer(t)
  await describeRoutes(app, { version: '1.2.3', addresses: [home, abroad], beyondRoutes })
  const options = { database: { query: async () => [] }, authenticate: async () => undefined }
  await app.register(logRoutes, { ...options, vault: noVault, callLog: undefined })
  await app.register(usageRoutes, options)
  await app.register(healthRoutes, { readiness: { ask: async () => null } })
  return { app }
}

t.test('the document describes the routes by their schemas', async (t) => {
  const { app } = await documented(t)
  const reply = await app.inject('/openapi.json')
  t.equal(reply.statusCode, 200)
  t.match(reply.headers['content-type'], 'application/json')
  const document = reply.json()
  t.match(document, { openapi: '3.1.0', info: { title: 'Chapar', version: '1.2.3' } })
  t.strictSame(Object.keys(document.paths), [
    '/user/logs/api-requests',
    '/user/usage',
    '/health/live',
    '/health/ready',
    path,
  ])
  const { get } = document.paths['/user/logs/api-requests']
  t.strictSame(get.security, [{ jwt: [] }, { pat: ['read'] }])
  t.strictSame(
    get.parameters.map((parameter: { name: string }) => parameter.name),
    [
      'limit',
      'before',
      'api_key_id',
      'credential_id',
      'error_code',
      'status',
      'since',
      'until',
      'method',
      'request_id',
      'chat_id',
      'text',
    ],
  )
  t.ok(get.responses['200'].content['application/json'].schema.properties.result)
  t.ok(get.responses.default)
  t.strictSame(Object.keys(document.components.securitySchemes), ['jwt', 'pat'], 'those in use')
})

t.test('what has a default may be left out, deep in a body too', async (t) => {
  const app = bareServer(t)
  await describeRoutes(app, { version: '1', addresses: [home], beyondRoutes })
  const limit = Type.Integer({ default: 100 })
  const inner = Type.Object({ limit, name: Type.String() })
  const body = Type.Object({ limit, name: Type.String(), parts: Type.Array(inner) })
  const schema = { body, querystring: Type.Object({ limit, q: Type.String() }) }
  app.post('/things', { schema, config: { audit: false } }, async () => ({}))
  const { post } = (await app.inject('/openapi.json')).json().paths['/things']
  const described = post.requestBody.content['application/json'].schema
  t.strictSame(described.required, ['name', 'parts'])
  t.strictSame(described.properties.parts.items.required, ['name'])
  const required = post.parameters.map((one: { name: string; required: boolean }) => [
    one.name,
    one.required,
  ])
  t.strictSame(required, [
    ['limit', false],
    ['q', true],
  ])
  const refused = await app.inject({ method: 'POST', url: '/things?q=1', payload: { name: 'x' } })
  t.equal(refused.statusCode, 400, 'the rest is still asked for')
})

t.test('a stream is described as one, and its failures as any other', async (t) => {
  const { app } = await documented(t)
  app.get('/stream', { schema: { response: streamAnswers } }, async () => '')
  const { get } = (await app.inject('/openapi.json')).json().paths['/stream']
  t.strictSame(Object.keys(get.responses['200'].content), ['text/event-stream'])
  t.strictSame(Object.keys(get.responses.default.content), ['application/json'])
})

t.test('the address that was asked comes first among the servers', async (t) => {
  const { app } = await documented(t)
  const servers = async (host: string) => {
    const reply = await app.inject({ url: '/openapi.json', headers: { host } })
    return reply.json().servers.map((server: { url: string }) => server.url)
  }
  t.strictSame(await servers('api.example.ir'), [home, abroad])
  t.strictSame(await servers('api.example.org'), [abroad, home])
  t.strictSame(await servers('evil.example'), [home, abroad])
})

t.test(
  'whole numbers have the size that they need, and what can be chosen has a type',
  async (t) => {
    const app = bareServer(t)
    await describeRoutes(app, { version: '1', addresses: [home], beyondRoutes })
    const querystring = Type.Object({
      id: Type.Integer(),
      nothing: Nullable(Type.Integer()),
      large: Type.Integer({ minimum: 1, maximum: 2 ** 31 }),
      small: Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }),
      word: Type.Enum(['asked', 'in']),
      seconds: Type.Enum([0, 5]),
      mixed: Type.Enum([0, 'none']),
      either: Type.Union([Type.Integer(), Type.String()]),
      none: Type.Union([Type.Object({ id: Type.Integer() }), Type.Null()], { description: 'It' }),
      type: Type.String(),
    })
    const answer = { 200: Type.Object({ ok: Type.Literal(true) }) }
    const schema = { body: querystring, response: answer }
    app.post('/things', { schema, config: { audit: false } }, async () => ({ ok: true as const }))
    const { post } = (await app.inject('/openapi.json')).json().paths['/things']
    t.match(post.requestBody.content['application/json'].schema.properties, {
      id: { type: 'integer', format: 'int64' },
      nothing: { type: ['integer', 'null'], format: 'int64' },
      large: { type: 'integer', format: 'int64' },
      small: { type: 'integer', format: undefined },
      word: { type: 'string', enum: ['asked', 'in'] },
      seconds: { type: 'integer', enum: [0, 5] },
      mixed: { type: undefined, enum: [0, 'none'] },
      either: {
        oneOf: [{ type: 'integer', format: 'int64' }, { type: 'string' }],
        anyOf: undefined,
      },
      none: { type: ['object', 'null'], description: 'It', anyOf: undefined },
      type: { type: 'string' },
    })
    const { properties } = post.responses['200'].content['application/json'].schema
    t.strictSame(properties.ok, { type: 'boolean' })
  },
)

t.test('operations without a route of their own are described, with their schemas', async (t) => {
  const { app } = await documented(t)
  for (const url of ['/openapi.json', '/docs/json', '/docs/yaml']) {
    const { paths, components } = (await app.inject(url)).json()
    t.match(paths[path].get.responses, { 200: { description: 'The bot' } })
    t.ok(paths['/user/usage'])
    t.strictSame(components.schemas.Bot, Bot)
  }
})

t.test('the document is made once, and compressed for those who take it so', async (t) => {
  const app = bareServer(t)
  let made = 0
  const counted = () => {
    made++
    return beyondRoutes()
  }
  await describeRoutes(app, { version: '1', addresses: [home], beyondRoutes: counted })
  t.equal(made, 0, 'a start makes none')
  const plain = await app.inject('/openapi.json')
  t.equal(plain.headers['content-encoding'], undefined)
  t.equal(plain.headers.vary, 'accept-encoding')
  for (const none of ['identity', 'gzip;q=0', 'br, gzip; q=0.0, *']) {
    const asked = await app.inject({ url: '/docs/json', headers: { 'accept-encoding': none } })
    t.equal(asked.headers['content-encoding'], undefined, none)
  }
  for (const [url, type] of [
    ['/openapi.json', /^application\/json/],
    ['/docs/json', /^application\/json/],
    ['/docs/yaml', /^application\/x-yaml/],
  ] as const) {
    const packed = await app.inject({ url, headers: { 'accept-encoding': 'br, gzip' } })
    t.match(packed.headers, { 'content-encoding': 'gzip', 'content-type': type })
    t.equal(gunzipSync(packed.rawPayload).toString(), plain.body, url)
  }
  t.equal(made, 1)
})

t.test('the page and all it loads come from this server, under a policy that fits', async (t) => {
  const { app } = await documented(t)
  const page = await app.inject('/docs')
  t.equal(page.statusCode, 200)
  t.match(page.headers['content-type'], 'text/html')
  const assets = [...page.body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? '')
  t.ok(assets.length >= 5)
  for (const url of assets) {
    t.match(url, /^\/docs\/static\//)
    t.equal((await app.inject(url)).statusCode, 200, url)
  }
  t.notMatch(page.body, /<script>|<script [^>]*>[^<]*[^<\s]|<style| on\w+=/)
  for (const url of ['/docs', '/docs/', ...assets]) {
    const policy = String((await app.inject(url)).headers['content-security-policy'])
    t.match(policy, /default-src 'none'; script-src 'self'; /)
    t.notMatch(policy, /script-src[^;]*unsafe|https:/)
  }
})

t.test('the laxer policy stays under /docs', async (t) => {
  const { app } = await documented(t)
  for (const url of ['/openapi.json', '/user/usage', '/health/live', '/nothing']) {
    const policy = (await app.inject(url)).headers['content-security-policy']
    t.equal(policy, "default-src 'none'; frame-ancestors 'none'", url)
  }
})
