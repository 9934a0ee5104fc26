/** Whether the database takes writes, found out from commits and from probes. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import {
  forgetProbes,
  LATE_WRITES_MS,
  openWriteProbe,
  WriteWatch,
} from '../../src/database/write-watch.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

/** A watch whose database does what the test says. */
function watched(t: Test) {
  const database = { isAway: false, probes: [] as number[] }
  let now = 1_000_000
  const watch = new WriteWatch({
    probe: async (bytes) => {
      database.probes.push(bytes)
      if (database.isAway) throw new Error('connect ECONNREFUSED')
    },
    logger: quietLogger,
    now: () => now,
  })
  t.teardown(() => watch.close())
  const elapse = (ms: number) => {
    now += ms
  }
  return { watch, database, elapse }
}

const isSettled = async (promise: Promise<unknown>) => {
  const open = Symbol('open')
  return (await Promise.race([promise, pause(20, open)])) !== open
}

t.test('after a commit nobody asks the database for a second', async (t) => {
  const { watch, database, elapse } = watched(t)
  watch.committed()
  elapse(900)
  t.equal(await watch.trouble(), null)
  t.same(database.probes, [])
  elapse(200)
  t.equal(await watch.trouble(), null)
  t.same(database.probes, [0], 'then with a row that needs no room')
  t.equal(await watch.trouble(), null)
  t.equal(database.probes.length, 1)
})

t.test('many who ask share one probe', async (t) => {
  const { watch, database } = watched(t)
  await Promise.all([1, 2, 3].map(() => watch.trouble()))
  t.equal(database.probes.length, 1)
})

t.test('after a failure the probe needs room, and goes on until it gets it', async (t) => {
  const { watch, database } = watched(t)
  watch.committed()
  database.isAway = true
  watch.suspect(new Error('disk full'))
  t.equal(await watch.trouble(), 'the database does not answer')
  await pause(200)
  t.ok(database.probes.length > 1 && database.probes.every((bytes) => bytes > 8_192))
  database.isAway = false
  await watch.recovered(60_000)
  t.equal(await watch.trouble(), null)
})

t.test('while nothing can be written nobody tries, and then all do at once', async (t) => {
  const { watch, database } = watched(t)
  database.isAway = true
  watch.suspect(new Error('away'))
  await watch.trouble()
  const waiting = Promise.all([1, 2, 3].map(() => watch.recovered(1)))
  t.notOk(await isSettled(waiting))
  database.isAway = false
  await waiting
})

t.test('where writes succeed, what failed is tried again after its time', async (t) => {
  const { watch } = watched(t)
  const began = performance.now()
  await watch.recovered(100)
  t.ok(performance.now() - began > 90)
  const waiting = watch.recovered(60_000)
  t.notOk(await isSettled(waiting))
  watch.committed()
  await waiting
})

t.test('commits that fail again and again are trouble, whatever a probe can write', async (t) => {
  const { watch, elapse } = watched(t)
  watch.committed()
  watch.notCommitted(new Error('canceling statement due to lock timeout'))
  await pause(20)
  t.equal(await watch.trouble(), null, 'one alone may be bad luck')
  watch.notCommitted(new Error('canceling statement due to lock timeout'))
  t.equal(await watch.trouble(), 'the database does not answer')
  watch.committed()
  t.equal(await watch.trouble(), null)
  watch.notCommitted(new Error('away'))
  watch.notCommitted(new Error('away'))
  elapse(5_000)
  t.equal(await watch.trouble(), null, 'and what nobody tries any more says nothing')
})

t.test(
  'who listens hears of each end of a trouble, and once more when nothing can come late',
  async (t) => {
    const { watch } = watched(t)
    let heard = 0
    watch.onRecovery(() => heard++)
    watch.committed()
    t.equal(heard, 0)
    watch.suspect(new Error('terminated'))
    await watch.trouble()
    watch.committed()
    t.equal(heard, 1)
    await pause(LATE_WRITES_MS)
    t.equal(heard, 1)
    await pause(LATE_WRITES_MS / 2)
    t.equal(heard, 2)
    watch.committed()
    t.equal(heard, 2)
  },
)

t.test('nobody waits for a watch that is closed', async (t) => {
  const { watch, database } = watched(t)
  database.isAway = true
  watch.suspect(new Error('away'))
  await watch.trouble()
  const waiting = watch.recovered(60_000)
  watch.close()
  await waiting
})

t.test('a database that takes no writes is known by it, and so is its recovery', async (t) => {
  const { url } = await testDatabase(t)
  const probe = openWriteProbe({ url, node: 'here', logger: quietLogger })
  t.teardown(() => probe.close())
  const watch = new WriteWatch({ probe: (bytes) => probe.write(bytes), logger: quietLogger })
  t.teardown(() => watch.close())
  t.equal(await watch.trouble(), null)
  const turn = async (value: 'on' | 'off') => {
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query('set transaction_read_only = off; set default_transaction_read_only = off')
    const name = pg.escapeIdentifier(new URL(url).pathname.slice(1))
    await admin.query(`alter database ${name} set default_transaction_read_only = ${value}`)
    await admin.query(
      `select pg_terminate_backend(pid, 1000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await admin.end()
  }
  await turn('on')
  await pause(1_000)
  // The first one finds that its connection is gone.
  await watch.trouble()
  t.equal(await watch.trouble(), 'the database takes no writes')
  await turn('off')
  await watch.recovered(60_000)
  t.equal(await watch.trouble(), null)
})

t.test('what a node wrote whose name never came back is forgotten', async (t) => {
  const { url, database } = await testDatabase(t)
  const probe = openWriteProbe({ url, node: 'here', logger: quietLogger })
  t.teardown(() => probe.close())
  await probe.write(0)
  await database.query(
    `insert into write_probe (node, at) values ('gone', now() - interval '2 days')`,
  )
  await forgetProbes(database)
  t.same(await database.query('select node from write_probe'), [{ node: 'here' }])
})
