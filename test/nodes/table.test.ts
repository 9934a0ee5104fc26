/** The statement that declares a node gone, in a race with the beats of that node. */

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { NodeRow } from '../../actors/node/observer.ts'
import { changedBy } from '../../src/audit/log.ts'
import { connect, type Database } from '../../src/database/database.ts'
import { orderDrain } from '../../src/nodes/orders.ts'
import type { Common } from '../../src/nodes/table.ts'
import { PostgresNodes, SERVER_MS } from '../../src/nodes/table.ts'
import { PostgresProcess } from '../kill/postgres-process.ts'
import { until } from '../support/client.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { untilLocksCount } from './old-locks.ts'

async function joined(
  t: Test,
  { database: db, url }: TestDatabase,
  name: string,
  address: string | null = null,
) {
  const table = new PostgresNodes({ db, url, name, address, weight: 1, version: 'test' })
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

t.test('a node that is cut off and still listens is not declared gone by its lock', async (t) => {
  const on = await testDatabase(t)
  const one = await joined(t, on, 'one')
  const listening = createServer().listen(0, '127.0.0.1')
  await once(listening, 'listening')
  t.teardown(() => listening.close())
  const { port } = listening.address() as AddressInfo
  const two = await joined(t, on, 'two', `https://127.0.0.1:${port}`)
  await two.beat()
  const row = rowOf(await one.beat(), two.incarnation)
  t.notOk(await one.table.declareGone({ row, cause: 'crashed' }), 'it goes on answering')
  t.ok(await two.beat())

  const newer = rowOf(await one.beat(), two.incarnation)
  t.ok(await one.table.declareGone({ row: newer, cause: 'silent' }), 'until it has been silent')
  // Nobody listens there.
  const three = await joined(t, on, 'three', 'https://127.0.0.1:9')
  await three.beat()
  const ended = rowOf(await one.beat(), three.incarnation)
  t.ok(await one.table.declareGone({ row: ended, cause: 'crashed' }))
})

t.test(
  'whoever listens at the address of a node that crashed knows that it has ended',
  async (t) => {
    const on = await testDatabase(t)
    const listening = createServer().listen(0, '127.0.0.1')
    await once(listening, 'listening')
    t.teardown(() => listening.close())
    const { port } = listening.address() as AddressInfo
    const address = `https://127.0.0.1:${port}`
    const crashed = await joined(t, on, 'before', address)
    await crashed.beat()
    // Made anew, its container has another name.
    const next = await joined(t, on, 'after', address)
    const row = rowOf(await next.beat(), crashed.incarnation)
    t.ok(await next.table.declareGone({ row, cause: 'crashed' }))
  },
)

t.test('whoever joins again under its name is not held up by its own lock', async (t) => {
  const on = await testDatabase(t)
  await untilLocksCount(on)
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

/** The same database, on a server that has been up for so long. */
function upFor(database: Database, seconds: number): Database {
  const start = `clock_timestamp() - interval '${seconds} seconds'`
  const dated = (text: unknown) =>
    String(text)
      .replace('pg_postmaster_start_time()', start)
      .replace('select stats_reset from pg_stat_bgwriter', `select ${start}`)
  return {
    ...database,
    transaction: (work) =>
      database.transaction((tx) =>
        work({ query: (text, values) => tx.query(dated(text), values) }),
      ),
  }
}

t.test('whoever joins learns whether the server has just restarted', async (t) => {
  const { database, url } = await testDatabase(t)
  const joins = async (serverSeconds: number, isSole?: boolean) => {
    const db = upFor(database, serverSeconds)
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

t.test('a living twin that has no lock since a restart of the server is not ended', async (t) => {
  const on = await testDatabase(t)
  const listening = createServer().listen(0, '127.0.0.1')
  await once(listening, 'listening')
  t.teardown(() => listening.close())
  const { port } = listening.address() as AddressInfo
  const common: Common = { baseUrl: 'https://a.test', keys: ['k1'], files: ['f1'] }
  const own = 'https://127.0.0.1:2'
  const twins: Record<string, string | null> = {
    unknown: null,
    listening: `https://127.0.0.1:${port}`,
    // Nobody listens there.
    ended: 'https://127.0.0.1:9',
    before: own,
  }
  const livingAfter = async (serverSeconds: number, more: object = {}) => {
    await on.database.query('delete from node')
    for (const address of Object.values(twins)) {
      await on.database.query(
        `insert into node (name, version, schema, state, address, common) values ('one', '1', '1', 'up', $1, $2)`,
        [address, JSON.stringify(common)],
      )
    }
    const db = upFor(on.database, serverSeconds)
    const facts = { name: 'one', address: own, weight: 1, version: 'test', common, ...more }
    const table = new PostgresNodes({ db, url: on.url, ...facts })
    const { incarnation } = await table.join()
    const rows = await on.database.query<{ address: string | null }>(
      'select address from node where ended_at is null and id <> $1 order by id',
      [incarnation],
    )
    await table.leave(incarnation)
    return rows.map(({ address }) => Object.keys(twins).find((name) => twins[name] === address))
  }
  t.same(await livingAfter(8), ['unknown', 'listening'])
  t.same(await livingAfter(20), ['listening'], 'later a free lock says it, where nobody answers')
  t.same(await livingAfter(8, { isSole: true }), [], 'and where nobody else has any')
  const other = { common: { ...common, baseUrl: 'https://b.test' } }
  await t.rejects(
    livingAfter(8, other),
    /^BASE_URL: .* was up when .* ended/,
    'they may live, so they count',
  )
  t.same(await livingAfter(20, other), ['listening'])
})

t.test('a twin that is just joining is not ended', async (t) => {
  const on = await testDatabase(t)
  const first = await joined(t, on, 'one')
  // As if its connection had not come up yet.
  await on.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'chapar node' and datname = current_database()`,
  )
  await joined(t, on, 'one')
  const living = await on.database.query<{ id: number }>(
    'select id from node where ended_at is null order by id',
  )
  t.equal(living[0]?.id, first.incarnation)
})

t.test(
  'a backend that is killed takes the locks of all with it, and the age of the server shows it',
  async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'chapar-crash-'))
    const server = await PostgresProcess.start({ dir, logger: quietLogger })
    t.teardown(async () => {
      await server.stop()
      await rm(dir, { recursive: true })
    })
    const ageOf = async (from: string) => {
      const client = await until(() => connect(server.url(), 'test').catch(() => undefined), 20_000)
      const [row] = await client.query<{ ms: number; pid: number }>(
        `select ${from} as ms, pg_backend_pid() as pid`,
      )
      await client.close()
      return row ?? { ms: 0, pid: 0 }
    }
    const victim = await connect(server.url(), 'victim')
    const [backend] = await victim.query<{ pid: number }>('select pg_backend_pid() as pid')
    await pause(3_000)
    const before = await ageOf(SERVER_MS)
    t.ok(before.ms > 2_900, `${before.ms} ms`)
    process.kill(backend?.pid ?? 0, 'SIGKILL')
    const killedAt = performance.now()
    await victim.ended
    // For a moment after the end of the backend the server still takes connections as before.
    await until(async () => (await ageOf(SERVER_MS)).ms < performance.now() - killedAt + 100)
    const start =
      '(extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000)::float8'
    t.ok((await ageOf(start)).ms > before.ms, 'though the server itself did not end')
  },
)

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

t.test('a beat goes without figures that cannot be read', async (t) => {
  const { table, beat } = await joined(t, await testDatabase(t), 'without files')
  // As `process.memoryUsage.rss` does where no file can be opened.
  table.figures = () => {
    throw new Error('EMFILE: too many open files, uv_resident_set_memory')
  }
  t.ok(await beat())
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
