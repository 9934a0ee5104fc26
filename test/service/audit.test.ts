/** The audit log: a line for every kind of change, with who and from where, without secrets; and nothing alters it. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ACTIONS, type Action } from '../../src/audit/actions.ts'
import { retainChanges } from '../../src/audit/read.ts'
import type { AuditRecord } from '../../src/records/audit.ts'
import { until } from '../support/client.ts'
import { auditRig } from './audit-rig.ts'

const phone = '+14155557001'
const { service, db, client, changes, newest } = await auditRig(t, phone)

/** Some of these calls are paced: they are asked again in a second. */
const paced = (method: string, path: string, body: object) =>
  until(async () => {
    const answer = await client.ask(method, path, body)
    if (answer.status !== 429) t.equal(answer.status, 200, `${method} ${path}`)
    return answer.status === 200
  })

/** Texts that may stand in no line. */
const secrets: string[] = []

async function keys(credential_id: number, write: (text: string) => Promise<unknown>) {
  const made = await client.key(credential_id)
  secrets.push(made.key)
  const path = `/api_keys/${made.api_key_id}`
  await client.result('PATCH', path, { name: 'renamed', allowed_ips: ['127.0.0.0/8'] })
  secrets.push((await client.result('POST', `${path}/rotate`, { overlap_seconds: 60 })).key)
  await client.result('PUT', `${path}/requests/exchanges`, { keep: 'all' })
  await client.result('PUT', `${path}/webhook/exchanges`, { keep: 'all' })
  const diagnosis = await client.result('POST', `${path}/diagnosis`)
  await client.result('POST', `${path}/diagnosis/${diagnosis.diagnosis_id}/next`)
  const url = 'http://127.0.0.1:9/hook/canary-path'
  const secret_token = 'canary-secret-token'
  secrets.push('canary-path', secret_token)
  await paced('PUT', `${path}/webhook`, { url, secret_token })
  await paced('POST', `${path}/webhook/test`, {})
  secrets.push((await client.result('POST', `${path}/webhook/secret`)).secret)
  await client.result('POST', `${path}/webhook/replay`, { from_update_id: 1 })
  await write('to be sent again')
  const all = { from_update_id: 1 }
  await client.result('POST', `${path}/webhook/resend`, { ...all, count_only: true })
  await client.result('POST', `${path}/webhook/resend`, all)
  await client.result('DELETE', `${path}/webhook/resend`)
  await client.result('DELETE', `${path}/webhook`)
  await client.result('DELETE', path)
}

async function accounts(credential: number) {
  const path = `/platforms/credentials/${credential}`
  await client.result('PATCH', `${path}/settings`, { include_self_updates: true })
  await client.result('POST', `${path}/restart`)
  await client.state(credential, 'active')
  await client.result('POST', `${path}/test`)
  const chosen = { credential_ids: [credential] }
  await client.result('POST', '/platforms/credentials/tags', { ...chosen, add: ['own'] })
  const many = '/platforms/credentials/actions'
  const { action_id } = await client.result('POST', many, { ...chosen, kind: 'restart' })
  await until(async () => (await client.result('GET', `${many}/${action_id}`)).state === 'finished')
  await db.query(`update bulk_action set state = 'running' where id = $1`, [action_id])
  await client.result('POST', `${many}/${action_id}/stop`)
  await client.result('POST', `${many}/${action_id}/resume`)
  await client.state(credential, 'active')
  await client.result('DELETE', path)
}

async function links() {
  const start = async ({ phone }: { readonly phone: string }) => {
    const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', { phone })
    return `/platforms/sandbox/link/${session_id}`
  }
  await client.result('DELETE', await start(await client.person('Cancelled')))
  const person = await client.person('Linked')
  const page = await client.result('POST', `${await start(person)}/page`)
  secrets.push(page.token)
  const otp = await client.code(person.id)
  await client.result('POST', `/link-pages/${page.token}/answer`, { otp })
}

