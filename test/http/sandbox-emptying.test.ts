/** DELETE /sandbox/network: a user begins anew with the own sandbox, and with nobody else's. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { personalTables } from '../../src/privacy/tables.ts'
import { linkedAccount } from '../service/scene.ts'
import { ask, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

const service = await startService(t, { env: { SANDBOX_PEOPLE: '3', SANDBOX_MESSAGES: '4' } })
const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => db.close())

const rowsOf = async (userId: number) => {
  const left: string[] = []
  for (const { name, where } of personalTables) {
    if (!name.startsWith('sandbox_')) continue
    if ((await db.query(`select from ${name} where ${where}`, [userId])).length > 0) left.push(name)
  }
  return left
}

t.test('a full one is empty, and takes people and messages again', async (t) => {
  const { client, ada, bot, key, credentialId } = await linkedAccount(service, 'full')
  const stranger = await linkedAccount(service, 'untouched')
  const { user_id } = await client.result('GET', '/user')
  const form = new FormData()
  form.set('chat_id', `${ada.id}`)
  form.set('document', new Blob(['x'.repeat(100)]), 'x.txt')
  await client.write(ada.id, '@full', 'first')
  const sent = await fetch(`${service.url}/bot${key}/sendDocument`, { method: 'POST', body: form })
  t.equal(sent.status, 200)
  const write = () =>
    client.ask('POST', `/sandbox/people/${ada.id}/messages`, { to: '@full', text: 'x' })
  await until(async () => (await write()).status === 400)
  await client.person('Third')
  const fourth = await client.ask('POST', '/sandbox/people', { first_name: 'Fourth' })
  t.equal(fourth.body.description, 'Bad Request: the sandbox has room for 3 people of each user')

  const emptied = await client.ask('DELETE', '/sandbox/network')
  t.match(emptied, { status: 200, body: { ok: true, result: { emptied: true } } })
  t.same(await rowsOf(user_id), [])
  t.same(
    await db.query(
      `select holder from media_hold join media_blob using (blob)
        where user_id = $1 and holder like 'sandbox:%'`,
      [user_id],
    ),
    [],
  )
  t.same((await client.result('GET', '/sandbox/people')).items, [])
  for (const person of [ada.id, bot.id]) {
    t.equal((await client.ask('GET', `/sandbox/people/${person}/inbox`)).status, 404)
    t.match(
      await client.ask('POST', `/sandbox/people/${person}/messages`, { to: '@full', text: 'x' }),
      { status: 404 },
    )
  }
  t.match(await client.state(credentialId, 'logged_out'), { reason: 'session_revoked' })
  t.equal((await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'x' })).status, 403)

  const person = await client.person('New', 'full')
  const other = await client.person('Other')
  const again = await client.link(person)
  t.not(again, credentialId)
  await client.write(other.id, '@full', 'hello')
  await client.result('DELETE', `/platforms/credentials/${credentialId}`)

  t.equal((await stranger.client.state(stranger.credentialId, 'active')).state, 'active')
  await stranger.client.write(stranger.ada.id, '@untouched', 'goes on')
})

t.test('while somebody writes it gets empty all the same, or says that it is not', async (t) => {
  const client = await service.client()
  const { user_id } = await client.result('GET', '/user')
  let isOver = false
  const statuses = new Set<number>()
  const busy = (async () => {
    while (!isOver) {
      const made = await client.ask('POST', '/sandbox/people', { first_name: 'X' })
      statuses.add(made.status)
      const id = made.body.result?.id
      if (!id) continue
      const chat = { kind: 'group', title: 'x', owner: id }
      statuses.add((await client.ask('POST', '/sandbox/chats', chat)).status)
    }
  })()
  for (let n = 0; n < 10; n++) {
    const { status } = await client.ask('DELETE', '/sandbox/network')
    t.equal(status, 200)
  }
  isOver = true
  await busy
  t.same(
    [...statuses].filter((status) => status >= 500),
    [],
  )
  t.match(await client.ask('DELETE', '/sandbox/network'), { body: { result: { emptied: true } } })
  t.same(await rowsOf(user_id), [])
})

t.test('nobody else may', async (t) => {
  for (const authorization of ['', 'Bearer x', 'apikey x']) {
    const answer = await ask(service.url, 'DELETE', '/sandbox/network', undefined, {
      authorization,
    })
    t.match(answer, { status: 401, body: { ok: false, error_code: 401 } })
  }
})
