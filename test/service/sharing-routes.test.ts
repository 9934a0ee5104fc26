/** Who may do what with a shared account, by every route of the management API: the table of docs/access.md. */
import t from 'tap'
import { accessRules } from '../../src/http/access.ts'
import type { Answer, Client } from '../support/client.ts'
import { phones, sharingRig } from './sharing-rig.ts'

const { service, owner, developer, viewer, stranger, account, path, share, keyOf } =
  await sharingRig(t)

type Least = 'viewer' | 'developer' | 'owner'

/** What each route about one account or key asks of a share, as docs/access.md has it. */
const table: Readonly<Record<string, Least>> = {
  'GET /platforms/credentials/:credential_id': 'viewer',
  'GET /platforms/credentials/:credential_id/transitions': 'viewer',
  'GET /platforms/credentials/:credential_id/events': 'viewer',
  'PATCH /platforms/credentials/:credential_id/settings': 'developer',
  'POST /platforms/credentials/:credential_id/test': 'developer',
  'POST /platforms/credentials/:credential_id/restart': 'owner',
  'DELETE /platforms/credentials/:credential_id': 'owner',
  'GET /platforms/credentials/:credential_id/shares': 'owner',
  'POST /platforms/credentials/:credential_id/shares': 'owner',
  'PATCH /platforms/credentials/:credential_id/shares/:share_id': 'owner',
  'DELETE /platforms/credentials/:credential_id/shares/:share_id': 'owner',
  'GET /api_keys': 'viewer',
  'POST /api_keys': 'developer',
  'GET /api_keys/:id': 'viewer',
  'PATCH /api_keys/:id': 'developer',
  'DELETE /api_keys/:id': 'developer',
  'POST /api_keys/:id/rotate': 'developer',
  'GET /api_keys/:id/backlog': 'viewer',
  'GET /api_keys/:id/exchanges': 'viewer',
  'GET /api_keys/:id/requests/:request_id/exchange': 'viewer',
  'GET /api_keys/:id/requests/:request_id/updates': 'viewer',
  'PUT /api_keys/:id/requests/exchanges': 'developer',
  'POST /api_keys/:id/diagnosis': 'developer',
  'GET /api_keys/:id/diagnosis/:diagnosis_id': 'developer',
  'POST /api_keys/:id/diagnosis/:diagnosis_id/next': 'developer',
  'PUT /api_keys/:id/webhook': 'developer',
  'DELETE /api_keys/:id/webhook': 'developer',
  'POST /api_keys/:id/webhook/test': 'developer',
  'GET /api_keys/:id/webhook/secret': 'developer',
  'POST /api_keys/:id/webhook/secret': 'developer',
  'POST /api_keys/:id/webhook/replay': 'developer',
  'GET /api_keys/:id/webhook/exchanges': 'viewer',
  'PUT /api_keys/:id/webhook/exchanges': 'developer',
  'GET /api_keys/:id/webhook/resend': 'viewer',
  'POST /api_keys/:id/webhook/resend': 'developer',
  'DELETE /api_keys/:id/webhook/resend': 'developer',
  'GET /user/usage': 'viewer',
  'GET /user/logs/api-requests': 'viewer',
  'GET /user/logs/webhook-deliveries': 'viewer',
}

/** What concerns the caller alone, or is made of their own accounts: a share is of no use there. */
const ofTheCaller = [
  /^\w+ \/(auth|panel|user|users|shares|audit|alerts|operators|machines|sandbox)(\/|$)/,
  /^GET \/platforms$/,
  /^(GET|POST) \/platforms\/credentials(\/(events|export|groups|tags|summary|actions|actions\/:id(\/\w+)*))?$/,
  /^\w+ \/platforms\/(links|:platform\/link)/,
]

const bodies: Readonly<Record<string, object>> = {
  'PATCH /platforms/credentials/:credential_id/settings': { include_self_updates: true },
  'POST /platforms/credentials/:credential_id/test': {},
  'POST /platforms/credentials/:credential_id/shares': { phone: phones.late, role: 'viewer' },
  'PATCH /platforms/credentials/:credential_id/shares/:share_id': { role: 'developer' },
  'POST /api_keys': { name: 'x', credential_id: account, scopes: ['bot:send'] },
  'PATCH /api_keys/:id': { name: 'renamed' },
  'POST /api_keys/:id/rotate': {},
  'PUT /api_keys/:id/requests/exchanges': { keep: 'failed' },
  'POST /api_keys/:id/diagnosis': {},
  'POST /api_keys/:id/diagnosis/:diagnosis_id/next': {},
  'PUT /api_keys/:id/webhook': { url: 'http://127.0.0.1:9/hook' },
  'POST /api_keys/:id/webhook/test': { url: 'http://127.0.0.1:9/hook' },
  'POST /api_keys/:id/webhook/replay': { from_update_id: 1 },
  'PUT /api_keys/:id/webhook/exchanges': { keep: 'failed' },
  'POST /api_keys/:id/webhook/resend': { from_update_id: 1, count_only: true },
}

