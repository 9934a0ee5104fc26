/** Incidents of accounts that are out: grouped, debounced, acknowledged, silenced and resolved, and over HTTP. */
import t, { type Test } from 'tap'
import { evaluateIncidents, listIncidents } from '../../src/alerts/incidents.ts'
import { accountsOf } from '../../src/alerts/members.ts'
import { AccountNames } from '../../src/credentials/identity.ts'
import type { RecordSource } from '../../src/credentials/records.ts'
import type { Database } from '../../src/database/database.ts'
import { alertRoutes } from '../../src/http/management/alerts.ts'
import { observedServer } from '../http/observability-rig.ts'
import { quietLogger } from '../support/logger.ts'

const MINUTE = 60_000
const start = Date.parse('2026-01-01T00:00:00Z')

/** The names of accounts are those of their ids. */
const named = async ({ id }: { readonly id: number }) => ({
  native: `${id}`,
  firstName: `Account ${id}`,
})

const sourceOf = (db: Database): RecordSource => ({
  db,
  flush: async () => undefined,
  accountId: async (id) => id,
  identity: named,
  names: new AccountNames(db, named),
})

async function rig(t: Pick<Test, 'teardown'>) {
  const { app, database, authenticate } = await observedServer(t)
  let now = start
  const staff = { isOperator: async () => false }
  const source = sourceOf(database)
  await app.register(alertRoutes, { db: database, staff, source, authenticate, now: () => now })
  await database.query('alter table credential disable trigger all')
  const ask = async (
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    { user = 1, body = {} } = {},
  ) => {
    const headers = user ? { 'x-user': String(user) } : {}
    const reply = await app.inject({ method, url, headers, ...(method === 'POST' && { body }) })
    return { status: reply.statusCode, result: reply.json().result }
  }
  return {
    database,
    ask,
    /** Accounts that are out since the start of the clock. */
    async out(ids: readonly number[], userId = 1, reason = 'signed_out') {
      await database.query(
        `insert into credential (id, user_id, platform, native_id, state, machine_state, reason, troubled_since)
         select id, $2, 'sandbox', id::text, 'logged_out', 'signedOut', $3, $4
           from unnest($1::bigint[]) as id`,
        [ids, userId, reason, new Date(start)],
      )
    },
    back: () => database.query('update credential set troubled_since = null'),
    async evaluate(minutes: number) {
      now = start + minutes * MINUTE
      await evaluateIncidents(database, { now: new Date(now), operators: [], logger: quietLogger })
      const incidents = await listIncidents(database, [1], { before: undefined, limit: 10 })
      return incidents.map(({ subject, state, affected }) => `${subject} ${state} ${affected}`)
    },
  }
}

t.test('accounts of one reason are one incident, opened after five minutes', async (t) => {
  const { out, evaluate } = await rig(t)
  await out([1, 2, 3])
  await out([4], 1, 'banned')
  await out([5], 2)
  t.same(await evaluate(4), [], 'too short')
  t.same((await evaluate(5)).toSorted(), ['banned open 1', 'signed_out open 3'])
  t.same((await evaluate(6)).toSorted(), ['banned open 1', 'signed_out open 3'], 'no second one')
})

t.test('a cause that comes back soon belongs to the incident, later to another', async (t) => {
  const { out, back, evaluate, database } = await rig(t)
  await out([1])
  t.same(await evaluate(5), ['signed_out open 1'])
  await back()
  t.same(await evaluate(6), ['signed_out open 0'])
  await database.query('update credential set troubled_since = $1', [new Date(start)])
  t.same(await evaluate(7), ['signed_out open 1'])
  await back()
  t.same(await evaluate(8), ['signed_out open 0'])
  t.same(await evaluate(10), ['signed_out resolved 0'])
  await database.query('update credential set troubled_since = $1', [new Date(start)])
  t.same(await evaluate(11), ['signed_out open 1', 'signed_out resolved 0'])
})

t.test('what is open is counted by rule, for each user apart', async (t) => {
  const { out, evaluate, ask, back } = await rig(t)
  await out([1, 2])
  await out([3], 1, 'banned')
  await out([4], 2)
  await evaluate(5)
  const of = async (user: number) => (await ask('GET', '/alerts/summary', { user })).result
  t.strictSame(await of(1), { open: 2, by_rule: { account_out: 3 } })
  t.strictSame(await of(2), { open: 1, by_rule: { account_out: 1 } })
  t.strictSame(await of(3), { open: 0, by_rule: {} })
  t.equal((await ask('GET', '/alerts/summary', { user: 0 })).status, 401)
  await back()
  await evaluate(6)
  await evaluate(10)
  t.strictSame(await of(1), { open: 0, by_rule: {} })
})

