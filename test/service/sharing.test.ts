/** An account that is shared: invitations, what is seen of it, keys of developers, and how a share ends. */
import t from 'tap'
import { type Answer, type Client, until } from '../support/client.ts'
import { phones, sharingRig } from './sharing-rig.ts'

const { service, db, owner, developer, viewer, stranger, ownerId, developerId, ...rig } =
  await sharingRig(t)
const { person, account, path, invite, share, keyOf, opens } = rig
const other = await owner.link(await owner.person('Private', 'private_bot'))

t.test('an invitation tells nobody whether the phone has a user', async (t) => {
  const known = await invite(phones.developer, 'developer')
  const unknown = await invite(phones.late, 'viewer')
  t.equal(known.status, 200)
  const shape = ({ body }: Answer) => ({
    ...body.result,
    share_id: 0,
    created_at: '',
    expires_at: '',
    phone: '',
    role: '',
  })
  t.same(shape(known), shape(unknown))
  t.match(known.body.result, { state: 'invited', user_id: null, phone: phones.developer })
  t.match(await invite(phones.developer, 'viewer'), {
    status: 400,
    body: { code: 'shared_already', errors: [{ field: 'phone' }] },
  })

  const { items } = await developer.result('GET', '/shares')
  t.match(items, [
    {
      state: 'invited',
      role: 'developer',
      platform: 'sandbox',
      owner: { phone: '+*******7101' },
      credential: null,
    },
  ])
  t.notMatch(JSON.stringify(items), 'shared_bot', 'a wrong phone learns no name')
  t.equal((await developer.ask('GET', path)).status, 404, 'it is not accepted yet')
  const id = items[0].share_id
  t.equal((await stranger.ask('POST', `/shares/${id}/accept`)).status, 404)
  t.equal((await stranger.ask('DELETE', `/shares/${id}`)).status, 404)
  t.same((await stranger.result('GET', '/shares')).items, [])
  await developer.result('POST', `/shares/${id}/accept`)
  t.equal((await developer.ask('POST', `/shares/${id}/accept`)).status, 404, 'once')

  const lines = (await owner.result('GET', '/audit?action=share')).items
  const target = { target: 'account', target_id: `${account}` }
  t.match(lines, [
    { action: 'share.accepted', author_id: developerId, ...target, after: { share_id: id } },
    { action: 'share.made', author_id: ownerId, ...target, after: { role: 'viewer' } },
    { action: 'share.made', author_id: ownerId, ...target, after: { share_id: id } },
  ])

  const late = await service.client(phones.late)
  const [waiting] = (await late.result('GET', '/shares')).items
  t.match(waiting, { state: 'invited', role: 'viewer' }, 'who signs in first then finds it')
  await late.result('DELETE', `/shares/${waiting.share_id}`)
  t.same((await late.result('GET', '/shares')).items, [])
  const left = (await owner.result('GET', `${path}/shares`)).items
  t.match(left, [{ state: 'active', user_id: developerId, role: 'developer' }])
  t.same(left[0].api_key_ids, [])
  t.equal(left.length, 1)
})

t.test('an invitation that nobody took in time is over', async (t) => {
  const { share_id } = (await invite(phones.late, 'viewer')).body.result
  const late = await service.client(phones.late)
  await db.query(`update account_share set created_at = now() - interval '31 days' where id = $1`, [
    share_id,
  ])
  t.equal((await late.ask('POST', `/shares/${share_id}/accept`)).status, 404)
  t.same((await late.result('GET', '/shares')).items, [])
  const [expired] = (await owner.result('GET', `${path}/shares`)).items
  t.match(expired, { share_id, state: 'expired' })
  const again = (await invite(phones.late, 'developer')).body.result
  t.match(again, { state: 'invited', role: 'developer' })
  await owner.result('DELETE', `${path}/shares/${again.share_id}`)
})

