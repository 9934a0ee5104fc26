/** Many accounts linked again by their owners: a page for each, which begins its flow when its reader asks for the code. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { refused } from '../service/scene.ts'
import { ask, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

const PATH = '/platforms/credentials/actions'
const PANEL_URL = 'https://panel.chapar.test'
const service = await startService(t, { env: { PANEL_URL } })
const client = await service.client()
const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => db.close())

async function signedOut(name: string) {
  const person = await client.person(name, `${name.toLowerCase()}_again`)
  const credentialId = await client.link(person)
  await client.result('PUT', `/sandbox/people/${person.id}/faults/revoke`, {})
  await client.state(credentialId, 'logged_out')
  return { person, credentialId }
}

async function relinked(credential_ids: readonly number[]) {
  const { action_id } = await client.result('POST', PATH, { kind: 'relink', credential_ids })
  const action = await until(async () => {
    const seen = await client.result('GET', `${PATH}/${action_id}`)
    return seen.state === 'finished' && seen
  })
  return { action, pages: `${PATH}/${action_id}/pages` }
}

const at = (url: string) => `/link-pages/${url.slice(`${PANEL_URL}/link/`.length)}`
const open = (method: string, path: string, body?: unknown) => ask(service.url, method, path, body)
const flows = async () =>
  (await db.query<{ count: number }>('select count(*)::int as count from link_session'))[0]?.count

t.test('a page begins nothing by being opened, and links the account again', async (t) => {
  const { person, credentialId } = await signedOut('Ada')
  const before = await flows()
  const { action, pages } = await relinked([credentialId])
  t.match(action, { kind: 'relink', total: 1, done: 1, failed: 0 })
  const { items } = await client.result('GET', pages)
  t.match(items, [
    {
      credential_id: credentialId,
      state: 'ready',
      account: { first_name: 'Ada' },
      url: /chp_lnk_/,
    },
  ])
  const hours = (Date.parse(items[0].expires_at) - Date.now()) / 3_600_000
  t.ok(hours > 71.9 && hours <= 72, `${hours} hours`)

  const page = at(items[0].url)
  const phone = new RegExp(`^\\+\\*+${person.phone.slice(-4)}$`)
  const seen = await open('GET', page)
  t.match(seen.body.result, { platform: 'sandbox', state: 'ready', method: 'phone', phone })
  t.match(seen.body.result, { asked_by: /^\+\*+\d{4}$/, step: null, code_expires_in: null })
  t.notOk('credential' in seen.body.result)
  t.equal(await flows(), before, 'no code was sent to anybody')
  t.match(
    await open('POST', `${page}/answer`, { otp: '1' }),
    refused(409, 'Conflict: the link flow is over'),
  )

  t.match((await open('POST', `${page}/start`)).body.result, { state: 'code_sent' })
  t.match((await open('POST', `${page}/start`)).body.result, { state: 'code_sent' })
  t.equal(await flows(), (before ?? 0) + 1, 'a flow that is under way stays')
  t.match(await client.result('GET', pages), { items: [{ state: 'begun', url: items[0].url }] })
  const otp = await client.code(person.id)
  t.match((await open('POST', `${page}/answer`, { otp })).body.result, { state: 'linked' })
  await client.state(credentialId, 'active')
  t.match(await client.result('GET', pages), { items: [{ state: 'linked', url: null }] })
  t.match((await open('POST', `${page}/start`)).body.result, { state: 'linked' }, 'only once')
})

t.test('a flow that ended without success is begun again, a moment later', async (t) => {
  const { credentialId } = await signedOut('Bob')
  const { pages } = await relinked([credentialId])
  const { items } = await client.result('GET', pages)
  const page = at(items[0].url)
  await open('POST', `${page}/start`)
  for (let tries = 0; tries < 5; tries++) await open('POST', `${page}/answer`, { otp: '0' })
  t.match((await open('GET', page)).body.result, { state: 'ready', reason: 'too_many_attempts' })
  t.match(await open('POST', `${page}/start`), { status: 429 })
  await db.query(`update relink_page set begun_at = now() - interval '1 minute'`)
  const before = (await flows()) ?? 0
  const both = await Promise.all([1, 2].map(() => open('POST', `${page}/start`)))
  t.equal(await flows(), before + 1, 'two readers begin one flow')
  // A reader who comes after it has begun sees it.
  const answers = both.map(({ status }) => status).sort()
  t.equal(answers[0], 200)
  t.ok(answers[1] === 429 || answers[1] === 200, `${answers[1]}`)
})

t.test('the pages are a table to be sent, of their user alone', async (t) => {
  const [cyd, dana] = [await signedOut('Cyd'), await signedOut('Dana')]
  await db.query(`update credential set platform = 'xmpp' where id = $1`, [dana.credentialId])
  const { action, pages } = await relinked([cyd.credentialId, dana.credentialId])
  t.match(action, { done: 1, failed: 1 })
  const failed = await client.result('GET', `${PATH}/${action.action_id}/items?state=failed`)
  t.match(failed.items, [{ credential_id: dana.credentialId, code: 'unknown_identifier' }])

  // As versions before the migration stored it.
  await db.query(`update bulk_item set code = 'no_phone' where code = 'unknown_identifier'`)
  await db.query(`delete from migration where name = '0150-identifier-reason'`)
  t.same(await migrate(service.databaseUrl), ['0150-identifier-reason'])
  t.same(
    await client.result('GET', `${PATH}/${action.action_id}/items?state=failed`),
    failed,
    'the old name is stored no more',
  )
  const exported = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${service.url}${pages}/export`, { headers })
    return { status: answer.status, text: await answer.text() }
  }
  const { text } = await exported(client.token)
  const [head, line, rest] = text.split('\r\n')
  t.equal(head, 'credential_id,platform,first_name,last_name,username,phone,state,url,expires_at')
  const start = `${cyd.credentialId},sandbox,Cyd,,cyd_again,${cyd.person.phone},ready,${PANEL_URL}/link/chp_lnk_`
  t.equal(line?.slice(0, start.length), start)
  t.equal(rest, '')
  const stranger = await service.client()
  t.match(await stranger.ask('GET', pages), { status: 404 })
  t.match(await exported(stranger.token), { status: 404 })
  t.match(await exported('x'), { status: 401 })
  t.match(await client.ask('GET', `${pages}?limit=0`), { status: 400 })

  const { items } = await client.result('GET', pages)
  const page = at(items[0].url)
  await db.query('update relink_page set expires_at = now()')
  t.match(await open('GET', page), refused(404, 'Not Found'))
  t.match(await open('POST', `${page}/start`), refused(404, 'Not Found'))
  t.match(await client.result('GET', pages), { items: [{ state: 'expired', url: null }] })
})

t.test('a deleted account has no page, and a token is stored nowhere', async (t) => {
  const { credentialId } = await signedOut('Eli')
  const { pages } = await relinked([credentialId])
  const { items } = await client.result('GET', pages)
  const token = items[0].url.split('/').at(-1)
  const rows = await db.query<{ text: string }>(
    `select encode(hash, 'escape') || encode(sealed, 'escape') as text from relink_page`,
  )
  t.ok(rows.length > 0 && rows.every(({ text }) => !text.includes(token)))
  await client.result('DELETE', `/platforms/credentials/${credentialId}`)
  t.match(await open('GET', at(items[0].url)), refused(404, 'Not Found'))
})
