/** Linking an account again, and links that are refused. */
import t from 'tap'
import type { Platform } from '../../actors/ports/platform.ts'
import { capabilities, sandboxPlatform } from '../../src/platforms/sandbox/platform.ts'
import { type Service, startService } from '../support/service.ts'
import { refused, troubledAccount } from './scene.ts'

/** A network where everybody who has the code can link the accounts of one user. */
const sharedNetwork = (sandbox: () => Platform, owner: () => number): Platform => ({
  id: 'shared',
  name: 'Shared',
  ids: 'integer',
  sessions: 'shared',
  sends: 'idempotent',
  linkMethods: [
    { method: 'phone', fields: [{ name: 'phone', label: 'Phone number', required: true }] },
  ],
  capabilities,
  startLink: (method, fields, signal) => sandbox().startLink(method, fields, signal, owner()),
  resumeLink: (stored, signal) => sandbox().resumeLink(stored, signal),
  open: (account, report, signal) => sandbox().open(account, report, signal),
})
let owner = 0

const service: Service = await startService(t, {
  platforms: [
    sharedNetwork(
      () => sandboxPlatform(service.gateway.sandbox!),
      () => owner,
    ),
  ],
})
const account = (name: string) => troubledAccount(service, name)
type Account = Awaited<ReturnType<typeof account>>

const start = ({ client }: Account, phone: string, more: object = {}) =>
  client.ask('POST', '/platforms/sandbox/link/start', { phone, ...more })

async function relink(account: Account, person = account.bot, more: object = {}) {
  const { session_id } = (await start(account, person.phone, more)).body.result
  return verify(account, session_id, person.id)
}

async function verify({ client }: Account, session_id: string, person: number) {
  const otp = await client.code(person)
  return client.ask('POST', '/platforms/sandbox/link/verify', { session_id, otp })
}

t.test(
  'the same account linked again is the same credential, with its keys and its log',
  async (t) => {
    const lost = await account('lost_bot')
    const { credentialId, state, send, write, updates } = lost
    await write('before')
    const [before] = (await updates({ timeout: 10 })).body.result
    await lost.fault('revoke')
    await state('logged_out')
    await write('while logged out')
    const { body } = await relink(lost, lost.bot, { credential_id: credentialId })
    t.match(body.result, { state: 'linked', credential: { credential_id: credentialId } })
    t.match(await state('active'), { reason: null, action: 'none' })
    t.match(await send(), { status: 200 }, 'the key goes on')
    await write('after')
    const { body: read } = await updates({ timeout: 10, offset: before.update_id + 1, limit: 1 })
    t.match(read.result, [{ update_id: before.update_id + 1 }], 'and so does the log')
    t.equal((await lost.client.result('GET', '/platforms/credentials')).items.length, 1)
  },
)

t.test('without being asked to it is the same credential as well', async (t) => {
  const twice = await account('twice_bot')
  const { body } = await relink(twice)
  t.match(body.result.credential, { credential_id: twice.credentialId })
  await twice.state('active')
  t.match(await twice.send(), { status: 200 })
  await service.restart()
  await twice.state('active')
})

t.test('another account than the one to be linked again is refused', async (t) => {
  const mine = await account('mine_bot')
  const other = await mine.client.person('Other')
  const answer = await relink(mine, other, { credential_id: mine.credentialId })
  t.match(answer, {
    status: 400,
    body: { description: 'Bad Request: this is another account than the one to be linked again' },
  })
  t.match(await mine.send(), { status: 200 }, 'the credential is untouched')
  t.match(await mine.record(), { account: { id: mine.bot.id } })
  const { session_id } = (await start(mine, other.phone, { credential_id: mine.credentialId })).body
    .result
  t.match(await verify(mine, session_id, other.id), { status: 400 })
  const look = await mine.client.result('GET', `/platforms/sandbox/link/${session_id}`)
  t.match(look, { state: 'failed', reason: 'other_account', attempts_left: 0 }, 'it is over')
  const elsewhere = { jid: 'a@127.0.0.1', password: 'x', credential_id: mine.credentialId }
  t.match(await mine.client.ask('POST', '/platforms/xmpp/link/start', elsewhere), {
    status: 400,
    body: { errors: [{ field: 'credential_id', reason: 'is an account of another platform' }] },
  })
  const missing = await start(mine, mine.bot.phone, { credential_id: 999_999 })
  t.match(missing, { status: 404, body: { description: 'Not Found' } })
})

t.test('a credential that is deleted meanwhile is not linked again', async (t) => {
  const late = await account('late_bot')
  const again = { credential_id: late.credentialId }
  const { session_id } = (await start(late, late.bot.phone, again)).body.result
  await late.client.result('DELETE', late.path)
  const why = 'the credential to be linked again was deleted; start again'
  t.match(await verify(late, session_id, late.bot.id), refused(400, `Bad Request: ${why}`))
  const look = await late.client.result('GET', `/platforms/sandbox/link/${session_id}`)
  t.match(look, { state: 'failed', reason: 'credential_deleted', credential: null })
})

