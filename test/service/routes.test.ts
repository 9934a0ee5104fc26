/** What all routes have in common: who is let in, what every answer carries, what the log keeps. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { ask, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { raw, scene } from './scene.ts'

const { service, client, ada, bot, credentialId, key, keyId } = await scene(t)

interface Route {
  readonly method: string
  /** As documented. */
  readonly pattern: string
  readonly path: string
  readonly isPublic: boolean
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, object>> }>
  >
}

const values: Record<string, string> = {
  platform: 'sandbox',
  session_id: 'a'.repeat(22),
  credential_id: `${credentialId}`,
  share_id: '1',
  id: `${keyId}`,
  person: `${ada.id}`,
  blocked: `${bot.id}`,
  chat: `${ada.id}`,
  message: '1',
  topic: '1',
  member: `${bot.id}`,
  asker: `${bot.id}`,
  community: '1',
  account: `${bot.id}`,
  fault: 'drop',
}
const { paths } = (await raw(service.url, '/openapi.json')).body
const routes: Route[] = Object.entries<Record<string, { security?: unknown[] }>>(paths)
  .filter(([pattern]) => !/^\/(file\/)?bot/.test(pattern))
  .flatMap(([pattern, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      pattern,
      path: pattern.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? 'unknown'),
      isPublic: !security?.length,
    })),
  )

const typeOf = ({ headers }: Awaited<ReturnType<typeof raw>>) => headers['content-type'] ?? ''
const named = ({ method, pattern }: Route) => `${method} ${pattern}`
const standard = {
  'x-request-id': /^[\w-]{22}$/,
  'content-security-policy': /default-src 'none'/,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': /no-store|max-age/,
}

t.test('every operation describes its failures', (t) => {
  const operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, { responses }]) => ({ name: `${verb} ${path}`, responses })),
  )
  t.ok(operations.length > routes.length, 'those of the bot API too')
  const silent = operations.filter(
    ({ responses }) => !responses.default?.content?.['application/json'],
  )
  t.strictSame(
    silent.map(({ name }) => name),
    [],
  )
  t.end()
})

t.test('only what must be is public', async (t) => {
  t.ok(routes.length > 40, `${routes.length} routes`)
  t.same(
    routes
      .filter(({ isPublic }) => isPublic)
      .map(named)
      .sort(),
    [
      'GET /.well-known/jwks.json',
      'GET /health/live',
      'GET /health/ready',
      'GET /link-pages/{token}',
      'POST /auth/login',
      'POST /auth/logout',
      'POST /auth/refresh',
      'POST /auth/sendOtp',
      'POST /link-pages/{token}/answer',
      'POST /link-pages/{token}/resend',
      'POST /link-pages/{token}/start',
    ],
  )
})

t.test('without credentials, or with wrong ones, everything else is 401', async (t) => {
  const bare = /^Unauthorized$/
  const invalid = /^Unauthorized: the access token is not valid$/
  const notHere = /^Unauthorized(: a personal access token is not accepted here)?$/
  const wrong = [
    [undefined, bare],
    ['Bearer', bare],
    ['Bearer x.y.z', invalid],
    [`Bearer ${client.token.slice(0, -4)}aaaa`, invalid],
    [`Basic ${client.token}`, bare],
    [`apikey ${key}`, bare],
    ['apikey chp_pat_0', notHere],
  ] as const
  for (const [n, route] of routes.filter(({ isPublic }) => !isPublic).entries()) {
    const [authorization, described] = wrong[n % wrong.length] ?? []
    const answer = await raw(service.url, route.path, {
      method: route.method,
      headers: authorization === undefined ? {} : { authorization },
    })
    t.match(
      answer,
      {
        status: 401,
        headers: { ...standard, 'www-authenticate': /Bearer/ },
        body: { ok: false, error_code: 401, description: described },
      },
      `${named(route)} with ${authorization}`,
    )
  }
})

