/** The list of keys, searched and filtered: what a page counts is what the single records say. */
import t from 'tap'
import { judge } from '../../src/alerts/rules.ts'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

const service = await startService(t, { env: { WEBHOOK_ALLOW_PRIVATE: 'true' } })
const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => database.close())
const [client, stranger] = [await service.client(), await service.client()]
const zoe = await client.person('Zoë', 'zoe_listed')
const bob = await client.person('Bob', 'bob_listed')
const ofZoe = await client.link(zoe)
const ofBob = await client.link(bob)
const make = async (name: string, credential_id = ofZoe) =>
  client.result('POST', '/api_keys', { name, credential_id, scopes: ['bot:send', 'bot:receive'] })
const shop = await make('Café ۲۷۱۸۲۸۱۸')
const desk = await make('help desk', ofBob)
const old = await make('an old one')
const many = await make('behind', ofBob)
await client.result('DELETE', `/api_keys/${old.api_key_id}`)

const list = (query: string) => client.result('GET', `/api_keys?${query}`)
const found = async (query: string) => {
  const { items } = await list(query)
  return items.map(({ api_key_id }: { api_key_id: number }) => api_key_id)
}

t.test('keys are found by their names, hints and accounts', async (t) => {
  t.same(await found('search=cafe'), [shop.api_key_id], 'without its accent')
  t.same(await found('search=27182818'), [shop.api_key_id], 'in other digits')
  t.same(await found('search=DESK'), [desk.api_key_id])
  t.same(await found(`search=${encodeURIComponent(desk.key_hint)}`), [desk.api_key_id])
  t.same(await found('search=zoe'), [old.api_key_id, shop.api_key_id], 'by the account')
  t.same(await found('search=zoe&revoked=false'), [shop.api_key_id])
  t.same(await found('revoked=true'), [old.api_key_id])
  t.same(await found(`credential_id=${ofBob}`), [many.api_key_id, desk.api_key_id])
  t.same(await found('search=100%25'), [], 'a sign of patterns is a sign')
  const first = await list('search=listed&limit=1')
  t.same(await found(`search=listed&limit=1&before=${first.next_before}`), [old.api_key_id])
})

t.test('a record names the account; nobody finds those of others', async (t) => {
  const [record] = (await list('search=cafe')).items
  t.same(record.account, { first_name: 'Zoë', username: 'zoe_listed' })
  t.same(record, await client.result('GET', `/api_keys/${shop.api_key_id}`))
  for (const query of ['', 'search=zoe', `credential_id=${ofZoe}`, 'trouble=webhook']) {
    t.same((await stranger.result('GET', `/api_keys?${query}`)).items, [], query)
  }
})

t.test('what waits for the keys of a page is counted together, as for each alone', async (t) => {
  await client.bot(desk.key, 'getUpdates', { allowed_updates: ['callback_query'] })
  for (const text of ['one', 'two', 'three']) await client.write(zoe.id, '@bob_listed', text)
  await client.bot(many.key, 'getUpdates', { limit: 1 })
  // Messages arrive, and the use of a key is stored, a moment later.
  await until(async () => {
    const records = await Promise.all(
      [many, desk].map(({ api_key_id }) => client.result('GET', `/api_keys/${api_key_id}`)),
    )
    const isUsed = records.every(({ last_used_at }) => last_used_at !== null)
    return isUsed && records[0].pending_update_count === 3
  })
  const { items } = await list('limit=10')
  const counts = new Map<number, number>()
  for (const key of items) {
    counts.set(key.api_key_id, key.pending_update_count)
    t.same(key, await client.result('GET', `/api_keys/${key.api_key_id}`), key.name)
  }
  t.match(
    [many, desk, old].map(({ api_key_id }) => counts.get(api_key_id)),
    [3, 0, 0],
  )
})

