/** What personal access tokens may do, route by route, and from where tokens and keys may be used. */
import t from 'tap'
import { TOKEN_SCOPES } from '../../src/accounts/personal-tokens.ts'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'

const service = await startService(t, { env: { TRUST_PROXY: '127.0.0.1' } })
const client = await service.client()

const token = async (scopes: readonly string[]) =>
  (await client.result('POST', '/user/tokens', { name: 'script', scopes })).token

interface Operation {
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
}

t.test('every route that takes tokens names the scope it needs, and asks for it', async (t) => {
  const document = await (await fetch(`${service.url}/openapi.json`)).json()
  const { paths } = document as { readonly paths: Record<string, Record<string, Operation>> }
  const without = new Map<string, string>()
  for (const scope of TOKEN_SCOPES) {
    without.set(scope, await token(TOKEN_SCOPES.filter((other) => other !== scope)))
  }
  const seen = new Map<string, number>()
  for (const [path, verbs] of Object.entries(paths)) {
    for (const [verb, { security = [] }] of Object.entries(verbs)) {
      const needed = security.find((way) => 'pat' in way)?.pat
      if (!needed) continue
      const [scope = '', ...more] = needed
      const name = `${verb} ${path}`
      t.ok(without.has(scope) && more.length === 0, `${name} names its scope`)
      // What the staff reads is of other users.
      if (verb === 'get') t.equal(scope, /^\/users\b/.test(path) ? 'operate' : 'read', name)
      seen.set(scope, (seen.get(scope) ?? 0) + 1)
      const answer = await fetch(`${service.url}${path.replace(/\{\w+\}/g, '1')}`, {
        method: verb.toUpperCase(),
        headers: { authorization: `apikey ${without.get(scope)}` },
      })
      t.match(
        await answer.json(),
        { error_code: 403, code: 'token_scope', params: { scope } },
        `${name} asks for it`,
      )
    }
  }
  for (const scope of TOKEN_SCOPES) t.ok((seen.get(scope) ?? 0) >= 3, scope)
})

t.test('a test message needs the scope of what speaks, too', async (t) => {
  const person = await client.person('Tester')
  const credential = await client.link(person)
  const key = await client.key(credential)
  const silent = client.byPersonalToken(await token(['link', 'keys']))
  const refusal = { status: 403, body: { params: { scope: 'send' } } }
  const path = `/platforms/credentials/${credential}/test`
  t.match(await silent.ask('POST', path, { send_to: 'me' }), refusal)
  t.equal((await silent.ask('POST', path)).status, 200)
  const diagnosis = `/api_keys/${key.api_key_id}/diagnosis`
  t.match(await silent.ask('POST', diagnosis, { send_to: '1' }), refusal)
  const { diagnosis_id: id } = await silent.result('POST', diagnosis)
  t.match(await silent.ask('POST', `${diagnosis}/${id}/next`, { send_to: '1' }), refusal)
  const chat = { api_key_id: key.api_key_id, chat_id: `${person.id}` }
  await client.result('PUT', '/alerts/settings', { minutes: 5, chat })
  const alert = { channel: 'chat' }
  t.match(await silent.ask('POST', '/alerts/settings/test', alert), refusal)
  const speaking = client.byPersonalToken(await token(['keys', 'send']))
  t.equal((await speaking.ask('POST', '/alerts/settings/test', alert)).status, 200)
  t.match(await silent.ask('POST', '/alerts/settings/test', { channel: 'email' }), {
    status: 400,
    body: { errors: [{ field: 'channel' }] },
  })
})

t.test('a key is of use at its addresses alone, from the next call on', async (t) => {
  const sender = await client.person('Sender')
  const person = await client.person('Bound')
  const credential = await client.link(person)
  const { key, api_key_id: id } = await client.key(credential)
  const from = async (address: string, path: string) => {
    const headers = { 'x-forwarded-for': address }
    const answer = await fetch(`${service.url}${path}`, { headers })
    return (await answer.json()) as { ok: boolean; description?: string }
  }
  const call = (address: string, method: string) => from(address, `/bot${key}/${method}`)
  t.match(await call('203.0.113.9', 'getMe'), { ok: true })
  const held = call('203.0.113.9', 'getUpdates?timeout=30')
  await until(async () => {
    const { receive_mode } = await client.result('GET', `/api_keys/${id}`)
    return receive_mode === 'polling'
  })

  const allowed_ips = ['198.51.100.0/24', '2001:db8::/32']
  const changed = await client.result('PATCH', `/api_keys/${id}`, { allowed_ips })
  t.same(changed.allowed_ips, allowed_ips)
  const refusal = {
    ok: false,
    error_code: 403,
    description: 'Forbidden: this key may not be used from this address',
  }
  t.same(await call('203.0.113.9', 'getMe'), refusal)
  t.same(await from('203.0.113.9', `/file/bot${key}/photos/file_1.jpg`), {
    ...refusal,
    code: 'address_not_allowed',
  })
  for (const address of ['198.51.100.7', '::ffff:198.51.100.7', '2001:db8::7']) {
    t.match(await call(address, 'getMe'), { ok: true }, address)
  }
  t.match(await from('198.51.100.7', `/file/bot${key}/photos/file_1.jpg`), { error_code: 404 })

  await client.write(sender.id, person.id, 'only for some')
  t.same(await held, refusal, 'a poll that waited gets nothing at the old address')
  t.match(await call('198.51.100.7', 'getUpdates'), {
    result: [{ message: { text: 'only for some' } }],
  })
  await until(async () => {
    const { items } = await client.result('GET', `/user/logs/api-requests?api_key_id=${id}`)
    return items.some((one: { error_code: number }) => one.error_code === 403)
  })

  await client.result('PATCH', `/api_keys/${id}`, { allowed_ips: [] })
  t.match(await call('203.0.113.9', 'getMe'), { ok: true })
})

t.test('addresses of a key are checked', async (t) => {
  const credential_id = await client.link(await client.person('Checked'))
  const key = { name: 'x', credential_id, scopes: ['bot:send'] }
  const wrong = { ...key, allowed_ips: ['192.0.2.1', 'localhost'] }
  t.match((await client.ask('POST', '/api_keys', wrong)).body, {
    error_code: 400,
    code: 'address_form',
    errors: [{ field: 'allowed_ips.1' }],
  })
  const made = await client.result('POST', '/api_keys', { ...key, allowed_ips: ['192.0.2.1/24'] })
  t.same(made.allowed_ips, ['192.0.2.1/24'])
  const many = { allowed_ips: Array(51).fill('192.0.2.1') }
  t.equal((await client.ask('PATCH', `/api_keys/${made.api_key_id}`, many)).status, 400)
})
