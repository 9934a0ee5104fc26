/** Nodes on a real PostgreSQL: processes that leave, are killed and are frozen, as the others see it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { NodesView } from '../../actors/node/actor.ts'
import { claimsNothing, joinNodes, type Nodes } from '../../src/nodes/nodes.ts'
import { SERVER_MS } from '../../src/nodes/table.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { until } from '../support/client.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

t.setTimeout(240_000)

/** For this time after the start of its server, a free lock does not say that its node has ended. */
const LOCKS_ARE_NEW_MS = 10_000

const entry = join(import.meta.dirname, 'node-process.ts')

interface Started {
  readonly child: ChildProcess
  readonly incarnation: number
}

async function startNode(t: Test, { url }: TestDatabase, name: string): Promise<Started> {
  const child = spawn(process.execPath, [entry], {
    env: { PATH: process.env.PATH, NODE_URL: url, NODE_NAME: name },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  return { child, incarnation: Number(line) }
}

async function ownNode(t: Test, { url, database: db }: TestDatabase, name: string) {
  const metrics = createMetrics()
  const world = {
    db,
    url,
    logger: quietLogger,
    metrics,
    name,
    address: null,
    weight: 1,
    version: 'test',
  }
  const nodes = await joinNodes(world)
  // The database of the test is dropped after this.
  t.teardown(() => nodes.leave())
  return { nodes, metrics }
}

async function stateOf({ database }: TestDatabase, incarnation: number) {
  const [row] = await database.query<{ state: string }>('select state from node where id = $1', [
    incarnation,
  ])
  return row?.state
}

/** Resolves with the milliseconds until the row says so. */
async function takes(on: TestDatabase, incarnation: number, state: string): Promise<number> {
  const began = performance.now()
  await until(async () => (await stateOf(on, incarnation)) === state, 30_000)
  return performance.now() - began
}

const figures = (times: readonly number[]) => {
  const sorted = times.toSorted((a, b) => a - b).map(Math.round)
  return `p50 ${sorted[Math.floor(sorted.length / 2)]} ms, max ${sorted.at(-1)} ms (${sorted.length})`
}

const seenBy = (nodes: Nodes) => nodes.view().rows.map(({ name }) => name)

t.test('a node claims nothing while it has no number of its own, or gives all away', (t) => {
  const view = (state: string, nodes = 2) => ({ state, rows: { length: nodes } }) as NodesView
  for (const state of ['gone', 'joining']) t.ok(claimsNothing(view(state, 1), false), state)
  t.ok(claimsNothing(view('draining')))
  t.notOk(claimsNothing(view('draining', 1)), 'nobody else is there')
  t.notOk(claimsNothing(view('draining'), false), 'nor takes accounts')
  for (const state of ['up', 'suspended']) t.notOk(claimsNothing(view(state)), state)
  t.end()
})

t.test('one node is up; its lock is held, its beats count', async (t) => {
  const on = await testDatabase(t)
  const { nodes, metrics } = await ownNode(t, on, 'alone')
  await until(() => (nodes.view().rows[0]?.beats ?? 0) > 2)
  t.match(nodes.view(), {
    state: 'up',
    rows: [{ name: 'alone', state: 'up', isLocked: true, version: 'test', weight: 1 }],
  })
  const text = await metrics.text()
  t.match(text, /^chapar_beat_age_seconds 0\.\d+$/m)
  t.match(text, /^chapar_suspended 0$/m)
  await nodes.leave()
  t.match(await nodes.ended(), [{ name: 'alone', state: 'left', isLocked: false }])
})

t.test('a process that is killed is gone within about a second', async (t) => {
  const on = await testDatabase(t)
  const { nodes } = await ownNode(t, on, 'observer')
  await startNode(t, on, 'stays')
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const { child, incarnation } = await startNode(t, on, `victim-${round}`)
    await until(() => seenBy(nodes).includes(`victim-${round}`))
    await pause(500)
    child.kill('SIGKILL')
    times.push(await takes(on, incarnation, 'gone'))
  }
  t.comment(`SIGKILL to gone, three nodes: ${figures(times)}`)
  t.ok(Math.max(...times) < 3_000, figures(times))
  await until(() => seenBy(nodes).length === 2)
  t.same(seenBy(nodes).sort(), ['observer', 'stays'], 'and nobody else')
})

t.test(
  'a process that is frozen is gone after ten seconds, and knows it when it thaws',
  async (t) => {
    const on = await testDatabase(t)
    await ownNode(t, on, 'observer')
    const gone: number[] = []
    const back: number[] = []
    for (let round = 0; round < 2; round++) {
      const { child, incarnation } = await startNode(t, on, `frozen-${round}`)
      await pause(1_000)
      child.kill('SIGSTOP')
      gone.push(await takes(on, incarnation, 'gone'))
      const held = `select from pg_locks where objid = $1 and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())`
      // Its lock does not stand for it any more: the server needs a moment for it, a busy one longer.
      await until(async () => (await on.database.query(held, [incarnation])).length === 0, 10_000)
      child.kill('SIGCONT')
      back.push(await takes(on, incarnation + 1, 'up'))
      child.kill('SIGTERM')
      await once(child, 'exit')
      t.equal(await stateOf(on, incarnation + 1), 'left')
    }
    t.comment(`SIGSTOP to gone, two nodes: ${figures(gone)}; SIGCONT to up again: ${figures(back)}`)
    t.ok(Math.min(...gone) > 8_000, 'a frozen node has long suspended itself')
    t.ok(Math.max(...gone) < 13_000, figures(gone))
  },
)

t.test('a process that leaves says so itself', async (t) => {
  const on = await testDatabase(t)
  const { nodes } = await ownNode(t, on, 'observer')
  const { child, incarnation } = await startNode(t, on, 'leaves')
  await until(() => seenBy(nodes).includes('leaves'))
  child.kill('SIGTERM')
  const took = await takes(on, incarnation, 'left')
  t.comment(`SIGTERM to left: ${figures([took])}`)
  await until(() => !seenBy(nodes).includes('leaves'))
})

t.test(
  'a start after a crash declares its predecessor gone, a twin of its name is left alone',
  async (t) => {
    const on = await testDatabase(t)
    // Run alone, this file has a server that has just started.
    const isOld = `select where ${SERVER_MS} > $1`
    await until(async () => (await on.database.query(isOld, [LOCKS_ARE_NEW_MS])).length > 0)
    const { child, incarnation } = await startNode(t, on, 'same')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await pause(200)
    const { nodes } = await ownNode(t, on, 'same')
    t.equal(await stateOf(on, incarnation), 'gone')
    const twin = await startNode(t, on, 'same')
    await pause(2_000)
    t.equal(await stateOf(on, twin.incarnation), 'up')
    t.same(seenBy(nodes), ['same', 'same'])
  },
)

t.test('a lost connection is opened anew, and the node stays what it was', async (t) => {
  const on = await testDatabase(t)
  const { nodes } = await ownNode(t, on, 'alone')
  await ownNode(t, on, 'other')
  const { incarnation } = nodes.view()
  for (let round = 0; round < 3; round++) {
    await on.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'chapar node'`,
    )
    await pause(1_200)
  }
  await until(() => nodes.view().rows.every(({ isLocked }) => isLocked))
  t.match(nodes.view(), { incarnation, state: 'up', rows: { length: 2 } })
})
