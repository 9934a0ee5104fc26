/** Bots and XMPP accounts linked again by their owners: the pages know the account, and ask for its token or password. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { me, refusal, startStub, token } from '../platforms/upstream-bot/stub.ts'
import { refused } from '../service/scene.ts'
import { canariesIn } from '../support/canaries.ts'
import { ask, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { startXmppStub } from '../support/xmpp-stub.ts'

const PATH = '/platforms/credentials/actions'
const PANEL_URL = 'https://panel.chapar.test'
const JID = 'ada@example.org'
const PASSWORD = 'canary-of-a-password'
const stub = await startStub(t)
const xmpp = await startXmppStub(JID, { answer: () => undefined })
t.teardown(() => xmpp.stop())
const service = await startService(t, {
  // A probe of the linked bot would take the answer that is meant for its page.
  env: { PANEL_URL, TELEGRAM_BOT_API_URL: stub.url, PROBE_INTERVAL_MS: '600000' },
})
const client = await service.client()
const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => db.close())

const open = (method: string, path: string, body?: unknown) => ask(service.url, method, path, body)

/** The page that an action makes for an account, and how the action sees it. */
async function pageFor(credentialId: number) {
  const body = { kind: 'relink', credential_ids: [credentialId] }
  const { action_id } = await client.result('POST', PATH, body)
  const action = await until(async () => {
    const seen = await client.result('GET', `${PATH}/${action_id}`)
    return seen.state === 'finished' && seen
  })
  t.match(action, { total: 1, done: 1, failed: 0 })
  const made = async () => (await client.result('GET', `${PATH}/${action_id}/pages`)).items[0]
  const { url } = await made()
  return { made, page: `/link-pages/${url.slice(`${PANEL_URL}/link/`.length)}` }
}

t.test('a bot: its name is shown, and its token links it again', async (t) => {
  const credentialId = await linkBot(client, { token })
  const { page, made } = await pageFor(credentialId)
  const ready = (await open('GET', page)).body.result
  t.match(ready, {
    platform: 'telegram-bot',
    state: 'ready',
    method: 'token',
    username: 'a_bot',
    fields: [
      { name: 'token', required: true, secret: true },
      { name: 'delete_webhook', required: false, secret: false },
    ],
  })
  t.notOk('phone' in ready)

  t.match((await open('POST', `${page}/start`)).body, {
    error_code: 400,
    errors: [{ field: 'token', code: 'required' }],
  })
  const strange = { token, method: 'x' }
  t.match((await open('POST', `${page}/start`, { fields: strange })).body, {
    error_code: 400,
    errors: [{ field: 'method', reason: 'is unknown' }],
  })
  t.match(await open('POST', `${page}/start`, { fields: { token: 7 } }), { status: 400 })
  t.match(await open('POST', `${page}/start`, { more: 1 }), { status: 400 })

  stub.next('getMe', refusal(401, 'Unauthorized'))
  const wrong = await open('POST', `${page}/start`, { fields: { token } })
  t.match(wrong, { status: 400, body: { code: 'token_refused' } })
  t.match(await made(), { state: 'ready' }, 'it stays, for another try at once')
  stub.next('getMe', (response) => {
    const other = { ...me, id: 777, username: 'another_bot' }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ok: true, result: other }))
  })
  const another = await open('POST', `${page}/start`, { fields: { token } })
  t.match(
    another,
    refused(400, 'Bad Request: this is another account than the one to be linked again'),
  )
  t.equal((await client.result('GET', '/platforms/credentials')).items.length, 1)

  const linked = await open('POST', `${page}/start`, { fields: { token } })
  t.match(linked.body.result, { state: 'linked' })
  t.notOk('credential' in linked.body.result)
  t.match(await made(), { state: 'linked', url: null })
  await client.state(credentialId, 'active')
})

t.test('an XMPP account: its address is filled in, and nobody changes it', async (t) => {
  const fields = { jid: JID, password: PASSWORD, server: xmpp.server }
  const { credential } = await client.result('POST', '/platforms/xmpp/link/start', fields)
  const { page, made } = await pageFor(credential.credential_id)
  const ready = (await open('GET', page)).body.result
  t.match(ready, { state: 'ready', method: 'password', jid: 'a***@example.org' })
  t.same(
    ready.fields.map(({ name }: { name: string }) => name),
    ['password', 'server'],
  )
  t.notMatch(JSON.stringify(ready), JID)
  const given = { password: PASSWORD, server: xmpp.server }
  const changed = { ...given, jid: 'eve@example.org' }
  t.match((await open('POST', `${page}/start`, { fields: changed })).body, {
    error_code: 400,
    errors: [{ field: 'jid', reason: 'is unknown' }],
  })
  t.match((await open('POST', `${page}/start`, { fields: given })).body.result, {
    state: 'linked',
  })
  t.match(await made(), { state: 'linked' })
  t.same(await canariesIn(service.databaseUrl, [PASSWORD]), [])
})

t.test('two readers with a secret begin one flow', async (t) => {
  const [bot] = (await client.result('GET', '/platforms/credentials?platform=telegram-bot')).items
  const { page } = await pageFor(bot.credential_id)
  await db.query('update relink_page set begun_at = now()')
  t.match(await open('POST', `${page}/start`, { fields: { token } }), { status: 429 })
})
