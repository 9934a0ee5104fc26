/** GET /nodes, and orders to nodes. */
import t, { type Test } from 'tap'
import type { Database } from '../../src/database/database.ts'
import { nodeOrderRoutes, nodesRoute, operatorRoutes } from '../../src/http/nodes/operating.ts'
import { describeRoutes } from '../../src/http/openapi.ts'
import { testDatabase } from '../support/database.ts'
import { bareServer } from './observability-rig.ts'

const startedAt = new Date(0)
const node = {
  address: null,
  version: '1',
  schema: '0083-nodes',
  protocol: 1,
  weight: 1,
  isToDrain: false,
  startedAt,
}
const nodes = {
  view: () => ({
    incarnation: 2,
    state: 'suspended',
    beatAgeMs: 8_000.4,
    rows: [
      {
        ...node,
        incarnation: 1,
        name: 'a',
        state: 'up' as const,
        beats: 9,
        isLocked: true,
        beatAgeMs: 8_100,
      },
      {
        ...node,
        incarnation: 2,
        name: 'b',
        state: 'up' as const,
        beats: 7,
        isLocked: true,
        beatAgeMs: 0,
      },
    ],
  }),
  ended: async () => [
    {
      ...node,
      incarnation: 0,
      name: 'c',
      state: 'gone' as const,
      beats: 3,
      isLocked: false,
      endedAt: startedAt,
    },
  ],
}

const figures = { held: 4, parked: 0, lagMs: 12, memoryMb: 90 }
const db = {
  query: async () => [{ owner: 2, accounts: 3, pins: 1, figures }],
} as unknown as Database

async function nodesServer(t: Test) {
  const app = bareServer(t)
  await app.register(nodesRoute, { nodes, db, token: 'right' })
  const ask = (query = '', authorization = 'Bearer right') =>
    app.inject({ url: `/nodes${query}`, headers: { authorization } })
  return { app, ask }
}

t.test('nodes are listed as the answering node sees them', async (t) => {
  const { ask } = await nodesServer(t)
  const reply = await ask()
  t.equal(reply.statusCode, 200)
  const { ok, result } = reply.json()
  t.equal(ok, true)
  t.match(result, [
    {
      incarnation: 1,
      name: 'a',
      state: 'up',
      self: false,
      connected: true,
      accounts: 0,
      beat_age_seconds: 8.1,
      held_polls: null,
    },
    { incarnation: 2, name: 'b', state: 'suspended', self: true, beat_age_seconds: 8, accounts: 3 },
  ])
  t.equal(result.length, 2)
  const { result: all } = (await ask('?ended=true')).json()
  t.match(all[2], { incarnation: 0, state: 'gone', beat_age_seconds: null })
  t.equal(all[2].ended_at, startedAt.toISOString())
})

t.test('nodes need the token of the metrics', async (t) => {
  const { ask } = await nodesServer(t)
  for (const authorization of ['', 'right', 'Bearer wrong']) {
    const reply = await ask('?ended=nonsense', authorization)
    t.equal(reply.statusCode, 401, authorization)
    t.equal(reply.json().description, 'Unauthorized')
  }
  const shared = bareServer(t)
  await shared.register(nodesRoute, { nodes, db, token: '' })
  t.equal((await shared.inject('/nodes')).statusCode, 404)
  const own = bareServer(t)
  await own.register(nodesRoute, { nodes, db, isPrivate: true })
  t.equal((await own.inject('/nodes')).statusCode, 200)
})

const beyondRoutes = () => ({ paths: {}, schemas: {} })