t.test('bad input is refused, and what is not there is not found', async (t) => {
  const reasons = async (body: object) => (await owner.ask('POST', `${path}/shares`, body)).body
  t.match(await reasons({ phone: '12', role: 'viewer' }), { errors: [{ field: 'phone' }] })
  t.match(await reasons({ phone: phones.stranger, role: 'owner' }), { errors: [{ field: 'role' }] })
  t.match(await reasons({ phone: phones.owner, role: 'viewer' }), { errors: [{ field: 'phone' }] })
  t.match(await reasons({ role: 'viewer' }), { error_code: 400 })
  t.match(await reasons({ phone: phones.stranger, role: 'viewer', more: 1 }), { error_code: 400 })
  const body = { phone: phones.stranger, role: 'viewer' }
  const ids = { 999999: 404, 0: 400, x: 400, '1e3': 400 }
  for (const [id, status] of Object.entries(ids)) {
    const where = `/platforms/credentials/${id}/shares`
    t.equal((await owner.ask('POST', where, body)).status, status, id)
    t.equal((await owner.ask('GET', where)).status, status, id)
    t.equal(
      (await owner.ask('PATCH', `${path}/shares/${id}`, { role: 'viewer' })).status,
      status,
      id,
    )
    t.equal((await owner.ask('DELETE', `${path}/shares/${id}`)).status, status, id)
    t.equal((await owner.ask('POST', `/shares/${id}/accept`)).status, status, id)
    t.equal((await owner.ask('DELETE', `/shares/${id}`)).status, status, id)
  }
  t.equal((await owner.ask('DELETE', `${path}/shares/1?revoke_keys=perhaps`)).status, 400)
  const [{ share_id }] = (await owner.result('GET', `${path}/shares`)).items
  const elsewhere = `/platforms/credentials/${other}/shares/${share_id}`
  t.equal((await owner.ask('DELETE', elsewhere)).status, 404, 'a share of another account')
  const { token } = await owner.result('POST', '/user/tokens', {
    name: 'script',
    scopes: ['read', 'link', 'keys'],
  })
  const script = owner.byPersonalToken(token)
  t.equal((await script.ask('GET', `${path}/shares`)).status, 200)
  t.equal((await script.ask('POST', `${path}/shares`, body)).status, 401, 'it takes a sign-in')
})

t.test('a share reaches its account, and no other of the owner', async (t) => {
  const mine = await keyOf(owner, 'shown')
  const hidden = await owner.result('POST', '/api_keys', {
    name: 'hidden',
    credential_id: other,
    scopes: ['bot:send'],
  })
  await owner.bot(mine.key, 'getMe')
  await owner.bot(hidden.key, 'getMe')
  for (const one of [account, other]) {
    await until(async () => {
      const { items } = await owner.result('GET', `/user/logs/api-requests?credential_id=${one}`)
      return items.length > 0
    })
  }
  t.equal((await developer.ask('GET', `/platforms/credentials/${other}`)).status, 404)
  t.equal((await developer.ask('GET', `/api_keys/${hidden.api_key_id}`)).status, 404)
  const none = { items: [], next_before: null }
  for (const query of ['', `?credential_id=${other}`]) {
    t.same(await developer.result('GET', `/api_keys${query}`), none, 'own lists stay own')
  }
  const mixed = `credential_id=${account}&api_key_id=${hidden.api_key_id}`
  t.same(await developer.result('GET', `/user/logs/api-requests?${mixed}`), none)
  t.equal((await developer.result('GET', `/user/usage?${mixed}`)).totals.requests, 0)
  const crossed = `credential_id=${other}&api_key_id=${mine.api_key_id}`
  t.same(await developer.result('GET', `/user/logs/api-requests?${crossed}`), none)
  const seen = await developer.result('GET', `/user/logs/api-requests?credential_id=${account}`)
  t.ok(seen.items.length > 0)
  t.ok(seen.items.every((one: { credential_id: number }) => one.credential_id === account))
  const before = await developer.result('GET', '/user/logs/webhook-deliveries?limit=1000')
  t.same(before.items, [])
  const keys = await developer.result('GET', `/api_keys?credential_id=${account}`)
  t.match(keys.items[0], { name: 'shown', made_by: null, shared: { role: 'developer' } })
  t.notMatch(JSON.stringify(keys), mine.key.split(':')[1])

  const record = await developer.result('GET', path)
  t.match(record.shared, { role: 'developer', owner: { phone: '+*******7101' } })
  t.not(record.account.phone, person.phone)
  t.match(record.account.phone, /^\+\*+\d{4}$/)
  t.notOk('shared' in (await owner.result('GET', path)))
  const [listed] = (await developer.result('GET', '/shares')).items
  t.equal(listed.credential.account.phone, record.account.phone)
  t.same((await developer.result('GET', '/platforms/credentials')).items, [])
  const chosen = { credential_ids: [account] }
  await developer.ask('POST', '/platforms/credentials/tags', { ...chosen, add: ['taken'] })
  await developer.ask('POST', '/platforms/credentials/actions', { ...chosen, kind: 'delete' })
  const again = { phone: person.phone, credential_id: account }
  t.equal((await developer.ask('POST', '/platforms/sandbox/link/start', again)).status, 404)
  t.match(await owner.result('GET', path), { tags: { length: 0 }, state: 'active' })
})