async function settings(credential_id: number) {
  const made = await client.result('POST', '/user/tokens', { name: 'script' })
  secrets.push(made.token)
  await client.result('DELETE', `/user/tokens/${made.token_id}`)
  const view = await client.result('POST', '/user/views', {
    name: 'canary-view',
    query: { search: 'canary-person' },
  })
  secrets.push('canary-view', 'canary-person')
  await client.result('DELETE', `/user/views/${view.view_id}`)
  const { api_key_id } = await client.key(credential_id)
  const chat = { api_key_id, chat_id: '1' }
  const webhook = { url: 'http://127.0.0.1:9/canary-path' }
  const alerts = await client.result('PUT', '/alerts/settings', { webhook, chat })
  secrets.push(alerts.webhook.secret)
  await client.result('POST', '/alerts/settings/secret')
  await client.ask('POST', '/alerts/settings/test', { channel: 'chat' })
  const [incident] = await db.query<{ id: number }>(
    `insert into incident (user_id, rule, subject, state, affected, opened_at)
     select id, 'account_out', 'sandbox', 'open', 1, now() from app_user order by id limit 1
     returning id`,
  )
  const path = `/alerts/${incident?.id}`
  await client.result('POST', `${path}/acknowledge`)
  await client.result('POST', `${path}/silence`, { minutes: 5 })
  await client.result('DELETE', `${path}/silence`)
}

async function sessions() {
  const other = await service.client(phone)
  const { items } = await client.result('GET', '/user/sessions')
  await client.result('DELETE', `/user/sessions/${items[0].session_id}`)
  t.equal((await other.ask('GET', '/user')).status, 401)
  const third = await service.client(phone)
  await third.result('POST', '/auth/logout', { refresh_token: third.refreshToken })
  await client.ask('POST', '/auth/login', { phone, otp: '000000' })
}

async function orders(credential_id: number) {
  const [node] = await client.result('GET', '/operators/nodes')
  await client.result('POST', `/operators/nodes/${node.incarnation}/undrain`)
  await client.result('POST', '/operators/nodes/move', { credential_id, node: null })
  const headers = { authorization: 'Bearer orders-of-a-test' }
  const url = `${service.url}/nodes/${node.incarnation}/undrain`
  t.equal((await fetch(url, { method: 'POST', headers })).status, 200)
}

/** Those that this scene cannot drive, with the reason. */
const elsewhere: readonly Action[] = [
  // It needs somebody of the staff and another user: `test/service/staff.test.ts`.
  'user.unmasked',
  // They need a second user: `test/service/sharing.test.ts`.
  'share.made',
  'share.accepted',
  'share.changed',
  'share.ended',
  // There is no other node to take the accounts.
  'node.drained',
  // A network has to be away for a week: test/nodes/sign-outs.test.ts.
  'account.session_left',
  // Time has to pass: a test below.
  'session.reused',
  // A code may be asked for again only after a while.
  'link.code_asked',
  // The staff does it: test/service/staff.test.ts and test/service/suspension.test.ts.
  'user.unmasked',
  'user.suspended',
  'user.unsuspended',
  // Commands run on their own: a test below.
  'service.phone_unlocked',
  'service.signing_keys_dropped',
  'service.schema_contracted',
]

t.test('every kind of change leaves a line', async (t) => {
  const writer = await client.person('Writer')
  const person = await client.person('First')
  const first = await client.link(person)
  const second = await client.link(await client.person('Second'))
  await keys(first, (text) => client.write(writer.id, person.id, text))
  await links()
  await settings(second)
  await sessions()
  await orders(second)
  await accounts(first)
  await client.result('DELETE', '/sandbox/network')
  const found = new Set((await changes()).map(({ action }) => action))
  t.same(
    ACTIONS.filter((action) => !found.has(action)),
    ACTIONS.filter((action) => elsewhere.includes(action)),
  )
})