t.test('a known path with another verb is 405, an unknown path 404', async (t) => {
  const verbs = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  // What a wildcard route beside them takes for an id is not told apart.
  const shadowed = /link\/(start|verify)$|people\/bulk$|credentials\/(summary|events)$/
  for (const { pattern, path } of routes) {
    if (shadowed.test(pattern)) continue
    const known = routes.filter((route) => route.pattern === pattern).map(({ method }) => method)
    const method = verbs.find((verb) => !known.includes(verb))!
    t.match(
      await raw(service.url, path, { method }),
      {
        status: 405,
        headers: standard,
        body: { ok: false, error_code: 405, description: 'Method Not Allowed' },
      },
      `${method} ${pattern}`,
    )
  }
  const missing = { ok: false, error_code: 404, description: 'Not Found' }
  for (const path of ['/nothing', '/API_KEYS', '/user/', '/sandbox', '//user']) {
    t.match(await raw(service.url, path), { status: 404, headers: standard, body: missing }, path)
  }
  t.match(await raw(service.url, '/user/%zz'), {
    status: 400,
    body: { ok: false, error_code: 400 },
  })
  t.match(await raw(service.url, `/user/tokens/${'1'.repeat(400)}`), { body: { ok: false } })
})

t.test('every answer to a user has the headers and the envelope', async (t) => {
  const harmless = routes.filter(
    ({ method, pattern }) =>
      !['DELETE', 'PUT'].includes(method) && !/(events|rotate)$/.test(pattern),
  )
  for (const route of harmless) {
    const answer = await raw(service.url, route.path, {
      method: route.method,
      headers: { authorization: `Bearer ${client.token}` },
    })
    t.match(answer.headers, standard, named(route))
    t.ok((answer.status ?? 500) < 500, `${named(route)}: ${answer.text}`)
    if (route.pattern === '/.well-known/jwks.json') continue
    if (answer.status === 200 && /^(text\/csv|application\/x-ndjson)/.test(typeOf(answer))) {
      t.match(answer.headers, { 'content-disposition': /^attachment; filename=/ }, named(route))
    } else if (answer.status === 200) t.match(answer.body, { ok: true }, named(route))
    else t.match(answer.body, { ok: false, error_code: answer.status, description: String })
  }
})

t.test("ids of others are not there, whoever's they are", async (t) => {
  const stranger = await service.client()
  const bodies: Record<string, object> = {
    '/rotate': {},
    '/test': {},
    '/settings': {},
    '/replay': {},
    '/resend': {},
    '/exchanges': { keep: 'all' },
    '/silence': {},
    '/shares': { phone: '+14155550100', role: 'viewer' },
    '/shares/{share_id}': { role: 'viewer' },
  }
  const ofStaff = routes.filter(({ pattern }) => pattern.startsWith('/users'))
  for (const route of ofStaff) {
    const body = route.method === 'POST' ? { reason: 'for a look' } : undefined
    t.equal((await stranger.ask(route.method, route.path, body)).status, 403, named(route))
  }
  const owned = routes
    .filter((route) => !ofStaff.includes(route))
    .filter(({ pattern }) => /\{(credential_id|id|session_id)\}/.test(pattern))
  for (const route of owned) {
    const body = Object.entries(bodies).find(([end]) => route.pattern.endsWith(end))?.[1]
    const written: Record<string, object> = { PATCH: {}, PUT: { url: 'https://bot.example.org' } }
    const patch = written[route.method]
    const sent = route.method === 'GET' ? undefined : (body ?? patch)
    // Which call it is takes its time, too.
    const query = route.pattern.endsWith('/updates') ? '?at=2026-01-01T00:00:00Z' : ''
    const answer = await stranger.ask(route.method, route.path + query, sent)
    t.match(answer, { status: 404, body: { ok: false, description: 'Not Found' } }, named(route))
    const odd = route.path.replace(/\d+/, '-1').replace('aaaa', '%00')
    const { status } = await client.ask(route.method, odd, sent)
    t.ok(status === 404 || status === 400, `${odd}: ${status}`)
  }
  t.match(await client.result('GET', `/api_keys/${keyId}`), { revoked_at: null })
})

t.test('bodies in other forms are refused', async (t) => {
  const post = (type: string, body: string) =>
    raw(service.url, '/api_keys', {
      method: 'POST',
      headers: { authorization: `Bearer ${client.token}`, 'content-type': type },
      body,
    })
  const refused = (error_code: number, description: string | RegExp) => ({
    status: error_code,
    headers: standard,
    body: { ok: false, error_code, description },
  })
  t.match(await post('text/plain', 'x'), refused(415, 'Unsupported Media Type'))
  t.match(await post('application/json', '{"name":'), refused(400, /^Bad Request: /))
  t.match(await post('application/json', ''), refused(400, /^Bad Request: /))
  t.match(await post('application/json', '[]'), refused(400, /^Bad Request: /))
  t.match(await post('application/json', '{"__proto__":{}}'), refused(400, /^Bad Request: /))
  const large = JSON.stringify({ name: 'x'.repeat(300_000) })
  t.match(await post('application/json', large), refused(413, 'Request Entity Too Large'))
})