t.test('an owner acknowledges and silences, for a time', async (t) => {
  const { out, evaluate, ask, back } = await rig(t)
  await out([1])
  await evaluate(5)
  const { result } = await ask('GET', '/alerts')
  const [{ incident_id, ...incident }] = result.items
  t.strictSame(incident, {
    scope: 'own',
    rule: 'account_out',
    subject: 'signed_out',
    state: 'open',
    affected: 1,
    opened_at: '2026-01-01T00:05:00.000Z',
    silenced_until: null,
    resolved_at: null,
  })
  const url = `/alerts/${incident_id}`
  t.match(await ask('POST', `${url}/acknowledge`), {
    status: 200,
    result: { state: 'acknowledged' },
  })
  const silenced = await ask('POST', `${url}/silence`, { body: { minutes: 10 } })
  t.match(silenced.result, { state: 'silenced', silenced_until: '2026-01-01T00:15:00.000Z' })
  t.same(await evaluate(14), ['signed_out silenced 1'])
  const open = { status: 200, result: { state: 'open', silenced_until: null } }
  t.match(await ask('DELETE', `${url}/silence`), open)
  t.same(await evaluate(14), ['signed_out open 1'], 'the silence was taken back')
  t.match(await ask('DELETE', `${url}/silence`), open, 'and once more')
  await ask('POST', `${url}/silence`, { body: { minutes: 1 } })
  t.same(await evaluate(14), ['signed_out silenced 1'])
  t.same(await evaluate(15), ['signed_out open 1'])
  await back()
  await evaluate(16)
  t.same(await evaluate(18), ['signed_out resolved 0'])
  t.equal((await ask('POST', `${url}/acknowledge`)).status, 409)
  t.equal((await ask('DELETE', `${url}/silence`)).status, 409)
})

t.test('nobody sees or changes the incidents of others, and bad input is refused', async (t) => {
  const { out, evaluate, ask } = await rig(t)
  await out([1])
  await evaluate(5)
  const id = (await ask('GET', '/alerts')).result.items[0].incident_id
  t.same((await ask('GET', '/alerts', { user: 2 })).result.items, [])
  t.equal((await ask('POST', `/alerts/${id}/acknowledge`, { user: 2 })).status, 404)
  t.equal((await ask('GET', '/alerts', { user: 0 })).status, 401)
  t.equal((await ask('POST', `/alerts/${id}/silence`, { body: { minutes: 0 } })).status, 400)
  t.equal((await ask('POST', '/alerts/x/acknowledge')).status, 400)
  t.equal((await ask('DELETE', `/alerts/${id}/silence`, { user: 2 })).status, 404)
  t.equal((await ask('DELETE', `/alerts/${id}/silence`, { user: 0 })).status, 401)
  t.equal((await ask('DELETE', '/alerts/x/silence')).status, 400)
})

t.test('incidents that are over are listed apart from those that are not', async (t) => {
  const { out, evaluate, ask, database } = await rig(t)
  await out([1])
  await out([2], 1, 'banned')
  await evaluate(5)
  await database.query(
    `update incident set state = 'resolved', resolved_at = now() where subject = 'banned'`,
  )
  const listed = async (query: string) =>
    (await ask('GET', `/alerts?${query}`)).result.items.map(
      ({ subject }: { readonly subject: string }) => subject,
    )
  t.same(await listed('resolved=true'), ['banned'])
  t.same(await listed('resolved=false&limit=1'), ['signed_out'])
  t.equal((await listed('')).length, 2)
  t.equal((await ask('GET', '/alerts?resolved=some')).status, 400)
})

t.test('the database notes since when an account is out', async (t) => {
  const { out, database } = await rig(t)
  await out([1])
  await database.query('alter table credential enable trigger credential_troubled')
  const since = async (state: string, machineState: string) => {
    const [row] = await database.query<{ troubled_since: Date | null }>(
      'update credential set state = $1, machine_state = $2 where id = 1 returning troubled_since',
      [state, machineState],
    )
    return row?.troubled_since ?? null
  }
  t.same(await since('degraded', 'live.deaf.pausing'), new Date(start), 'goes on')
  t.equal(await since('active', 'live.online'), null)
  t.equal(await since('degraded', 'live.limited'), null, 'a limited account works again by itself')
  t.ok(await since('connecting', 'waiting'))
})

t.test('the accounts of an incident are listed, page by page, to its user', async (t) => {
  const { out, back, evaluate, ask, database } = await rig(t)
  await out([1, 2, 3])
  await out([4], 1, 'banned')
  await out([5], 2)
  await evaluate(5)
  const { result } = await ask('GET', '/alerts')
  const { incident_id: id } = result.items.find(
    ({ subject }: { readonly subject: string }) => subject === 'signed_out',
  )
  const url = `/alerts/${id}/items`
  const first = (await ask('GET', `${url}?limit=2`)).result
  t.match(first.items, [
    { credential: { credential_id: 3, account: { first_name: 'Account 3' } }, key: null },
    { credential: { credential_id: 2 }, since: new Date(start).toISOString() },
  ])
  const rest = (await ask('GET', `${url}?limit=2&before=${first.next_before}`)).result
  t.match(rest, { items: [{ credential: { credential_id: 1 } }], next_before: null })
  const asked = { userId: 1, owners: [1], id, now: new Date(start) }
  t.same((await accountsOf(database, asked)).toSorted(), [1, 2, 3])
  t.equal((await ask('GET', url, { user: 2 })).status, 404, 'of another user')
  t.equal((await ask('GET', url, { user: 0 })).status, 401)
  t.equal((await ask('GET', `${url}?before=nothing`)).status, 400)
  t.equal((await ask('GET', '/alerts/nothing/items')).status, 400)
  await back()
  await evaluate(6)
  t.same((await ask('GET', url)).result.items, [], 'all are back')
})