t.test(
  'a line says who, from where, what it was before and after, and which request',
  async (t) => {
    const changed = await newest('key.changed')
    const { user_id } = await client.result('GET', '/user')
    t.match(changed, {
      via: 'sign_in',
      author_id: user_id,
      session_id: Number,
      token_id: null,
      ip: '127.0.0.1',
      target: 'key',
      target_id: /^\d+$/,
      before: { name: 'test', allowed_ips: { length: 0 } },
      after: { name: 'renamed', allowed_ips: ['127.0.0.0/8'] },
    })
    const asked = `request_id=${encodeURIComponent(changed.request_id ?? '')}`
    await until(async () => {
      const { items } = await client.result('GET', `/user/logs/api-requests?${asked}`)
      return items[0]?.method === 'PATCH /api_keys/:id'
    })
    const answered = await changes('&action=link.answered')
    t.match(
      answered.find(({ via }) => via === 'page'),
      { author_id: null, session_id: null, target: 'link', ip: '127.0.0.1' },
    )
    t.match(await newest('session.refused'), { via: 'code', author_id: null, ip: '127.0.0.1' })
    const orders = await changes('&action=node.undrained')
    t.same(
      orders.map(({ via, author_id }) => [via, author_id]),
      [
        ['command', null],
        ['sign_in', user_id],
      ],
    )
  },
)

/** The lines of answers to this link. */
const answersTo = async (session_id: string) =>
  (await changes(`&action=link.answered&target=link&target_id=${session_id}`)).map(
    ({ via, after }) => [via, after],
  )

async function begun(name: string) {
  const person = await client.person(name)
  const start = { phone: person.phone }
  const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', start)
  return { session_id, otp: await client.code(person.id) }
}

t.test('an account that is linked leaves one line, also if its answer was a failure', async (t) => {
  const verify = '/platforms/sandbox/link/verify'
  const usual = await begun('Usual')
  t.equal((await client.ask('POST', verify, { ...usual, otp: '00000' })).status, 400)
  t.same(await answersTo(usual.session_id), [])
  await client.result('POST', verify, usual)
  const newestAccount = async () => {
    const [row] = await db.query<{ id: number }>('select max(id) as id from credential')
    return row?.id ?? 0
  }
  const first = await newestAccount()
  await client.result('POST', verify, usual)
  t.same(await answersTo(usual.session_id), [['sign_in', { credential_id: first }]], 'once')

  const late = await begun('Late')
  await db.transaction(async (tx) => {
    const { user_id } = await client.result('GET', '/user')
    await tx.query('select from app_user where id = $1 for no key update', [user_id])
    const asked = client.ask('POST', verify, late)
    let isAnswered = false
    void asked.finally(() => {
      isAnswered = true
    })
    await until(async () => {
      // A transaction that does nothing for long would lose its lock.
      await tx.query('select')
      return isAnswered
    }, 20_000)
    t.equal((await asked).status, 503)
  })
  const lines = await until(async () => {
    const found = await answersTo(late.session_id)
    return found.length > 0 && found
  })
  t.not(await newestAccount(), first)
  t.same(lines, [['sign_in', { credential_id: await newestAccount() }]])
})

t.test('no line has a secret', async (t) => {
  const text = JSON.stringify(await db.query('select * from audit_log'))
  t.ok(secrets.length > 8)
  for (const secret of secrets) t.notOk(text.includes(secret), secret)
})

t.test('a token reads the log, by filters and line by line; others see none of it', async (t) => {
  const { token, token_id } = await client.result('POST', '/user/tokens', {
    name: 'reader\u2028\u0085\u009b31m\u2029',
    scopes: ['read', 'keys'],
  })
  const reader = client.byPersonalToken(token)
  const all = await changes('', reader)
  const ofKeys = await changes('&action=key', reader)
  t.ok(ofKeys.length > 4 && ofKeys.length < all.length)
  t.same([...new Set(ofKeys.map(({ action }) => action.split('.')[0]))], ['key'])
  const [{ target_id, at }] = ofKeys as [AuditRecord]
  const ofOne = await changes(`&target=key&target_id=${target_id}`, reader)
  t.ok(ofOne.length > 0 && ofOne.every((one) => one.target_id === target_id))
  t.same(await changes(`&until=${at}&since=${at}`, reader), [])
  const first = await reader.result('GET', '/audit?limit=2')
  const next = await reader.result('GET', `/audit?limit=2&before=${first.next_before}`)
  t.same([...first.items, ...next.items], all.slice(0, 4))

  const headers = { authorization: `apikey ${token}` }
  const exported = await fetch(`${service.url}/audit/export`, { headers })
  t.match(exported.headers.get('content-type'), 'application/x-ndjson')
  const lines = (await exported.text()).trimEnd().split(/[\p{Cc}\p{Zl}\p{Zp}]/u)
  t.same(
    lines.map((line) => JSON.parse(line)),
    all,
  )

  const { api_key_id } = await reader.key(await client.link(await client.person('Third')))
  t.match(await newest('key.made'), {
    via: 'token',
    token_id,
    target_id: new RegExp(`^${api_key_id}$`),
  })
  const stranger = await service.client()
  t.same(
    (await changes('', stranger)).map(({ action }) => action),
    ['session.opened'],
    'neither of others, nor of the service',
  )
})

