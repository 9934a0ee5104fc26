/** Actions on many accounts over HTTP: chosen by id or filter, followed, stopped, resumed; each account has its outcome. */
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { runningActions } from '../../src/bulk/actions.ts'
import { openDatabase } from '../../src/database/database.ts'
import { refused, scene } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'

const PATH = '/platforms/credentials/actions'
const { service, client, credentialId: first } = await scene(t, {})
const second = await client.link(await client.person('Cy', 'cy_of_many'))
const third = await client.link(await client.person('Di', 'di_of_many'))

const begin = (body: object) => client.ask('POST', PATH, body)
const finished = (id: number) =>
  until(async () => {
    const action = await client.result('GET', `${PATH}/${id}`)
    return action.state === 'finished' && action
  })
const restarts = async (id: number) => {
  const { items } = await client.result('GET', `/platforms/credentials/${id}/transitions`)
  return items.filter(({ event }: { event: string }) => event === 'credential.restart').length
}

t.test('accounts that are named are restarted, each once', async (t) => {
  const credential_ids = [first, second, second, 999_999]
  const { body } = await begin({ kind: 'restart', credential_ids })
  t.match(body.result, {
    kind: 'restart',
    state: 'running',
    filter: null,
    total: 2,
    ended_at: null,
  })
  const id = body.result.action_id
  t.match(await finished(id), { total: 2, done: 2, failed: 0, ended_at: /Z$/ })
  t.same(await Promise.all([first, second, third].map(restarts)), [1, 1, 0])
  const { items, next_before } = await client.result('GET', `${PATH}/${id}/items?limit=1`)
  t.match(items, [{ credential_id: second, state: 'done', code: null, ended_at: /Z$/ }])
  const rest = await client.result('GET', `${PATH}/${id}/items?before=${next_before}`)
  t.match(rest, { items: [{ credential_id: first }], next_before: null })
  t.match(await client.result('GET', `${PATH}/${id}/items?state=failed`), { items: { length: 0 } })
  for (const one of [first, second]) await client.state(one, 'active')
})

t.test(
  'a filter chooses what the list shows, and does not keep the words of a search',
  async (t) => {
    const { body } = await begin({ kind: 'restart', filter: { search: 'CY', platform: 'sandbox' } })
    t.match(body.result, { total: 1, filter: { search: true, platform: 'sandbox' } })
    await finished(body.result.action_id)
    t.same(await Promise.all([first, second, third].map(restarts)), [1, 2, 0])
    const list = await client.result('GET', PATH)
    t.match(list.items, [{ total: 1 }, { total: 2 }])
  },
)

t.test('an account for which only the database was away is waited for', async (t) => {
  const { supervisor } = service.gateway.core
  const find = supervisor.find.bind(supervisor)
  let tries = 0
  supervisor.find = async (id) => {
    if (id !== second) return find(id)
    tries++
    throw failed('unavailable', 'the database does not answer', { reason: 'database_away' })
  }
  t.teardown(() => {
    supervisor.find = find
  })
  const { body } = await begin({ kind: 'restart', credential_ids: [first, second] })
  const id = body.result.action_id
  // More often than for any other reason.
  await until(() => tries > 6, 60_000)
  t.match(await client.result('GET', `${PATH}/${id}`), { state: 'running', done: 1, failed: 0 })
  supervisor.find = find
  t.match(await finished(id), { done: 2, failed: 0 })
})

t.test('the accounts for which an action failed can be tried again', async (t) => {
  const { supervisor } = service.gateway.core
  const find = supervisor.find.bind(supervisor)
  supervisor.find = async (id) => {
    if (id === second) throw failed('forbidden', 'not this one')
    return find(id)
  }
  const { body } = await begin({ kind: 'restart', credential_ids: [first, second] })
  const failed_of = body.result.action_id
  t.match(await finished(failed_of), { done: 1, failed: 1 })
  supervisor.find = find
  t.match(await client.result('GET', `${PATH}/${failed_of}/items?state=failed`), {
    items: [{ credential_id: second, code: 'forbidden', account: { first_name: 'Cy' } }],
  })
  const again = await begin({ kind: 'restart', failed_of })
  t.match(again.body.result, { total: 1, filter: null })
  t.match(await finished(again.body.result.action_id), { done: 1, failed: 0 })
  t.match(
    await begin({ kind: 'restart', failed_of, filter: {} }),
    refused(400, 'Bad Request: field "failed_of" must stand alone'),
  )
  const stranger = await service.client()
  t.match(await stranger.ask('POST', PATH, { kind: 'restart', failed_of }), { status: 404 })
})

