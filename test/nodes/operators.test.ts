/** Operators who are signed in see the nodes and order them; timelines tell when accounts change their node. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { type Client, until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { unlimited } from './callers.ts'
import { startRemote } from './remote-service.ts'

t.setTimeout(240_000)

const phone = '+14155558801'
const shared = { ...unlimited, OPERATOR_PHONES: phone, REBALANCE_SECONDS: '600', NODE_WEIGHT: '1' }

const on = await testDatabase(t)
const first = await startRemote(t, { databaseUrl: on.url, name: 'first', env: shared })
const operator = await first.client(phone)
const stranger = await first.client('+14155558802')
const accounts = await Promise.all(
  ['a', 'b', 'c'].map(async (name) => operator.link(await operator.person('Bot', `seen_${name}`))),
)
const [account = 0] = accounts

interface Line {
  readonly event: string
  readonly node: string
  readonly other_node?: string
  readonly from: string
  readonly to: string
}

const nodes = (client: Client = operator) => client.result('GET', '/operators/nodes')

/** The lines of moves, the oldest first. */
async function moves(credentialId: number): Promise<string[]> {
  const path = `/platforms/credentials/${credentialId}/transitions`
  const { items }: { items: Line[] } = await operator.result('GET', path)
  return items
    .filter(({ event }) => event.startsWith('owner.'))
    .map(({ event, node, other_node }) => `${event} ${node} ${other_node}`)
    .reverse()
}

t.test('only operators see the nodes', async (t) => {
  t.equal((await operator.result('GET', '/user')).operator, true)
  t.notOk('operator' in (await stranger.result('GET', '/user')))
  const [node] = await nodes()
  for (const [method, path, body] of [
    ['GET', 'nodes'],
    ['GET', 'nodes/pins'],
    ['POST', `nodes/${node.incarnation}/drain`, {}],
    ['POST', `nodes/${node.incarnation}/undrain`, {}],
    ['POST', 'nodes/move', { credential_id: account, node: null }],
  ] as const) {
    const answer = await stranger.ask(method, `/operators/${path}`, body)
    t.match(answer, { status: 403, body: { ok: false, error_code: 403 } }, path)
    const nobody = await fetch(`${first.url}/operators/${path}`, { method })
    t.equal(nobody.status, 401, path)
  }
})

t.test('a node says of itself what it has', async (t) => {
  const node = await until(async () =>
    (await nodes()).find((one: { lag_ms: unknown }) => one.lag_ms !== null),
  )
  t.match(node, { name: 'first', state: 'up', self: true, accounts: 3, pins: 0, parked: 0 })
  t.ok(node.memory_mb > 20)
  const { key } = await operator.key(account)
  const poll = operator.bot(key, 'getUpdates', { timeout: 6 })
  await until(async () => (await nodes())[0].held_polls === 1)
  await poll
  const file = join(import.meta.dirname, '../../src/nodes/command.ts')
  const env = { PATH: process.env.PATH, DATABASE_URL: on.url }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
  t.match(stdout, /ACCOUNTS +PINS +POLLS +PARKED +LAG +MEMORY\n/)
  t.match(stdout, / 3 +0 +[01] +0 +\d+ ms +\d+ MB\n/)
})

t.test('orders that make no sense are refused, as those with a token are', async (t) => {
  const [{ incarnation }] = await nodes()
  const ask = (path: string, body: object = {}) =>
    operator.ask('POST', `/operators/nodes/${path}`, body)
  t.match(await ask(`${incarnation}/drain`), { status: 409 })
  t.match(await ask('999999/drain'), { status: 404 })
  t.match(await ask('move', { credential_id: account, node: 'nobody' }), {
    status: 400,
    body: { errors: [{ field: 'node' }] },
  })
  t.match(await ask('move', { credential_id: 'x' }), { status: 400 })
  const pins = await operator.ask('GET', '/operators/nodes/pins?limit=0')
  t.match(pins, { status: 400, body: { errors: [{ field: 'limit' }] } })
})

t.test('the timeline of an account that moves names both nodes', async (t) => {
  t.same(await moves(account), [], 'an account that was linked here has never moved')
  const env = { ...shared, DATA_DIR: first.dataDir }
  const second = await startRemote(t, { databaseUrl: on.url, name: 'second', env })
  const ordered = { credential_id: account, node: 'second' }
  t.same(await operator.result('POST', '/operators/nodes/move', ordered), ordered)
  t.same(await operator.result('GET', `/operators/nodes/pins?credential_id=${account}`), [ordered])
  t.same(await operator.result('GET', `/operators/nodes/pins?credential_id=${accounts[1]}`), [])
  await until(async () => (await moves(account)).length > 0)
  t.same(await moves(account), ['owner.lost first second', 'owner.gained second first'])
  const listed = await nodes()
  t.match(listed, [
    { name: 'first', accounts: 2, pins: 0 },
    { name: 'second', accounts: 1, pins: 1 },
  ])

  await second.end('SIGKILL')
  await until(async () => (await moves(account)).length > 2, 30_000)
  t.same((await moves(account)).slice(2), ['owner.lost second first', 'owner.gained first second'])
  const ended = await operator.result('GET', '/operators/nodes?ended=true')
  t.match(ended, [
    { name: 'first', accounts: 3 },
    { name: 'second', state: 'gone', lag_ms: null },
  ])
  for (const other of accounts.slice(1)) t.same(await moves(other), [], 'the others stayed')
})

t.test('one process after the other, under another name too, moves nothing', async (t) => {
  const before = await moves(account)
  await first.end('SIGTERM')
  const third = await startRemote(t, {
    databaseUrl: on.url,
    name: 'third',
    env: { ...shared, DATA_DIR: first.dataDir },
  })
  const there = await third.client(phone)
  const path = `/platforms/credentials/${account}/transitions`
  await until(async () => (await there.result('GET', `/platforms/credentials/${account}`)).node)
  const { items }: { items: Line[] } = await there.result('GET', path)
  t.equal(items.filter(({ event }) => event.startsWith('owner.')).length, before.length)
  t.ok(
    items.some(({ node }) => node === 'third'),
    'its own lines go on',
  )
})