/** Status and body; of a stream the head alone. */
async function asked(client: Client, verb: string, address: string, body?: object) {
  const answer = await fetch(`${service.url}${address}`, {
    method: verb,
    headers: {
      authorization: `Bearer ${client.token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.headers.get('content-type')?.includes('json')) {
    await answer.body?.cancel()
    return { status: answer.status, body: undefined }
  }
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

t.test('every route of the management API has its place', async (t) => {
  const { paths } = (await owner.ask('GET', '/openapi.json')).body
  const all = Object.entries<Record<string, { security?: object[] }>>(paths).flatMap(
    ([pattern, verbs]) =>
      Object.entries(verbs)
        .filter(([, { security }]) => security?.some((way) => 'jwt' in way))
        .map(([verb]) => `${verb.toUpperCase()} ${pattern.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  )
  t.ok(all.length > 120, `${all.length} routes`)
  for (const route of all) {
    const own = ofTheCaller.some((form) => form.test(route))
    t.ok(route in table || own, `${route} is classified`)
  }
  t.same(
    Object.keys(table).filter((route) => !all.includes(route)),
    [],
    'and each is a route',
  )
  t.same(
    Object.fromEntries(Object.entries(accessRules).map(([route, { asks }]) => [route, asks])),
    table,
    'the code says what the table says',
  )
})

t.test('each role may do what the table says, and no more, by every route', async (t) => {
  const shares = { viewer: await share(viewer, phones.viewer, 'viewer') }
  await share(developer, phones.developer, 'developer')
  const clients = { viewer, developer, stranger }
  for (const [route, least] of Object.entries(table)) {
    const [verb = '', pattern = ''] = route.split(' ')
    const made = await keyOf(owner)
    await owner.result('POST', `/api_keys/${made.api_key_id}/webhook/secret`)
    const { diagnosis_id } = await owner.result('POST', `/api_keys/${made.api_key_id}/diagnosis`)
    const named = pattern
      .replace(':credential_id', `${account}`)
      .replace(':share_id', `${shares.viewer}`)
      .replace(':diagnosis_id', diagnosis_id)
      .replace(':request_id/updates', `x/updates?at=${new Date().toISOString()}`)
      .replace(':request_id', 'x')
      .replace(':id', `${made.api_key_id}`)
    const query =
      pattern === '/user/logs/webhook-deliveries'
        ? `?api_key_id=${made.api_key_id}`
        : pattern.startsWith('/user/') || route === 'GET /api_keys'
          ? `?credential_id=${account}`
          : ''
    const ask = (client: Client) => asked(client, verb, `${named}${query}`, bodies[route])
    const found: Record<string, Awaited<ReturnType<typeof ask>>> = {}
    // Whoever may do least comes first: what ends the key comes last.
    for (const who of ['stranger', 'viewer', 'developer'] as const)
      found[who] = await ask(clients[who])
    if (query) {
      const { items = [], totals } = found.stranger?.body.result ?? {}
      t.same([items, totals?.requests ?? 0], [[], 0], `${route}: nothing for a stranger`)
    } else t.equal(found.stranger?.status, 404, `${route}: none for a stranger`)
    for (const who of ['viewer', 'developer'] as const) {
      const may = least === 'viewer' || least === who
      const { status, body } = found[who] ?? {}
      if (may) {
        t.notOk([401, 403, 404, 500, 503].includes(status ?? 0), `${route}: ${who} may, ${status}`)
      } else {
        const refusal = { status: 403, body: { code: 'share_role', params: { role: who } } }
        t.match({ status, body }, refusal, `${route}: ${who} may not`)
      }
    }
    await owner.ask('DELETE', `/api_keys/${made.api_key_id}`)
  }
  t.match(await owner.result('GET', path), { state: 'active' })
  const still = (await owner.result('GET', `${path}/shares`)).items
  t.equal(still.length, 2, 'nobody but the owner has shared it')
  await viewer.result('DELETE', `/shares/${shares.viewer}`)
})
