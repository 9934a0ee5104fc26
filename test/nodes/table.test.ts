/** The statement that declares a node gone, in a race with the beats of that node. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { NodeRow } from '../../actors/node/observer.ts'
import { changedBy } from '../../src/audit/log.ts'
import { connect, type Database } from '../../src/database/database.ts'
import { orderDrain } from '../../src/nodes/orders.ts'
import { PostgresNodes } from '../../src/nodes/table.ts'
import { until } from '../support/client.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'

async function joined(t: Test, { database: db, url }: TestDatabase, name: string) {
  const table = new PostgresNodes({ db, url, name, address: null, weight: 1, version: 'test' })
  const { incarnation } = await table.join()
  t.teardown(() => table.leave(incarnation))
  return { table, incarnation, beat: () => table.beat(incarnation, 'up') }
}

const rowOf = (rows: readonly NodeRow[] | undefined, incarnation: number): NodeRow => {
  const row = rows?.find((one) => one.incarnation === incarnation)
  if (!row) throw new Error('the node is not to be seen')
  return row
}

t.test('a node that beats at the last moment is not declared gone', async (t) => {
  const on = await testDatabase(t)
  const [one, two] = [await joined(t, on, 'one'), await joined(t, on, 'two')]
  await two.beat()
  const seen = rowOf(await one.beat(), two.incarnation)
  await two.beat()
  t.notOk(await one.table.declareGone({ row: seen, cause: 'silent' }))
  t.ok(await two.beat(), 'its next beat counts')

  const newer = rowOf(await one.beat(), two.incarnation)
  t.ok(await one.table.declareGone({ row: newer, cause: 'silent' }))
  t.notOk(rowOf(await one.beat(), one.incarnation).state !== 'up')
  // Its connection was closed with the verdict.
  await two.beat().catch(() => undefined)
  t.equal(await two.beat(), undefined, 'and it learns that it is gone')
})

t.test('whoever joins again under its name is not held up by its own lock', async (t) => {
  const on = await testDatabase(t)
  const { table, incarnation, beat } = await joined(t, on, 'one')
  await beat()
  const next = await table.join()
  t.teardown(() => table.leave(next.incarnation))
  const rows = await on.database.query('select state, ended_by as "by" from node where id = $1', [
    incarnation,
  ])
  t.same(rows, [{ state: 'gone', by: 'crashed' }])
  t.equal(rowOf(await table.beat(next.incarnation, 'up'), next.incarnation).isLocked, true)
})

t.test('whoever joins learns whether the server has just restarted', async (t) => {
  const { database, url } = await testDatabase(t)
  const joins = async (serverSeconds: number, isSole?: boolean) => {
    const start = `clock_timestamp() - interval '${serverSeconds} seconds'`
    const db: Database = {
      ...database,
      transaction: (work) =>
        database.transaction((tx) =>
          work({
            query: (text, values) =>
              tx.query(String(text).replace('pg_postmaster_start_time()', start), values),
          }),
        ),
    }
    const facts = { name: 'one', address: null, weight: 1, version: 'test' }
    const table = new PostgresNodes({ db, url, ...facts, ...(isSole !== undefined && { isSole }) })
    const { incarnation, areLocksNew } = await table.join()
    await table.leave(incarnation)
    return areLocksNew
  }
  t.equal(await joins(8), true)
  t.equal(await joins(20), false)
  t.equal(await joins(8, true), false, 'nobody else has locks')
})

t.test('an order that waits for its line keeps no beat waiting', async (t) => {
  const on = await testDatabase(t)
  const { incarnation, beat } = await joined(t, on, 'one')
  await beat()
  const by = { via: 'command', action: 'node.undrained' } as const
  await on.database.transaction(async (tx) => {
    await tx.query('lock table audit_log in exclusive mode')
    const ordering = changedBy(by, () => orderDrain(on.database, { incarnation }, false)).catch(
      (cause) => cause,
    )
    await until(async () => {
      const waiting = await tx.query(
        `select from pg_locks where not granted and relation = 'audit_log'::regclass`,
      )
      return waiting.length > 0
    })
    const began = performance.now()
    t.ok(await beat())
    const took = performance.now() - began
    t.ok(took < 1_000, `${took} ms`)
    void ordering
  })
})

t.test('the answer that came while the process stood still counts', async (t) => {
  const { beat } = await joined(t, await testDatabase(t), 'busy')
  await beat()
  for (let round = 0; round < 3; round++) {
    const sent = beat()
    // The question is written, then the process does something else for longer than an answer may take.
    await setImmediate()
    const until = performance.now() + 2_500
    while (performance.now() < until);
    t.ok(await sent)
  }
})

t.test('a connection that comes up while the process stands still is kept', async (t) => {
  const on = await testDatabase(t)
  for (let round = 0; round < 3; round++) {
    const opening = connect(on.url, 'test')
    await setImmediate()
    const until = performance.now() + 2_500
    while (performance.now() < until);
    const connection = await opening
    t.same(await connection.query('select 1 as one'), [{ one: 1 }])
    await connection.close()
  }
})

t.test('a server that accepts a connection and says nothing is not waited for', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  const { port } = server.address() as AddressInfo
  const began = performance.now()
  await t.rejects(connect(`postgres://somebody@127.0.0.1:${port}/nothing`, 'test'), {
    message: 'timeout expired',
  })
  const took = performance.now() - began
  t.ok(took > 1_800 && took < 2_900, `${took} ms`)
  for (const socket of sockets) socket.destroy()
  server.close()
})

t.test('an answer that does not come is not waited for', async (t) => {
  const on = await testDatabase(t)
  const { beat, incarnation } = await joined(t, on, 'locked')
  const before = rowOf(await beat(), incarnation).beats
  const began = performance.now()
  await on.database.transaction(async (tx) => {
    await tx.query('select from node for update')
    await t.rejects(beat())
  })
  t.ok(performance.now() - began < 2_900)
  t.ok(rowOf(await beat(), incarnation).beats > before, 'the next one goes over a new connection')
})