t.test('a key of a developer belongs to the owner, and says who made it', async (t) => {
  const made = await keyOf(developer, 'theirs')
  t.match(made, { made_by: developerId, credential_id: account })
  t.equal(await opens(made.key), 200)
  const key = await owner.result('GET', `/api_keys/${made.api_key_id}`)
  t.match(key, { name: 'theirs', made_by: developerId })
  await until(async () => {
    const of = `?api_key_id=${made.api_key_id}`
    return (await owner.result('GET', `/user/logs/api-requests${of}`)).items.length > 0
  })
  const { items } = await owner.result('GET', '/audit?action=key.made')
  t.match(items[0], { author_id: developerId })
  t.equal(items[0].target_id, `${made.api_key_id}`)
  t.same((await developer.result('GET', '/audit?action=key.made')).items, [])
  const [one] = (await owner.result('GET', `${path}/shares`)).items
  t.ok(one.api_key_ids.includes(made.api_key_id))
})

t.test('tokens need their scopes, and the staff gains nothing by a share', async (t) => {
  const byToken = async (scopes: string[]) => {
    const { token } = await developer.result('POST', '/user/tokens', { name: 'script', scopes })
    return developer.byPersonalToken(token)
  }
  const reader = await byToken(['read'])
  t.equal((await reader.ask('GET', path)).status, 200)
  const body = { name: 'x', credential_id: account, scopes: ['bot:send'] }
  t.match(await reader.ask('POST', '/api_keys', body), {
    status: 403,
    body: { code: 'token_scope' },
  })
  t.equal((await (await byToken(['keys'])).ask('POST', '/api_keys', body)).status, 200)
  const support = await service.client(phones.support)
  const on = async (of: number, address: string) => {
    const headers = { authorization: `Bearer ${support.token}`, 'on-behalf-of': `${of}` }
    const answer = await fetch(`${service.url}${address}`, { headers })
    return { status: answer.status, text: await answer.text() }
  }
  t.equal((await on(ownerId, path)).status, 200)
  t.equal((await on(developerId, path)).status, 404)
  t.equal((await on(developerId, '/shares')).status, 403)
  const shares = await on(ownerId, `${path}/shares`)
  t.equal(shares.status, 200)
  t.notMatch(shares.text, phones.developer)
})

const shareOf = async (userId: number) => {
  const { items } = await owner.result('GET', `${path}/shares`)
  return items.find((one: { user_id: number }) => one.user_id === userId)
}