t.test('what cannot be is refused', async (t) => {
  const both = { kind: 'restart', credential_ids: [first], filter: {} }
  const field = (text: string) => refused(400, `Bad Request: field "${text}`)
  t.match(await begin(both), field('filter" must not stand beside "credential_ids"'))
  t.match(await begin({ kind: 'restart' }), field('credential_ids" is required'))
  t.match(await begin({ kind: 'dance', filter: {} }), { status: 400 })
  t.match(await begin({ kind: 'restart', credential_ids: [] }), { status: 400 })
  t.match(
    await begin({ kind: 'delete', filter: {}, at_most: 2 }),
    refused(409, 'Conflict: these are 3 accounts'),
  )
  t.match(
    await begin({ kind: 'restart', credential_ids: [999_999] }),
    refused(404, 'Not Found: there are no such accounts'),
  )
})

t.test('accounts and actions of others are not there', async (t) => {
  const stranger = await service.client()
  const { body } = await begin({ kind: 'restart', credential_ids: [third] })
  const { action_id } = await finished(body.result.action_id)
  t.match(await stranger.ask('POST', PATH, { kind: 'delete', credential_ids: [first] }), {
    status: 404,
  })
  for (const end of ['', '/items']) {
    t.match(await stranger.ask('GET', `${PATH}/${action_id}${end}`), { status: 404 })
  }
  t.match(await stranger.ask('POST', `${PATH}/${action_id}/stop`), { status: 404 })
  t.match(await stranger.result('GET', PATH), { items: { length: 0 } })
  t.match(
    await client.ask('POST', `${PATH}/${action_id}/stop`),
    refused(409, 'Conflict: the action is finished'),
  )
})

t.test('one that is stopped leaves the rest, and goes on when it is told to', async (t) => {
  // While the accounts are slow to come back, nothing is finished.
  const { gateway } = service
  const { supervisor } = gateway.core
  const ready = supervisor.ready.bind(supervisor)
  const go = Promise.withResolvers<void>()
  supervisor.ready = async (id, hasLeft) => {
    await go.promise
    return ready(id, hasLeft)
  }
  const more: number[] = []
  for (let n = 0; n < 25; n++) more.push(await client.link(await client.person(`Of ${n}`)))
  const { body } = await begin({ kind: 'restart', credential_ids: more })
  const id = body.result.action_id
  await until(async () => (await Promise.all(more.slice(0, 20).map(restarts))).every(Boolean))
  t.match(await client.result('POST', `${PATH}/${id}/stop`), { state: 'stopped', done: 0 })
  go.resolve()
  supervisor.ready = ready
  await until(async () => (await client.result('GET', `${PATH}/${id}`)).done > 0)
  const halfway = await client.result('GET', `${PATH}/${id}`)
  t.match(halfway, { state: 'stopped', ended_at: null })
  t.match(await client.result('POST', `${PATH}/${id}/resume`), { state: 'running' })
  t.match(await finished(id), { total: 25, done: 25, failed: 0 })
})

t.test('deleted accounts are gone, and restarting them fails with the reason', async (t) => {
  const { body } = await begin({ kind: 'delete', credential_ids: [second, third], at_most: 2 })
  t.match(await finished(body.result.action_id), { done: 2, failed: 0 })
  t.match(await client.ask('GET', `/platforms/credentials/${second}`), { status: 404 })
  t.match(await client.result('GET', `${PATH}/${body.result.action_id}/items`), {
    items: [{ account: null }, { account: null }],
  })
  t.match(await client.ask('GET', `/platforms/credentials/${first}`), { status: 200 })
})

