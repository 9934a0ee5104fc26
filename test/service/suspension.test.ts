/** Users whom an operator suspends: refused everywhere, nothing goes out, nothing is lost, and all of it is back afterwards. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { claimDue } from '../../src/alerts/outbox.ts'
import { runningActions, waitingItems } from '../../src/bulk/actions.ts'
import { openDatabase } from '../../src/database/database.ts'
import { type Answer, ask, type Client, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { type Service, startService } from '../support/service.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { linkedAccount, refused } from './scene.ts'

const operatorPhone = '+14155557101'
const otherOperatorPhone = '+14155557102'
const supportPhone = '+14155557103'
const phone = '+14155557104'
const reason = 'Spam was reported, ticket 41'

const env = {
  OPERATOR_PHONES: `${operatorPhone},${otherOperatorPhone}`,
  SUPPORT_PHONES: supportPhone,
}

const ofUser = {
  status: 403,
  body: {
    ok: false,
    error_code: 403,
    description: `Forbidden: an operator has suspended you: ${reason}`,
    code: 'user_suspended',
    params: { why: reason },
  },
}
const ofKeys = refused(
  403,
  'Forbidden: the user of this key is suspended; they read the reason when they sign in',
)

/** Writes as a person of a user who may not speak: as the network would bring it from outside. */
const writes = (service: Service, userId: number, from: number, to: string) => (text: string) =>
  service.gateway.sandbox
    ?.network(userId)
    .actions.send(from, { to, contents: [{ kind: 'text', text, entities: [] }] })

