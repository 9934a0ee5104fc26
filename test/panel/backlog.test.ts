/** How a key stands: where its machine is, and what waits for its bot since when. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)
const client = await service.client()
const person = await client.person('Bot', 'behind_bot')
const friend = await client.person('Friend')
const credentialId = await client.link(person)
const { api_key_id, key } = await client.key(credentialId)
const path = `/api_keys/${api_key_id}`
const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => database.close())

const backlog = () => client.result('GET', `${path}/backlog`)
const pending = (count: number) =>
  until(async () => (await client.result('GET', path)).pending_update_count === count)

t.test('nothing waits for a new key', async (t) => {
  t.same(await backlog(), { pending_update_count: 0, oldest_at: null, series: [] })
})

t.test('what waits is told by the hour in which it came', async (t) => {
  for (const text of ['one', 'two', 'three']) await client.write(friend.id, '@behind_bot', text)
  await pending(3)
  const hours = await database.query<{ at: Date }>(
    `update update_log u set at = date_trunc('hour', now(), 'UTC')
        - case when u.update_id = first.id then interval '5 hours' else interval '2 hours' end
        + interval '7 minutes'
       from (select min(update_id) as id from update_log where credential_id = $1) first
      where u.credential_id = $1 returning u.at`,
    [credentialId],
  )
  const [oldest = 0, newest = 0] = [...new Set(hours.map(({ at }) => at.getTime()))].sort()
  const hourOf = (at: number) => new Date(at - 7 * 60_000).toISOString()
  t.match(await backlog(), {
    pending_update_count: 3,
    oldest_at: new Date(oldest).toISOString(),
    series: [
      { at: hourOf(oldest), updates: 1 },
      { at: hourOf(newest), updates: 2 },
    ],
  })
  const { body } = await client.bot(key, 'getUpdates', { limit: 1 })
  await client.bot(key, 'getUpdates', { offset: body.result[0].update_id + 1, limit: 1 })
  t.match(await backlog(), { pending_update_count: 2, series: [{ updates: 2 }] })
})

t.test('what the key does not want does not wait for it', async (t) => {
  await client.bot(key, 'getUpdates', { allowed_updates: ['callback_query'], limit: 1 })
  await client.write(friend.id, '@behind_bot', 'unwanted')
  await until(async () => {
    const [row] = await database.query<{ updates: number }>(
      'select count(*) as updates from update_log where credential_id = $1',
      [credentialId],
    )
    return row?.updates === 4
  })
  t.match(await backlog(), { pending_update_count: 2 })
})

t.test('the state of a key is where its actor is', async (t) => {
  const state = async () => (await client.result('GET', path)).state
  const fresh = await client.key(credentialId)
  t.equal(fresh.state, 'usable.quiet')
  const waiting = new AbortController()
  const poll = fetch(`${service.url}/bot${fresh.key}/getUpdates?timeout=50&offset=-1`, {
    signal: waiting.signal,
  }).catch(() => undefined)
  await until(
    async () =>
      (await client.result('GET', `/api_keys/${fresh.api_key_id}`)).state === 'usable.held',
  )
  waiting.abort()
  await poll
  await until(
    async () =>
      (await client.result('GET', `/api_keys/${fresh.api_key_id}`)).state === 'usable.quiet',
  )
  const url = 'http://127.0.0.1:9/hook'
  await client.result('PUT', `${path}/webhook`, { url })
  t.equal(await state(), 'usable.webhook')
  await service.restart()
  t.equal(await state(), 'usable.webhook', 'also while nobody woke it')
  const { items } = await client.result('GET', '/api_keys')
  t.match(items, [{ state: 'usable.quiet' }, { state: 'usable.webhook' }])
  await client.result('DELETE', path)
  t.equal(await state(), 'revoked')
})

t.test('keys of others and what is no key have no backlog', async (t) => {
  const stranger = await service.client()
  t.match(await stranger.ask('GET', `/api_keys/${api_key_id}/backlog`), {
    status: 404,
    body: { ok: false, error_code: 404, description: 'Not Found' },
  })
  t.match(await client.ask('GET', '/api_keys/x/backlog'), {
    status: 400,
    body: { ok: false, error_code: 400, description: 'Bad Request: field "id" must be an integer' },
  })
  const { status } = await fetch(`${service.url}${path}/backlog`)
  t.equal(status, 401)
})