t.test('the document names the token that each route needs', async (t) => {
  const app = bareServer(t)
  await describeRoutes(app, { version: '1', addresses: ['https://api.example.org'], beyondRoutes })
  await app.register(nodesRoute, { nodes, db, token: 'right' })
  await app.register(nodeOrderRoutes, { db, token: 'right' })
  const staff = { isOperator: async () => false }
  const authenticate = async () => undefined
  await app.register(operatorRoutes, { nodes, db, staff, authenticate })
  const { paths, components } = (await app.inject('/openapi.json')).json()
  const operations = Object.entries<Record<string, { security: object[] }>>(paths).flatMap(
    ([path, verbs]) => Object.values(verbs).map(({ security }) => ({ path, security })),
  )
  t.equal(operations.length, 10)
  for (const { path, security } of operations) {
    const isForUsers = path.startsWith('/operators/')
    const names = security.flatMap((one) => Object.keys(one))
    t.strictSame(names, isForUsers ? ['jwt', 'pat'] : ['operator'], path)
  }
  t.match(components.securitySchemes.operator, { type: 'http', scheme: 'bearer' })
})

t.test('a query that makes no sense is refused', async (t) => {
  const { ask } = await nodesServer(t)
  const reply = await ask('?ended=perhaps')
  t.equal(reply.statusCode, 400)
  t.match(reply.json(), { ok: false, error_code: 400, errors: [{ field: 'ended' }] })
})

async function orderServer(t: Test) {
  const { database } = await testDatabase(t)
  const app = bareServer(t)
  await app.register(nodeOrderRoutes, { db: database, token: 'right' })
  const order = (path: string, payload?: object, authorization = 'Bearer right') =>
    app.inject({
      method: 'POST',
      url: `/nodes/${path}`,
      headers: { authorization },
      ...(payload && { payload }),
    })
  const join = async (name: string) => {
    const [row] = await database.query<{ id: number }>(
      `insert into node (name, version, schema, state) values ($1, '1', '0118', 'up') returning id`,
      [name],
    )
    return row?.id ?? 0
  }
  const toDrain = async () => {
    const rows = await database.query<{ name: string }>('select name from node where drain')
    return rows.map(({ name }) => name)
  }
  return { database, order, join, toDrain }
}

t.test('a node is told to drain, unless no other one would take its accounts', async (t) => {
  const { order, join, toDrain } = await orderServer(t)
  const first = await join('first')
  const alone = await order(`${first}/drain`)
  t.equal(alone.statusCode, 409)
  t.equal(alone.json().description, 'Conflict: no other node takes accounts')
  const second = await join('second')
  t.strictSame((await order(`${first}/drain`)).json(), { ok: true, result: { incarnation: first } })
  t.same(await toDrain(), ['first'])
  t.equal((await order(`${second}/drain`)).statusCode, 409, 'the first takes none either')
  t.equal((await order(`${first}/undrain`)).statusCode, 200)
  t.same(await toDrain(), [])
  for (const path of ['999/drain', '99999999999/drain', '999/undrain']) {
    t.equal((await order(path)).statusCode, 404, path)
  }
  t.equal((await order('first/drain')).statusCode, 400, 'a number names it')
})

t.test('an order needs a token of its own', async (t) => {
  const { order, join, toDrain } = await orderServer(t)
  const first = await join('first')
  await join('second')
  for (const authorization of ['', 'right', 'Bearer wrong']) {
    for (const path of [`${first}/drain`, `${first}/undrain`, 'move']) {
      const reply = await order(path, { credential_id: 'x' }, authorization)
      t.equal(reply.statusCode, 401, path)
    }
  }
  t.same(await toDrain(), [])
  const app = bareServer(t)
  await app.register(nodeOrderRoutes, { db, token: undefined })
  t.equal((await app.inject({ method: 'POST', url: '/nodes/1/drain' })).statusCode, 404)
})

t.test('an account is only moved to a node that there is', async (t) => {
  const { order, join } = await orderServer(t)
  await join('first')
  for (const [payload, field] of [
    [{}, 'credential_id'],
    [{ credential_id: 1 }, 'node'],
    [{ credential_id: 0, node: null }, 'credential_id'],
    [{ credential_id: 1, node: 'nobody' }, 'node'],
  ] as const) {
    const reply = await order('move', payload)
    t.equal(reply.statusCode, 400)
    t.match(reply.json(), { ok: false, errors: [{ field }] })
  }
  t.equal((await order('move', { credential_id: 1, node: 'first' })).statusCode, 404)
})