t.test('keys with trouble are found: a failing webhook, a bot far behind', async (t) => {
  t.same(await found('trouble=webhook'), [])
  t.same(await found('trouble=backlog'), [], 'nothing waits for a quarter of an hour')
  await database.query(
    `update update_log set at = now() - interval '16 minutes' where credential_id = $1`,
    [ofBob],
  )
  t.same(await found('trouble=backlog'), [many.api_key_id], 'not of kinds that a key does not want')
  await client.bot(shop.key, 'setWebhook', { url: 'http://127.0.0.1:9/hook' })
  await database.query('update webhook set failing_since = now() where api_key_id = $1', [
    shop.api_key_id,
  ])
  t.same(await found('trouble=webhook'), [shop.api_key_id])
  t.same(await found('trouble=webhook&search=desk'), [])
  const path = `/api_keys/${shop.api_key_id}`
  const sending = await client.result('PATCH', path, { scopes: ['bot:send'] })
  t.match(sending.webhook, { state: 'stopped', failing_since: undefined })
  t.same(await found('trouble=webhook'), [], 'nothing is tried for one that may not receive')
  await client.result('PATCH', path, { scopes: ['bot:send', 'bot:receive'] })
  t.same(await found('trouble=webhook'), [shop.api_key_id])
  await client.result('DELETE', `/api_keys/${shop.api_key_id}`)
  t.same(await found('trouble=webhook'), [], 'a revoked key has no trouble')
})

t.test(
  'a bot is far behind for the list as for the alert, after the minutes of its user',
  async (t) => {
    const { user_id } = await client.result('GET', '/user')
    const alerted = async () => {
      const { found: all } = await judge(database, new Date(), quietLogger)
      const own = all.find((one) => one.rule === 'backlog_old' && one.user_id === user_id)
      return own?.affected ?? 0
    }
    const waiting = (minutes: number) =>
      database.query(
        'update update_log set at = now() - make_interval(mins => $2) where credential_id = $1',
        [ofBob, minutes],
      )
    const isListed = async (expected: number[], why: string) => {
      t.same(await found('trouble=backlog'), expected, why)
      t.equal(await alerted(), expected.length, `${why}, for the alert`)
    }
    const chosen = (backlogMinutes: number) =>
      database.query(
        `insert into alert_setting (user_id, minutes, backlog_minutes, sealed) values ($1, 5, $2, '')
       on conflict (user_id) do update set backlog_minutes = $2`,
        [user_id, backlogMinutes],
      )
    const behind = [many.api_key_id]
    await chosen(5)
    await waiting(4)
    await isListed([], 'four minutes of five')
    await waiting(6)
    await isListed(behind, 'six minutes of five')
    await chosen(60)
    await waiting(59)
    await isListed([], '59 minutes of 60')
    await waiting(61)
    await isListed(behind, '61 minutes of 60')
    const polled = (when: string) =>
      database.query(`update api_key set polled_at = now() - $2::interval where id = $1`, [
        many.api_key_id,
        when,
      ])
    await polled('25 hours')
    await isListed([], 'a bot that is gone')
    await polled('23 hours')
    await isListed(behind, 'a bot that was here today')
    await database.query('update credential set deactivated_at = now() where id = $1', [ofBob])
    await isListed([], 'an account that is deactivated')
    await database.query('update credential set deactivated_at = null where id = $1', [ofBob])
    await isListed(behind, 'an account that is used')
  },
)

t.test('what is no filter is refused, and so is a stranger without a name', async (t) => {
  for (const bad of [
    'trouble=all',
    'revoked=perhaps',
    'credential_id=0',
    `search=${'x'.repeat(101)}`,
  ]) {
    t.match(await client.ask('GET', `/api_keys?${bad}`), { status: 400, body: { ok: false } }, bad)
  }
  const answer = await fetch(`${service.url}/api_keys?search=x`)
  t.equal(answer.status, 401)
  t.match(await answer.json(), { ok: false })
})