t.test('the end of a share revokes what its developer holds, if it is asked for', async (t) => {
  const [mine, shown, back, made] = [
    await keyOf(owner, 'untouched'),
    await keyOf(owner, 'rotated by them'),
    await keyOf(owner, 'rotated back'),
    await keyOf(developer, 'made by them'),
  ]
  const rotate = (client: Client, { api_key_id: id }: { api_key_id: number }) =>
    client.result('POST', `/api_keys/${id}/rotate`, {})
  const rotated = await rotate(developer, shown)
  await rotate(developer, back)
  const safe = await rotate(owner, back)
  const hooked = await keyOf(owner, 'delivers to them')
  const hook = { url: 'http://127.0.0.1:9/theirs' }
  await developer.result('PUT', `/api_keys/${hooked.api_key_id}/webhook`, hook)
  const { key: unknown } = await rotate(owner, hooked)
  const { share_id, api_key_ids } = await shareOf(developerId)
  const { revoked_api_key_ids: revoked } = await owner.result(
    'DELETE',
    `${path}/shares/${share_id}?revoke_keys=true`,
  )
  t.same(revoked.toSorted(), api_key_ids, 'those that were listed')
  for (const { api_key_id } of [shown, made, hooked]) t.ok(revoked.includes(api_key_id))
  for (const { key } of [rotated, made, hooked]) t.equal(await opens(key), 401)
  t.equal(await opens(unknown), 401, 'its webhook was theirs, whoever has its secret')
  for (const { key } of [mine, safe]) t.equal(await opens(key), 200)
  const { items } = await owner.result('GET', '/audit?action=key.revoked')
  t.match(
    items.find((one: { target_id: string }) => one.target_id === `${made.api_key_id}`),
    { author_id: ownerId, target: 'key' },
  )
  t.equal((await developer.ask('GET', path)).status, 404)
  t.equal((await developer.ask('GET', `/api_keys/${mine.api_key_id}`)).status, 404)
  const ended = (await owner.result('GET', '/audit?action=share.ended')).items[0]
  t.match(ended, {
    author_id: ownerId,
    target: 'account',
    before: { role: 'developer', user_id: developerId, api_key_ids },
  })
  t.equal(ended.target_id, `${account}`)
})

t.test('without it they go on working, and say who made them', async (t) => {
  const id = await share(developer, phones.developer, 'developer')
  const made = await keyOf(developer)
  const gone = await keyOf(developer, 'revoked before')
  await owner.result('DELETE', `/api_keys/${gone.api_key_id}`)
  await developer.result('DELETE', `/shares/${id}`)
  t.equal((await developer.ask('GET', path)).status, 404)
  t.equal(await opens(made.key), 200)
  const { made_by } = await owner.result('GET', `/api_keys/${made.api_key_id}`)
  t.equal(made_by, developerId)
  const [left] = (await owner.result('GET', '/audit?action=share.ended')).items
  t.match(left, { author_id: developerId })
  t.same(left.before, {
    ...{ share_id: id, user_id: developerId, role: 'developer' },
    api_key_ids: [made.api_key_id],
  })
  await owner.result('DELETE', `/api_keys/${made.api_key_id}`)
})

t.test('a role changes, and takes keys along', async (t) => {
  const id = await share(developer, phones.developer, 'developer')
  const made = await keyOf(developer)
  const to = (role: string, revoke_keys: boolean) =>
    owner.result('PATCH', `${path}/shares/${id}`, { role, revoke_keys })
  t.match(await to('viewer', false), { role: 'viewer', api_key_ids: [made.api_key_id] })
  t.equal(await opens(made.key), 200)
  t.match(await developer.ask('PATCH', `/api_keys/${made.api_key_id}`, { name: 'x' }), {
    status: 403,
    body: { code: 'share_role', params: { role: 'viewer', asks: 'developer' } },
  })
  t.match(await to('developer', true), { role: 'developer', api_key_ids: [made.api_key_id] })
  t.same((await to('viewer', true)).api_key_ids, [])
  t.equal(await opens(made.key), 401)
  const [line] = (await owner.result('GET', '/audit?action=share.changed')).items
  t.match(line, { before: { role: 'developer' }, after: { role: 'viewer' } })
  await owner.result('DELETE', `${path}/shares/${id}`)
})