t.test('one user who has begun many lets others go on, and resumes none beyond ten', async (t) => {
  const [many, one] = [await service.client(), await service.client()]
  const slow = await many.link(await many.person('Fi', 'fi_of_many'))
  const quick = await one.link(await one.person('Gil', 'gil_of_one'))
  const { supervisor } = service.gateway.core
  const ready = supervisor.ready.bind(supervisor)
  const go = Promise.withResolvers<void>()
  t.teardown(() => {
    go.resolve()
    supervisor.ready = ready
  })
  supervisor.ready = async (id, hasLeft) => {
    if (id === slow) await go.promise
    return ready(id, hasLeft)
  }
  const restart = (by: typeof many, id: number) =>
    by.result('POST', PATH, { kind: 'restart', credential_ids: [id] })
  const begun: number[] = []
  for (let n = 0; n < 10; n++) begun.push((await restart(many, slow)).action_id)
  const [oldest = 0] = begun
  const { action_id } = await restart(one, quick)
  await until(async () => (await one.result('GET', `${PATH}/${action_id}`)).state === 'finished')
  await many.result('POST', `${PATH}/${oldest}/stop`)
  begun.push((await restart(many, slow)).action_id)
  t.match(await many.ask('POST', `${PATH}/${oldest}/resume`), {
    status: 409,
    body: { code: 'actions_full' },
  })
  t.match(await many.result('POST', `${PATH}/${begun.at(-1)}/resume`), { state: 'running' })
  go.resolve()
  const states = () =>
    Promise.all(begun.map(async (id) => (await many.result('GET', `${PATH}/${id}`)).state))
  await until(async () => (await states()).slice(1).every((state) => state === 'finished'))
})

t.test('at most ten are under way, and two hundred are begun in a day', async (t) => {
  const other = await service.client()
  const own = await other.link(await other.person('Ed', 'ed_of_many'))
  const many = () => other.ask('POST', PATH, { kind: 'restart', credential_ids: [own] })
  const { supervisor } = service.gateway.core
  const ready = supervisor.ready.bind(supervisor)
  const go = Promise.withResolvers<void>()
  supervisor.ready = async (id, hasLeft) => {
    await go.promise
    return ready(id, hasLeft)
  }
  const answers = await Promise.all(Array.from({ length: 20 }, many))
  go.resolve()
  supervisor.ready = ready
  t.equal(answers.filter(({ status }) => status === 200).length, 10)
  t.equal(answers.filter(({ status }) => status === 409).length, 10)
  const begun = answers.flatMap(({ body }) => (body.ok ? [body.result.action_id as number] : []))
  await Promise.all(
    begun.map((id) =>
      until(async () => (await other.result('GET', `${PATH}/${id}`)).state === 'finished'),
    ),
  )
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  await database.query(
    `update quota set uses = array(select now() from generate_series(1, 200))
     where key like 'bulk:user:%' and cardinality(uses) = 10`,
  )
  const late = await many()
  t.match(late, { status: 429, body: { ok: false, error_code: 429 } })
  t.ok(late.body.parameters.retry_after > 86_000)
})

t.test('an action with nothing to do at a node is none that it looks at', async (t) => {
  const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  const owners = 'select owner from credential_log where credential_id = $1'
  const [log] = await db.query<{ owner: number }>(owners, [first])
  const [user] = await db.query<{ id: number }>('select id from app_user limit 1')
  const [action] = await db.query<{ id: number }>(
    `insert into bulk_action (user_id, kind, state, total) values ($1, 'restart', 'stopped', 1) returning id`,
    [user?.id],
  )
  await db.query(
    `insert into bulk_item (action_id, position, credential_id, state) values ($1, 1, $2, 'waiting')`,
    [action?.id, first],
  )
  const seenBy = async (node: number | null) =>
    db.transaction(async (tx) => {
      await tx.query(`update bulk_action set state = 'running' where id = $1`, [action?.id])
      const found = await runningActions(tx, node, 100)
      await tx.query(`update bulk_action set state = 'stopped' where id = $1`, [action?.id])
      return found.some(({ id }) => id === action?.id)
    })
  t.ok(await seenBy(log?.owner ?? null), 'its accounts are here')
  t.notOk(await seenBy(-1), 'they are at another node')
})