t.test('strangers who fail to sign in fill the log of nobody', async (t) => {
  const tried = '+14155557009'
  const owner = await service.client(tried)
  const statuses = new Set<number>()
  for (let time = 0; time < 130; time++) {
    const { status } = await client.ask('POST', '/auth/login', { phone: tried, otp: '000000' })
    statuses.add(status)
  }
  t.ok(statuses.has(401), 'each has its answer')
  const lines = await changes('&action=session.refused', owner)
  t.equal(lines.length, 100)
})

t.test('lines are only added, and end after 400 days or with their user', async (t) => {
  const [old] = await db.query<{ id: number }>('select min(id) as id from audit_log')
  const count = async () =>
    (await db.query<{ lines: number }>('select count(*)::int as lines from audit_log'))[0]?.lines
  const lines = await count()
  for (const alter of [
    `update audit_log set ip = '192.0.2.1'`,
    'delete from audit_log',
    'truncate audit_log',
  ]) {
    await t.rejects(db.query(alter), { code: /^42501$/ }, alter)
  }
  await retainChanges(db)
  t.equal(await count(), lines)
  await db.query('alter table audit_log disable trigger audit_log_stays')
  await db.query(`update audit_log set at = now() - interval '401 days' where id = $1`, [old?.id])
  await db.query('alter table audit_log enable trigger audit_log_stays')
  await retainChanges(db)
  t.equal(await count(), (lines ?? 0) - 1)

  const leaving = await service.client()
  const { user_id } = await leaving.result('GET', '/user')
  const own = 'select from audit_log where user_id = $1'
  // One of them was an operator once, who saw to an account of somebody else.
  const [other] = await db.query<{ id: number }>(
    `insert into audit_log (user_id, action, via, author_id)
     select id, 'user.unmasked', 'sign_in', $1 from app_user where id <> $1 limit 1 returning id`,
    [user_id],
  )
  t.equal((await db.query(own, [user_id])).length, 1)
  t.same(await leaving.result('DELETE', '/user'), { erased: true })
  t.same(await db.query(own, [user_id]), [])
  const left = await db.query('select author_id from audit_log where id = $1', [other?.id])
  t.same(left, [{ author_id: null }], 'the line of the other stays, without a name')
})

t.test('a refresh token that was copied, and commands of the operator', async (t) => {
  const copied = await service.client(phone)
  const refresh = () => copied.ask('POST', '/auth/refresh', { refresh_token: copied.refreshToken })
  t.equal((await refresh()).status, 200)
  await db.query(`update refresh_token set used_at = used_at - interval '1 minute'`)
  t.equal((await refresh()).status, 401)
  const reused = await changes('&action=session.reused')
  t.match(reused, [{ via: 'code', target: 'session', ip: '127.0.0.1', request_id: String }])
  await refresh()
  t.equal((await changes('&action=session.reused')).length, 1, 'once')

  const KEY_FILE = join(service.dataDir, 'keys')
  const command = (file: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [`src/operator/${file}`, ...args], {
      env: { PATH: process.env.PATH, DATABASE_URL: service.databaseUrl, KEY_FILE },
    })
  await command('unlock.ts', phone)
  const { user_id } = await client.result('GET', '/user')
  t.match(await newest('service.phone_unlocked'), {
    via: 'command',
    author_id: null,
    target: 'user',
    target_id: new RegExp(`^${user_id}$`),
  })
  await command('drop-signing-keys.ts')
  t.match(
    await db.query(`select after from audit_log where action = 'service.signing_keys_dropped'`),
    [{ after: { dropped: Number } }],
  )
})
