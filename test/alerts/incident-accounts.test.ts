/** The accounts of an incident over HTTP: a filter of the list, its counts and its export, and of what is done to many. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { quietLogger } from '../support/logger.ts'
import { joinService } from '../support/shared-service.ts'

const service = await joinService(t)
const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => database.close())
const [client, stranger] = [await service.client(), await service.client()]
const ada = await client.link(await client.person('Ada', 'ada_out'))
const bob = await client.link(await client.person('Bob', 'bob_out'))
await client.link(await client.person('Cyd', 'cyd_works'))

/** An incident as the alerts open it, with these accounts, which are out until it ends. */
async function opened(subject: string, accounts: readonly number[]): Promise<number> {
  const { user_id } = await client.result('GET', '/user')
  const [row] = await database.query<{ id: number }>(
    `with one as (
       insert into incident (user_id, rule, subject, state, affected, opened_at)
       values ($1, 'account_out', $2, 'open', cardinality($3::bigint[]), now()) returning id
     ), members as (
       insert into incident_account (credential_id, incident_id)
       select a, one.id from one, unnest($3::bigint[]) as a
       on conflict (credential_id) do update set incident_id = excluded.incident_id
     ), troubled as (
       update credential set troubled_since = now() where id = any($3))
     select id from one`,
    [user_id, subject, accounts],
  )
  return row?.id ?? 0
}
const end = (id: number) =>
  database.query(`update incident set state = 'resolved', resolved_at = now() where id = $1`, [id])
const list = '/platforms/credentials'
const listed = async (incident: number | string) => {
  const { items } = await client.result('GET', `${list}?incident=${incident}`)
  return items.map(({ credential_id }: { credential_id: number }) => credential_id)
}

t.test('an open incident filters the list, its counts and its export', async (t) => {
  const id = await opened('network', [ada, bob])
  t.same(await listed(id), [bob, ada])
  t.match(await client.result('GET', `${list}/groups?incident=${id}`), { matching: 2 })
  await end(id)
  t.same(await listed(id), [], 'nobody, once it has ended')
  t.match(await client.result('GET', `${list}/groups?incident=${id}`), { matching: 0 })
})

t.test('nobody asks for the incident of another user, nor for what is none', async (t) => {
  const id = await opened('banned', [ada])
  for (const path of [list, `${list}/groups`, `${list}/export`]) {
    for (const [who, incident, status] of [
      [stranger, id, 404],
      [client, 999_999, 404],
      [client, 'x', 400],
      [client, '-1', 400],
      [client, '', 400],
    ] as const) {
      const answer = await who.ask('GET', `${path}?incident=${incident}`)
      t.match(answer, { status, body: { ok: false } }, `${path} ${incident}`)
    }
    const unknown = await fetch(`${service.url}${path}?incident=${id}`)
    t.equal(unknown.status, 401, path)
  }
  await end(id)
})

t.test('what is done to the accounts of an incident touches none of another', async (t) => {
  const id = await opened('signed_out', [bob])
  const restart = { kind: 'restart', filter: { incident: `${id}` } }
  t.match(await stranger.ask('POST', `${list}/actions`, restart), { status: 404 })
  const bad = { kind: 'restart', filter: { incident: 'x' } }
  t.match(await client.ask('POST', `${list}/actions`, bad), { status: 400 })
  const action = await client.result('POST', `${list}/actions`, restart)
  t.match(action, { total: 1, filter: { incident: new RegExp(`^${id}$`) } })
  await end(id)
  t.match(await client.ask('POST', `${list}/actions`, restart), { status: 404 })
  const tags = { filter: { incident: `${id}` }, add: ['touched'] }
  t.same(await client.result('POST', `${list}/tags`, tags), { total: 0, changed: 0 })
  const rows = await database.query<{ credential_id: number }>(
    'select credential_id from bulk_item order by credential_id',
  )
  t.same(rows, [{ credential_id: bob }], 'the one action that was begun')
  t.same(await client.result('GET', `${list}/tags`), {})
})