t.test('flows that link one account at the same time all link it', async (t) => {
  const client = await service.client()
  const person = await client.person('Hasty')
  const flows: { session_id: string; otp: string }[] = []
  for (let flow = 0; flow < 4; flow++) {
    const fields = { phone: person.phone }
    const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', fields)
    const { codes } = await client.result('GET', `/sandbox/people/${person.id}/inbox`)
    const sent: string[] = codes.map(({ code }: { code: string }) => code)
    const otp = sent.find((code) => !flows.some((before) => before.otp === code)) ?? sent[0]!
    flows.push({ session_id, otp })
  }
  const verifying = flows.map((body) => client.ask('POST', '/platforms/sandbox/link/verify', body))
  const answers = await Promise.all(verifying)
  t.same(
    answers.map(({ status, body }) => [status, body.result?.state]),
    flows.map(() => [200, 'linked']),
  )
  const linked = answers.map(({ body }) => body.result.credential.credential_id)
  t.equal(new Set(linked).size, 1)
  await client.state(linked[0], 'active')
})

t.test('two users can link one account, each as a credential of their own', async (t) => {
  const shared = await account('shared_bot')
  owner = (await shared.client.result('GET', '/user')).user_id
  const other = await service.client()
  const begun = { phone: shared.bot.phone }
  const { session_id } = await other.result('POST', '/platforms/shared/link/start', begun)
  const otp = await shared.client.code(shared.bot.id)
  const verified = { session_id, otp }
  const linked = await other.result('POST', '/platforms/shared/link/verify', verified)
  const { credential_id: id } = linked.credential
  t.not(id, shared.credentialId)
  await other.state(id, 'active')
  await shared.state('active')
})

t.test("another user's session is not there", async (t) => {
  const { client, bot } = await account('secret_bot')
  const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', {
    phone: bot.phone,
  })
  const stranger = await service.client()
  const path = `/platforms/sandbox/link/${session_id}`
  const otp = await client.code(bot.id)
  const gone = refused(404, 'Not Found')
  t.match(await stranger.ask('GET', path), gone)
  t.match(await stranger.ask('DELETE', path), gone)
  t.match(await stranger.ask('POST', `${path}/resend`), gone)
  const theirs = await stranger.ask('POST', '/platforms/sandbox/link/verify', { session_id, otp })
  t.match(theirs, gone)
  t.match(await client.ask('GET', `/platforms/xmpp/link/${session_id}`), gone, 'nor elsewhere')
  t.match(await client.ask('GET', '/platforms/sandbox/link/unheard-of'), gone)
  t.match(await client.result('GET', path), { state: 'code_sent', attempts_left: 5 })
})

t.test('bad input is refused and names the field', async (t) => {
  const { client } = await account('input_bot')
  const cases = [
    ['sandbox', {}, 400, 'Bad Request: field "phone" is required'],
    ['sandbox', { phone: 1 }, 400, 'Bad Request: field "phone" must be a string'],
    ['sandbox', { phone: '+1', method: 'qr' }, 400, /^Bad Request: field "method" /],
    ['sandbox', { phone: 'x' }, 400, /^Bad Request: /],
    ['sandbox', { phone: '+16505670001', fone: 'x' }, 400, 'Bad Request: field "fone" is unknown'],
    ['telegram', { fone: '+16505670001' }, 400, 'Bad Request: field "fone" is unknown'],
    ['sandbox', { phone: '+16505670001', credential_id: 'x' }, 400, /field "credential_id"/],
    ['xmpp', { phone: '+16505670001' }, 400, /^Bad Request: field "\w+" is required$/],
    ['carrier-pigeon', { phone: '+16505670001' }, 404, 'Not Found'],
    ['sandbox', [], 400, /^Bad Request: /],
    ['sandbox', undefined, 400, /^Bad Request: /],
  ] as const
  for (const [platform, body, status, description] of cases) {
    const answer = await client.ask('POST', `/platforms/${platform}/link/start`, body)
    t.match(answer, { status, body: { ok: false, error_code: status, description } })
  }
  const verify = (body: object) => client.ask('POST', '/platforms/sandbox/link/verify', body)
  const { errors } = (await verify({ otp: 12, extra: true })).body
  t.same(errors.map(({ field }: { field: string }) => field).sort(), ['extra', 'otp', 'session_id'])
  t.match(await verify({ session_id: 'unheard-of', otp: '1' }), { status: 404 })
  const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', {
    phone: (await client.person('Ivy')).phone,
  })
  t.match(await verify({ session_id }), {
    status: 400,
    body: { description: 'Bad Request: field "otp" is required' },
  })
})

t.test('what the network refuses at once is a refusal of the start', async (t) => {
  const banned = await account('banned_bot')
  await banned.fault('ban')
  await banned.state('invalid')
  t.match(await start(banned, banned.bot.phone), {
    status: 400,
    body: { description: 'Bad Request: the account is banned' },
  })
  t.match(await start(banned, '+16505670000'), {
    status: 400,
    body: { description: 'Bad Request: the phone number is not registered in the sandbox' },
  })
})
