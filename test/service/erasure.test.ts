/** DELETE /user leaves nothing of a user behind, and GET /user/export shows all of it before. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { personalTables } from '../../src/privacy/tables.ts'
import { canariesIn } from '../support/canaries.ts'
import { ask, type Client, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { linkedAccount } from './scene.ts'

const service = await startService(t)
const phone = '+14155550190'

/** Words that only this user has brought in. */
const words = {
  name: 'Kanarienhahn',
  friend: 'Stieglitzin',
  text: 'tirilierende Nachricht',
  key: 'Singvogelschluessel',
  token: 'Zwitschertoken',
  group: 'Volierengruppe',
  command: 'pfeifkommando',
  agent: 'Vogelbauer/1.0',
  hook: 'zwitscherhaken',
  file: 'Gefiederte Datei',
}
const canaries = [phone, phone.slice(1), ...Object.values(words)]

const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => db.close())

/** A user with something in as many tables as one can fill in a few calls. */
async function fullLife(t: { teardown(work: () => Promise<void> | void): void }) {
  const client = await service.client(phone)
  const bot = await client.person(words.name, 'kanarienhahn_bot')
  const ada = await client.person(words.friend, 'stieglitz_ada')
  const credentialId = await client.link(bot)
  const { key, api_key_id } = await client.key(credentialId)
  await client.result('PATCH', `/api_keys/${api_key_id}`, { name: words.key })
  await client.result('POST', '/user/tokens', { name: words.token })
  await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: words.group,
    owner: ada.id,
    members: [bot.id],
  })
  await client.write(ada.id, '@kanarienhahn_bot', words.text)
  let offset = 0
  const update = await until(async () => {
    const { result } = (await client.bot(key, 'getUpdates', { timeout: 1, offset, limit: 1 })).body
    offset = result[0]?.update_id + 1 || offset
    return result.find((one: { message?: { text?: string } }) => one.message?.text)
  })
  const chat_id = update.message.chat.id
  await client.bot(key, 'sendMessage', { chat_id, text: words.text })
  // Of failed calls, parameters and answers are kept.
  const refused = await client.bot(key, 'sendMessage', { chat_id: 1, text: words.text })
  if (refused.status !== 400) throw new Error(`a call to nobody: ${refused.status}`)
  await client.bot(key, 'sendPoll', { chat_id, question: words.text, options: ['a', 'b'] })
  await client.bot(key, 'setMyCommands', {
    commands: [{ command: words.command, description: 'x' }],
  })
  const form = new FormData()
  form.set('chat_id', `${chat_id}`)
  form.set('caption', words.text)
  form.set('document', new Blob([words.file.repeat(100)]), `${words.file}.txt`)
  const sent = await fetch(`${service.url}/bot${key}/sendDocument`, { method: 'POST', body: form })
  const { file_id } = ((await sent.json()) as ReturnType<typeof JSON.parse>).result.document
  await client.bot(key, 'getFile', { file_id })
  await client.result('POST', `/api_keys/${api_key_id}/diagnosis`, { all: true })
  const receiver = await Receiver.open(t)
  const url = `${new URL(receiver.url).origin}/${words.hook}`
  await client.bot(key, 'setWebhook', { url })
  await client.result('POST', `/api_keys/${api_key_id}/webhook/secret`)
  await client.write(ada.id, '@kanarienhahn_bot', words.text)
  await receiver.count(1)
  await fetch(`${service.url}/user`, {
    headers: { authorization: `Bearer ${client.token}`, 'user-agent': words.agent },
  })
  await client.result('POST', '/platforms/sandbox/link/start', { phone: ada.phone })
  await until(async () => {
    const { items } = await client.result('GET', '/user/logs/webhook-deliveries')
    return items.length > 0
  })
  await until(async () => {
    const calls = await db.query('select from call_exchange where api_key_id = $1', [api_key_id])
    return calls.length > 0
  })
  return { client, key, credentialId, ada, bot }
}

const exported = (client: Client) => client.ask('GET', '/user/export')

/** Every stored file of the service. */
const files = async () => {
  const entries = await readdir(join(service.dataDir, 'media'), {
    recursive: true,
    withFileTypes: true,
  })
  return entries.filter((entry) => entry.isFile() && entry.parentPath.includes('objects')).length
}

const rowsOf = async (userId: number, credentialId: number) => {
  const left: string[] = []
  for (const { name, of, where } of personalTables) {
    const rows = await db.query(`select 1 from ${name} where ${where} limit 1`, [
      of === 'user' ? userId : credentialId,
    ])
    if (rows.length > 0) left.push(name)
  }
  return left
}

