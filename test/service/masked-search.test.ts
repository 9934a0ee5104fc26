/** What the staff may search for, and sort by, on behalf of a user while phones and addresses are masked. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import type { Answer, Client } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

const phones = { support: '+14155557012', user: '+14155557013' }
const service = await startService(t, { env: { SUPPORT_PHONES: phones.support } })
const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => db.close())
const user = await service.client(phones.user)
const support = await service.client(phones.support)
const { user_id: userId } = await user.result('GET', '/user')
const bot = await user.person('Bot', 'masked_bot')
const account = await user.link(bot)
await user.key(account)

/** Asks on behalf of the user. */
async function behalf({ token }: Client, path: string) {
  const headers = { authorization: `Bearer ${token}`, 'on-behalf-of': `${userId}` }
  const answer = await fetch(`${service.url}${path}`, { headers })
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

t.test('no search tells a masked phone digit by digit', async (t) => {
  const part = bot.phone.slice(1, 5)
  for (const sought of [part, encodeURIComponent(bot.phone), '۴', encodeURIComponent('＋')]) {
    for (const path of ['/platforms/credentials', '/platforms/credentials/groups']) {
      const { status, body } = await behalf(support, `${path}?search=${sought}`)
      t.match({ status, body }, { status: 403, body: { code: 'texts_masked' } }, sought)
    }
  }
  const { body } = await behalf(support, '/platforms/credentials?search=bot')
  t.equal(body.result.items.length, 1, 'a name is shown anyway')
  t.equal((await user.result('GET', `/platforms/credentials?search=${part}`)).items.length, 1)
})

t.test('no search or order tells a masked address', async (t) => {
  for (const order of ['asc', 'desc']) {
    const { status, body } = await behalf(
      support,
      `/platforms/credentials?sort=name&order=${order}`,
    )
    t.match({ status, body }, { status: 403, body: { code: 'texts_masked' } })
  }
  t.equal((await behalf(support, '/platforms/credentials?sort=state')).status, 200)
  const named = (first: string) =>
    db.query(
      `update credential set account = $2, identity_at = pg_current_xact_id() where id = $1`,
      [account, JSON.stringify({ native: 'x', firstName: first, username: 'ada.l@example.org' })],
    )
  const counts = async (client: Client, search: string) => {
    const sought = `?search=${encodeURIComponent(search)}`
    const own = client === user
    const ask = async (path: string) =>
      own ? client.result('GET', path) : (await behalf(client, path)).body.result
    return [
      (await ask(`/platforms/credentials${sought}`)).items.length,
      (await ask(`/platforms/credentials/groups${sought}`)).matching,
      (await ask(`/api_keys${sought}`)).items.length,
    ]
  }
  await named('Ada.L')
  // The hint of a key is searched, too: it is random, and has three dots.
  for (const part of ['@ad', '@ada.l', 'ada', 'ada.', 'da.l', 'a.l']) {
    t.same(await counts(support, part), [0, 0, 0], part)
    t.same(await counts(user, part), [1, 1, 1], part)
  }
  for (const shown of ['@a', 'example.org']) t.same(await counts(support, shown), [1, 1, 1], shown)
  await named('Grace, ada.l@example.org')
  t.same(await counts(support, 'ada'), [0, 0, 0], 'nor where a name has it')
  t.same(await counts(support, 'grace'), [1, 1, 1])
})
