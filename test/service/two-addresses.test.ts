/** Both addresses serve the same bytes for every route; only links name the address that was asked. */
import t from 'tap'
import { operationsOf } from '../fuzz/operations.ts'
import { until } from '../support/client.ts'
import { raw, scene } from './scene.ts'

const addresses = ['http://home.test', 'http://abroad.test:8443'] as const
const panels = ['http://panel.home.test', 'http://panel.abroad.test:8443'] as const
const env = {
  BASE_URL: addresses[0],
  INTL_BASE_URL: addresses[1],
  PANEL_URL: panels[0],
  INTL_PANEL_URL: panels[1],
}
const { service, client, credentialId, keyId, key, ada } = await scene(t, { env })
const hosts = addresses.map((address) => new URL(address).host)

const description = await raw(service.url, '/openapi.json')
const left = [
  'GET /platforms/credentials/events', // a stream has no end to compare
  'GET /user/export', // one at a time, and it says when it was made
  'DELETE /sandbox/network', // the next test still needs its people
  'DELETE /user', // and its user
]
const operations = operationsOf(description.body).filter(
  ({ method, path }) => !left.includes(`${method} ${path}`),
)
/** The document itself names the servers. */
const named = /^\/(openapi\.json|docs\/json)$/

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

async function fromBoth({ method, path, headers = {}, body }: Asked) {
  const ask = async (host: string) => {
    const options = { method, headers: { ...headers, host }, ...(body !== undefined && { body }) }
    const answer = await raw(service.url, path, options)
    const { date, 'x-request-id': requestId, ...rest } = answer.headers
    return { status: answer.status, headers: rest, text: answer.text }
  }
  return await Promise.all(hosts.map(ask))
}

/** Asks again when something happened in between: records have times of their own. */
const areSame = (asked: Asked) =>
  until(async () => {
    const [home, abroad] = await fromBoth(asked)
    return JSON.stringify(home) === JSON.stringify(abroad) && home
  }, 5_000)

const existing: Readonly<Record<string, unknown>> = {
  platform: 'sandbox',
  credential_id: credentialId,
  id: keyId,
  api_key: key,
  person: ada.id,
  chat: ada.id,
}

/** What exists is read; what would change is asked of something that does not exist. */
function pathOf(method: string, path: string): string {
  const missing = method === 'GET' && !path.endsWith('/events') ? undefined : 999_999
  return path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = name === 'api_key' ? key : (missing ?? existing[name] ?? 999_999)
    return encodeURIComponent(String(value))
  })
}

t.test('every operation answers the same, to a user and to a stranger', async (t) => {
  t.ok(operations.length > 200, `${operations.length} operations`)
  const authorization = `Bearer ${client.token}`
  const quiet = 'from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z&error_code=418'
  const statuses = new Set<number | undefined>()
  for (const { method, path } of operations) {
    if (named.test(path)) continue
    const query = path.startsWith('/user/') ? `?${quiet}` : ''
    const asked = { method, path: `${pathOf(method, path)}${query}` }
    const json = method === 'GET' ? {} : { body: '{}' }
    const type = { 'content-type': 'application/json' }
    for (const headers of [{ authorization, ...type }, type]) {
      const same = await areSame({ ...asked, headers, ...json })
      statuses.add(same.status)
    }
  }
  const seen = [...statuses].sort()
  for (const status of [200, 400, 401, 404]) t.ok(seen.includes(status), `${seen}`)
})

t.test('what changes something changes it the same way', async (t) => {
  const send = { chat_id: ada.id, text: 'hello' }
  const shapes = await Promise.all(
    hosts.map(async (host) => {
      const answer = await raw(service.url, `/bot${key}/sendMessage`, {
        method: 'POST',
        headers: { host, 'content-type': 'application/json' },
        body: JSON.stringify(send),
      })
      const { message_id, date, ...rest } = answer.body.result
      return { status: answer.status, rest }
    }),
  )
  t.same(shapes[0], shapes[1])
  t.equal(shapes[0]?.status, 200)
})

t.test('failures below the routes are the same too', async () => {
  const type = { 'content-type': 'application/json' }
  const paths = ['/nothing', '/user/%zz', `/user/sessions/${'1'.repeat(400)}`, '/docs/static/..']
  for (const path of paths) await areSame({ method: 'GET', path })
  await areSame({ method: 'TRACE', path: '/user' })
  await areSame({ method: 'POST', path: '/auth/login', headers: type, body: '{"phone":' })
  await areSame({ method: 'POST', path: '/auth/login', headers: { 'content-type': 'text/x' } })
})

t.test('the description differs in the order of its servers alone', async (t) => {
  for (const path of ['/openapi.json', '/docs/json']) {
    const asked = [...addresses, ...panels].map((url) => new URL(url).host)
    const answers = await Promise.all(
      asked.map((host) => raw(service.url, path, { headers: { host } })),
    )
    const [home, abroad, ofPanel, ofPanelAbroad] = answers.map(({ body }) => body)
    t.same(
      home.servers,
      addresses.map((url) => ({ url })),
    )
    t.same(abroad.servers, [...home.servers].reverse())
    t.same({ ...home, servers: [] }, { ...abroad, servers: [] })
    t.same([ofPanel.servers, ofPanelAbroad.servers], [home.servers, abroad.servers], 'at the panel')
  }
})

t.test('a page for the owner of an account is at the side that was asked', async (t) => {
  const person = await client.person('Olga')
  const path = '/platforms/sandbox/link'
  const { session_id } = await client.result('POST', `${path}/start`, { phone: person.phone })
  for (const side of [addresses, panels]) {
    for (const [place, url] of side.entries()) {
      const headers = { authorization: `Bearer ${client.token}`, host: new URL(url).host }
      const page = await raw(service.url, `${path}/${session_id}/page`, { method: 'POST', headers })
      t.ok(page.body.result.url.startsWith(`${panels[place]}/link/`), `${url}: ${page.text}`)
    }
  }
})