t.test('a user exports everything, erases everything, and begins anew', async (t) => {
  const stranger = await linkedAccount(service, 'stays')
  await stranger.client.write(stranger.ada.id, '@stays', 'remains')
  const strangersFiles = await files()
  const { client, key, credentialId } = await fullLife(t)
  const { user_id } = await client.result('GET', '/user')
  const other = await ask(service.url, 'GET', '/user', undefined, {
    authorization: `Bearer ${client.token}`,
  })
  t.equal(other.status, 200)

  const { status, headers, body } = await exported(client)
  t.equal(status, 200)
  t.match(headers.get('content-disposition'), /^attachment; filename="chapar-export.json"$/)
  t.equal(body.ok, true)
  const { result } = body
  t.equal(result.phone, phone)
  t.match(result.accounts, [{ credential_id: credentialId, firstName: words.name }])
  const text = JSON.stringify(result)
  for (const word of Object.values(words)) {
    // What is in a file is not contained, and its name stands in the message about it.
    t.ok(text.includes(word), `${word} is exported`)
  }
  const tables = await rowsOf(user_id, credentialId)
  t.ok(tables.length > 25, `rows in ${tables.length} tables`)
  t.ok(tables.includes('call_exchange'), 'what is kept of a call is among them')
  t.match(result.call_exchange, [{ request_id: String }], 'and exported')
  t.same(
    tables.filter((name) => !Object.hasOwn(result, name)),
    [],
    'every table with rows of the user is in it',
  )
  for (const secret of [key.split(':')[1]!, client.token, client.refreshToken]) {
    t.notOk(text.includes(secret))
  }
  t.notMatch(text, /"(secrets|sealed|hash|secret_hash|account_sealed|password_hash)":/)
  t.notMatch(text, /stays_friend|remains/, 'and nothing of others')
  t.ok((await files()) > strangersFiles)

  const gone = await client.ask('DELETE', '/user')
  t.match(gone, { status: 200, body: { ok: true, result: { erased: true } } })
  t.match(await client.ask('GET', '/user'), { status: 401 })
  t.match(await client.bot(key, 'getMe'), { status: 401 })
  const refreshed = await ask(service.url, 'POST', '/auth/refresh', {
    refresh_token: client.refreshToken,
  })
  t.equal(refreshed.status, 401)

  // What is written a moment late has been written by then.
  await service.restart()
  t.same(await canariesIn(service.databaseUrl, canaries), [])
  t.same(await rowsOf(user_id, credentialId), [])
  t.same(
    await db.query('select owner from data_key where owner = any ($1)', [
      [`user:${user_id}`, `credential:${credentialId}`],
    ]),
    [],
  )
  t.equal(await files(), strangersFiles)

  t.equal((await stranger.client.state(stranger.credentialId, 'active')).state, 'active')
  await stranger.client.write(stranger.ada.id, '@stays', 'goes on')
  const { body: updates } = await stranger.client.bot(stranger.key, 'getUpdates', { timeout: 10 })
  t.ok(updates.result.length > 0)

  const again = await service.client(phone)
  const { user_id: newId } = await again.result('GET', '/user')
  t.not(newId, user_id)
  t.same((await again.result('GET', '/platforms/credentials')).items, [])
  t.same((await again.result('GET', '/sandbox/people')).items, [])
})

t.test('both need the access token of a sign-in', async (t) => {
  const client = await service.client()
  const { token } = await client.result('POST', '/user/tokens', { name: 'script' })
  for (const [method, path] of [
    ['GET', '/user/export'],
    ['DELETE', '/user'],
  ] as const) {
    for (const authorization of [`apikey ${token}`, 'Bearer x', '']) {
      const answer = await ask(service.url, method, path, undefined, { authorization })
      t.equal(answer.status, 401, `${method} ${path} ${authorization.slice(0, 6)}`)
    }
  }
  t.match(await client.ask('GET', '/user'), { status: 200 })
  t.match(await client.ask('DELETE', '/user?sure=1'), { status: 200 }, 'an unknown parameter')
})

t.test('a user with nothing but a sign-in is erased, too', async (t) => {
  const client = await service.client('+14155550191')
  t.match(await exported(client), { status: 200, body: { result: { phone: /^\+14155550191$/ } } })
  t.match(await client.ask('DELETE', '/user'), { body: { result: { erased: true } } })
  t.same(await canariesIn(service.databaseUrl, ['14155550191']), [])
})

t.test('the updates of a deleted account go with it', async (t) => {
  const { client, ada, credentialId } = await linkedAccount(service, 'endet')
  await client.write(ada.id, '@endet', 'Abschiedsgruss')
  await until(async () => {
    const rows = await db.query('select from update_log where credential_id = $1', [credentialId])
    return rows.length > 0
  })
  await client.result('DELETE', `/platforms/credentials/${credentialId}`)
  for (const { name, endsWithAccount, where } of personalTables) {
    if (!endsWithAccount) continue
    t.same(await db.query(`select from ${name} where ${where}`, [credentialId]), [], name)
  }
  const [row] = await db.query(
    'select account, account_sealed, secrets from credential where id = $1',
    [credentialId],
  )
  t.same(row, { account: null, account_sealed: null, secrets: null })
})

t.test('a code of the sandbox is gone with its use', async (t) => {
  const { bot } = await linkedAccount(service, 'codelos')
  t.same(await db.query('select code from sandbox_challenge where person_id = $1', [bot.id]), [
    { code: '' },
  ])
})