/** Staff are told first that they are none; how an account is linked depends on its platform. */
const otherwise = /^\/(users|operators)\/|\/link\/start$/

t.test('a field that nobody knows is refused by its name, and is not in the log', async (t) => {
  const field = 'nobody_knows'
  const authorization = `Bearer ${client.token}`
  const writing = routes.filter(
    ({ method, pattern }) =>
      !otherwise.test(pattern) && 'requestBody' in paths[pattern][method.toLowerCase()],
  )
  t.ok(writing.length > 70, `${writing.length} routes`)
  const asked = new Map<unknown, Route>()
  for (const route of writing) {
    const answer = await raw(service.url, route.path, {
      method: route.method,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ [field]: 'canary-value' }),
    })
    asked.set(answer.headers['x-request-id'], route)
    t.match(answer, { status: 400, headers: standard }, named(route))
    const { errors = [] } = answer.body
    t.ok(
      errors.some((error: { field: string }) => error.field === field),
      `${named(route)}: ${answer.text}`,
    )
  }
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  const logged = await until(async () => {
    const rows = await database.query<{ request_id: string; method: string }>(
      'select * from request_log where request_id = any($1)',
      [[...asked.keys()]],
    )
    return rows.length === asked.size && rows
  })
  for (const { request_id: id, method } of logged) {
    const { pattern, ...route } = asked.get(id)!
    t.equal(method, `${route.method} ${pattern.replace(/\{(\w+)\}/g, ':$1')}`)
  }
  t.notMatch(JSON.stringify(logged), /canary-value/)
})

t.test('the log has a row for every request, and no secret in any', async (t) => {
  const phone = '+14155559876'
  const canaries = [key.split(':')[1]!, key, client.token, client.refreshToken, phone]
  const secret = await client.person('Canary', undefined, { password: 'canary-password' })
  const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', {
    phone: secret.phone,
  })
  const otp = await client.code(secret.id)
  await client.ask('POST', '/platforms/sandbox/link/verify', { session_id, otp })
  const verify = { session_id, password: 'canary-password' }
  await client.ask('POST', '/platforms/sandbox/link/verify', verify)
  canaries.push(secret.phone, 'canary-password', session_id)
  await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'canary-text' })
  await raw(service.url, `/bot${key}/sendMessage?chat_id=${ada.id}&text=canary-text`)
  await raw(service.url, `/bot${key}x/getMe`)
  await raw(service.url, `/bot${key}/no${client.token.slice(-20)}`)
  await ask(service.url, 'POST', '/auth/login', { phone, otp: '987654' })
  await ask(service.url, 'GET', '/user', undefined, { authorization: `apikey ${key}` })
  const voting = `/sandbox/people/${ada.id}/chats/${bot.id}/messages/1`
  t.equal((await client.ask('POST', `${voting}/options`, { text: 'canary-option' })).status, 400)
  canaries.push('canary-option')
  canaries.push('canary-text', client.token.slice(-20), '987654')

  const sent = await until(async () => {
    const { items } = await client.result('GET', `/user/logs/api-requests?api_key_id=${keyId}`)
    const calls = items.filter(({ method }: { method: string }) => method === 'sendMessage')
    return calls.length === 2 && calls
  })
  t.match(sent[0], {
    at: /^\d{4}-.*Z$/,
    request_id: /^[\w-]{22}$/,
    api_key_id: keyId,
    credential_id: credentialId,
    status: 200,
    error_code: null,
    duration_ms: Number,
    ip: '127.0.0.1',
  })
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  const rows = await database.query<{ method: string }>('select * from request_log')
  await database.close()
  const methods = rows.map(({ method }) => method)
  for (const wanted of ['POST /auth/login', 'GET /user', 'POST /platforms/:platform/link/verify']) {
    t.ok(methods.includes(wanted), wanted)
  }
  const text = JSON.stringify(rows)
  for (const canary of canaries) t.notOk(text.includes(canary), `not ${canary}`)
})