t.test('no key survives a share that ends with its keys while they are made', async (t) => {
  for (let round = 0; round < 12; round++) {
    const id = await share(developer, phones.developer, 'developer')
    const old = await keyOf(owner)
    const body = { name: 'raced', credential_id: account, scopes: ['bot:send'] }
    const [made, rotated] = await Promise.all([
      developer.ask('POST', '/api_keys', body),
      developer.ask('POST', `/api_keys/${old.api_key_id}/rotate`, {}),
      owner.result('DELETE', `${path}/shares/${id}?revoke_keys=true`),
    ])
    for (const { status, body } of [made, rotated]) {
      t.ok([200, 400, 404].includes(status), `${status}`)
      // A rotation after the revocation is refused; of one before it nothing is left.
      if (status === 200) t.equal(await opens(body.result.key), 401, `round ${round}`)
    }
    await owner.ask('DELETE', `/api_keys/${old.api_key_id}`)
  }
})

/** Resolves with how long the stream went on after this. */
async function openStream(client: Client) {
  const answer = await fetch(`${service.url}${path}/events`, {
    headers: { authorization: `Bearer ${client.token}` },
    signal: AbortSignal.timeout(20_000),
  })
  const reader = answer.body?.getReader()
  const first = new TextDecoder().decode((await reader?.read())?.value)
  const ended = async () => {
    const begun = performance.now()
    for (;;) if ((await reader?.read())?.done !== false) return performance.now() - begun
  }
  return { first, ended }
}

t.test('streams of events end with the share, and no others', async (t) => {
  const [byViewer, byDeveloper] = [
    await share(viewer, phones.viewer, 'viewer'),
    await share(developer, phones.developer, 'developer'),
  ]
  const theirs = await openStream(viewer)
  const others = await openStream(developer)
  t.match(theirs.first, '"role":"viewer"')
  t.notMatch(theirs.first, person.phone)
  const over = theirs.ended()
  await owner.result('DELETE', `${path}/shares/${byViewer}`)
  t.ok((await over) < 1_000)
  t.equal((await viewer.ask('GET', `${path}/events`)).status, 404)
  const later = others.ended()
  await owner.result('PATCH', `${path}/shares/${byDeveloper}`, { role: 'viewer' })
  const first = await Promise.race([later, new Promise((done) => setTimeout(done, 700, 'open'))])
  t.equal(first, 'open', 'a viewer may listen, too')
  await developer.result('DELETE', `/shares/${byDeveloper}`)
  t.type(await later, 'number')
})

t.test('it ends with either user, and with the account', async (t) => {
  const phone = '+14155557107'
  const leaving = await service.client(phone)
  await share(leaving, phone, 'developer')
  const made = await keyOf(leaving)
  t.same(await leaving.result('DELETE', '/user'), { erased: true })
  t.same((await owner.result('GET', `${path}/shares`)).items, [])
  t.equal(await opens(made.key), 200)
  t.equal((await owner.result('GET', `/api_keys/${made.api_key_id}`)).made_by, null)

  await share(developer, phones.developer, 'viewer')
  await owner.result('DELETE', path)
  t.equal((await developer.ask('GET', path)).status, 404)
  t.equal((await developer.ask('GET', `/api_keys/${made.api_key_id}`)).status, 404)
  t.same((await developer.result('GET', '/shares')).items, [])
  await until(async () => (await db.query('select from account_share')).length === 0)

  const kept = { phone: phones.developer, role: 'viewer' }
  const where = `/platforms/credentials/${other}/shares`
  const { share_id } = await owner.result('POST', where, kept)
  await developer.result('POST', `/shares/${share_id}/accept`)
  t.equal((await developer.ask('GET', `/platforms/credentials/${other}`)).status, 200)
  t.same(await owner.result('DELETE', '/user'), { erased: true })
  t.equal((await developer.ask('GET', `/platforms/credentials/${other}`)).status, 404)
  t.same((await developer.result('GET', '/shares')).items, [])
  t.same(await db.query('select from account_share'), [])
})