/** A call on behalf of a user. */
async function behalf(client: Client, of: number, path: string, method = 'GET', body?: object) {
  const answer = await fetch(`${client.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${client.token}`,
      'on-behalf-of': `${of}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return ((await answer.json()) as Answer['body']).result
}

async function statusAndBody(asked: Promise<Answer>) {
  const { status, body } = await asked
  return { status, body }
}

type Updates = { readonly update_id: number; readonly message: { readonly text: string } }[]
const textsOf = (updates: Updates) => updates.map(({ message }) => message.text)

t.test('only operators suspend, with a reason, and no operator', async (t) => {
  const service = await startService(t, { env })
  const operator = await service.client(operatorPhone)
  const other = await service.client(otherOperatorPhone)
  const support = await service.client(supportPhone)
  const user = await service.client(phone)
  const { user_id: id } = await user.result('GET', '/user')
  const path = `/users/${id}/suspend`
  for (const client of [user, support]) {
    t.equal((await client.ask('POST', path, { reason })).status, 403)
    t.equal((await client.ask('POST', `/users/${id}/unsuspend`)).status, 403)
  }
  for (const client of [operator, other]) {
    const { user_id } = await client.result('GET', '/user')
    t.match(await operator.ask('POST', `/users/${user_id}/suspend`, { reason }), {
      status: 403,
      body: { code: 'operator_not_suspended' },
    })
  }
  for (const body of [{}, { reason: '  ' }, { reason: 'x'.repeat(501) }, { reason, more: 1 }]) {
    t.equal((await operator.ask('POST', path, body)).status, 400)
  }
  t.equal((await operator.ask('POST', '/users/999999/suspend', { reason })).status, 404)
  t.equal((await operator.ask('POST', '/users/999999/unsuspend')).status, 404)
  const byToken = async (scopes: readonly string[]) => {
    const { token } = await operator.result('POST', '/user/tokens', { name: 'script', scopes })
    return (await operator.byPersonalToken(token).ask('POST', path, { reason })).status
  }
  t.equal(await byToken(['read', 'link', 'keys', 'send']), 403)
  t.equal((await user.ask('GET', '/user')).status, 200, 'none of these has suspended anybody')
  t.equal(await byToken(['operate']), 200)
  t.match(await user.ask('GET', '/user'), ofUser)
  t.equal((await support.ask('GET', '/user')).status, 200)

  t.match(await operator.result('POST', path, { reason: 'Another' }), {
    user_id: id,
    suspended_reason: 'Another',
  })
  t.match(await user.ask('GET', '/user'), { body: { params: { why: 'Another' } } })
  t.match(await operator.result('POST', `/users/${id}/unsuspend`), { suspended_at: null })
  t.match(await operator.result('POST', `/users/${id}/unsuspend`), { suspended_reason: null })
  const { items } = await user.result('GET', '/audit?action=user')
  const { user_id: by } = await operator.result('GET', '/user')
  t.match(items, [
    { action: 'user.unsuspended', author_id: by, before: { reason: 'Another' } },
    { action: 'user.suspended', before: { reason }, after: { reason: 'Another' } },
    { action: 'user.suspended', via: 'token', after: { reason } },
  ])
  t.equal(items.length, 3, 'the end of no suspension is none')
  t.match(items[2], { target: 'user', target_id: new RegExp(`^${id}$`), before: null })
})

t.test('a suspended user is refused at once, and gets everything back', async (t) => {
  const service = await startService(t, { env })
  const operator = await service.client(operatorPhone)
  const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  const { client, ada, credentialId, key, keyId } = await linkedAccount(service, 'stopped', phone)
  const other = await linkedAccount(service, 'unconcerned')
  const { user_id: id } = await client.result('GET', '/user')
  const { token } = await client.result('POST', '/user/tokens', { name: 'script' })
  const script = client.byPersonalToken(token)
  const receiver = await Receiver.open(t)
  const hooked = await client.key(credentialId)
  t.ok((await client.bot(hooked.key, 'setWebhook', { url: receiver.url })).body.ok)
  const write = writes(service, id, ada.id, '@stopped')
  await write('before')
  await receiver.count(1)
  const [{ update_id }] = (await client.bot(key, 'getUpdates')).body.result
  const held = client.bot(key, 'getUpdates', { timeout: 50, offset: update_id + 1 })
  const person = await client.person('Linked later')
  const link = await client.result('POST', '/platforms/sandbox/link/start', {
    phone: person.phone,
  })
  const linkPath = `/platforms/sandbox/link/${link.session_id}`
  const { token: pageToken } = await client.result('POST', `${linkPath}/page`)
  await until(() => service.gateway.core.heldPolls() > 0)
  const stream = await fetch(`${service.url}/platforms/credentials/events`, {
    headers: { authorization: `Bearer ${client.token}` },
    // The sign-in of a stream is checked every five seconds: this one is told, in time counted from here.
    signal: AbortSignal.timeout(4_000),
  })

  const suspended = await operator.result('POST', `/users/${id}/suspend`, { reason })
  const begun = performance.now()
  t.match(suspended, { user_id: id, suspended_reason: reason, accounts: 1, api_keys: 2 })
  t.ok(Math.abs(Date.parse(suspended.suspended_at) - Date.now()) < 60_000)
  t.match(await held, ofKeys)
  t.match(await stream.text(), 'event: state')
  t.ok(performance.now() - begun < 4_000)

  const isRefused = async () => {
    for (const one of [client, script]) t.match(await one.ask('GET', '/api_keys'), ofUser)
    t.match(await client.ask('DELETE', '/user'), ofUser, 'nor erased, with what may be evidence')
    const { refreshToken: refresh_token } = client
    t.match(await ask(service.url, 'POST', '/auth/refresh', { refresh_token }), ofUser)
    for (const method of ['getMe', 'getUpdates', 'sendMessage', 'getWebhookInfo', 'setWebhook']) {
      t.match(await client.bot(key, method, { chat_id: ada.id, text: 'x' }), ofKeys, method)
    }
    t.match(await client.bot(hooked.key, 'deleteWebhook'), ofKeys)
    t.equal((await fetch(`${service.url}/file/bot${key}/voice/file_0.oga`)).status, 403)
    t.equal((await client.bot(`${key}x`, 'getMe')).status, 401, 'a wrong key learns nothing')
    t.equal((await fetch(`${service.url}/link-pages/${pageToken}`)).status, 404)
    t.ok((await other.client.bot(other.key, 'getMe')).body.ok, 'others go on')
  }
  await isRefused()

  await t.test('the sign-in tells it after the right code alone', async (t) => {
    const { body } = await ask(service.url, 'POST', '/auth/sendOtp', { phone })
    t.ok(body.ok)
    const otp = await service.code(phone)
    const wrong = otp === '000000' ? '111111' : '000000'
    const login = (code: string) => ask(service.url, 'POST', '/auth/login', { phone, otp: code })
    const refusal = await login(wrong)
    t.equal(refusal.status, 401)
    t.notMatch(JSON.stringify(refusal.body), /suspend|Spam/)
    t.match(await login(otp), ofUser)
    t.equal((await login(otp)).status, 401, 'the code is used up')
  })

  // What was about to be done when it began: an alert to be told, and an account of an action on many.
  await db.query(
    `insert into alert_notification (user_id, channel, event, created_at, next_at)
     values ($1, 'webhook', 'opened', now(), now() - interval '1 minute')`,
    [id],
  )
  const [action] = await db.query<{ id: number }>(
    `with action as (
       insert into bulk_action (user_id, kind, total) values ($1, 'restart', 1) returning id
     ), item as (
       insert into bulk_item (action_id, position, credential_id) select id, 1, $2 from action
     ) select id from action`,
    [id, credentialId],
  )
  const now = new Date()
  t.same(await claimDue(db, { now, incarnation: null, limit: 10 }), [])
  const [owner] = await db.query<{ owner: number | null }>(
    'select owner from credential_log where credential_id = $1',
    [credentialId],
  )
  t.same(await runningActions(db, owner?.owner ?? null, 10), [])
  t.same(await waitingItems(db, action?.id ?? 0, owner?.owner ?? null, 10), [])

  for (const text of ['one', 'two', 'three']) await write(text)
  const pending = async (count: number) =>
    await until(async () => {
      const record = await behalf(operator, id, `/api_keys/${hooked.api_key_id}`)
      return record.pending_update_count === count && record
    })
  t.match(await pending(3), { state: 'suspended' })
  t.match(await behalf(operator, id, `/platforms/credentials/${credentialId}`), {
    state: 'active',
  })

  await service.restart()
  await isRefused()
  await until(async () => {
    const { state } = await behalf(operator, id, `/platforms/credentials/${credentialId}`)
    return state === 'active'
  })
  for (const text of ['four', 'five']) {
    await writes(service, id, ada.id, '@stopped')(text)
  }
  t.match(await pending(5), { state: 'suspended' })
  const diagnosis = await behalf(operator, id, `/api_keys/${keyId}/diagnosis`, 'POST', {
    all: true,
  })
  t.match(diagnosis.cause, { step: 'get_me', code: 'user_suspended' })
  t.match(diagnosis.steps[0].evidence, [`An operator has suspended the user of the key: ${reason}`])
  t.match(diagnosis.steps[0].remedy, /\/users\/\{id\}\/unsuspend/)
  await pause(500)
  t.same(receiver.texts, ['before'], 'nothing goes out')

  await operator.result('POST', `/users/${id}/unsuspend`)
  await receiver.count(6)
  const all = ['one', 'two', 'three', 'four', 'five']
  t.same(receiver.texts, ['before', ...all])
  const { body } = await client.bot(key, 'getUpdates', { offset: update_id + 1 })
  t.same(textsOf(body.result), all)
  await write('after')
  await receiver.count(7)
  t.equal((await script.ask('GET', '/api_keys')).status, 200)
  t.equal((await client.ask('GET', '/api_keys')).status, 200)
  t.ok((await client.renewed()).token)
  t.ok((await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'back' })).body.ok)
  t.match(await client.result('GET', linkPath), { state: 'cancelled' }, 'links were ended')
  t.match((await client.result('GET', '/audit?action=session.refused')).items, [
    { after: null },
    { via: 'code', after: { why: 'user_suspended' } },
  ])
  // The user has set no way of telling.
  await until(async () => {
    const told = await db.query("select from alert_notification where state = 'lost'")
    return told.length === 1
  })
  const path = `/platforms/credentials/actions/${action?.id}`
  await until(async () => (await client.result('GET', path)).state === 'finished')
})

t.test('a share of the account of a suspended owner is read, and no more', async (t) => {
  const service = await startService(t, { env })
  const operator = await service.client(operatorPhone)
  const owner = await linkedAccount(service, 'sharedone', phone)
  const { user_id: id } = await owner.client.result('GET', '/user')
  const developerPhone = '+14155557105'
  const developer = await service.client(developerPhone)
  const path = `/platforms/credentials/${owner.credentialId}`
  const { share_id } = await owner.client.result('POST', `${path}/shares`, {
    phone: developerPhone,
    role: 'developer',
  })
  await developer.result('POST', `/shares/${share_id}/accept`)
  const test = () => developer.ask('POST', `${path}/test`, { send_to: `${owner.ada.id}` })
  t.equal((await test()).status, 200)

  await operator.result('POST', `/users/${id}/suspend`, { reason })
  const refusal = {
    status: 403,
    body: {
      ok: false,
      error_code: 403,
      description: 'Forbidden: the owner of the account is suspended',
      code: 'owner_suspended',
    },
  }
  const key = `/api_keys/${owner.keyId}`
  t.same(await statusAndBody(test()), refusal)
  t.same(await statusAndBody(developer.ask('POST', `${key}/rotate`)), refusal)
  t.same(await statusAndBody(developer.ask('POST', `${key}/diagnosis`)), refusal)
  t.match(await developer.result('GET', key), { state: 'suspended' })
  t.match(await developer.result('GET', path), { state: 'active' })
  await operator.result('POST', `/users/${id}/unsuspend`)
  t.equal((await test()).status, 200)

  const { user_id: developerId } = await developer.result('GET', '/user')
  const stream = await fetch(`${service.url}${path}/events`, {
    headers: { authorization: `Bearer ${developer.token}` },
    signal: AbortSignal.timeout(4_000),
  })
  await operator.result('POST', `/users/${developerId}/suspend`, { reason })
  t.match(await stream.text(), 'event: state')
  t.match(await developer.ask('GET', path), ofUser)
  t.equal((await owner.client.ask('GET', path)).status, 200)
})

t.test('it holds at each node, whichever was told', async (t) => {
  const CLUSTER_ADDRESS = 'https://127.0.0.1:0'
  const METRICS_TOKEN = 'a-token-of-operators'
  const among = { ...env, HOLD_MS: '5000', CLUSTER_ADDRESS, METRICS_TOKEN }
  const one = await startService(t, { env: { ...among, NODE_NAME: 'one' } })
  const operator = await one.client(operatorPhone)
  const { client, key } = await linkedAccount(one, 'ontwo', phone)
  const { user_id: id } = await client.result('GET', '/user')
  const two = await startService(t, {
    databaseUrl: one.databaseUrl,
    env: { ...among, NODE_NAME: 'two', DATA_DIR: one.dataDir },
  })
  // The first may still believe that it is alone, and would tell the other nothing.
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const knownTo = async (url: string) => {
    const { result } = (await (await fetch(`${url}/nodes`, { headers })).json()) as {
      result: readonly { readonly connected: boolean }[]
    }
    return result.filter(({ connected }) => connected).length
  }
  await until(async () => (await knownTo(one.url)) === 2)
  await until(async () => (await client.at(two.url).bot(key, 'getMe')).body.ok)
  const held = client.bot(key, 'getUpdates', { timeout: 50 })
  await until(() => one.gateway.core.heldPolls() > 0)
  await operator.at(two.url).result('POST', `/users/${id}/suspend`, { reason })
  t.match(await held, ofKeys)
  for (const url of [one.url, two.url]) t.match(await client.at(url).ask('GET', '/user'), ofUser)
  await operator.at(one.url).result('POST', `/users/${id}/unsuspend`)
  const isBack = async () => (await client.at(two.url).ask('GET', '/user')).status === 200
  await until(isBack, 4_000)
})
