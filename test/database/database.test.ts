/** Plain SQL: values in and out, transactions, limits, and connections that break. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import type { RequestFailed } from '../../machines/model/failure.ts'
import { openDatabase, PatientClient } from '../../src/database/database.ts'
import { isUnavailable, mayBeDone, readTwice } from '../../src/database/failures.ts'
import { openWriteProbe } from '../../src/database/write-watch.ts'
import { refused } from '../actors/refused.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { Relay } from '../support/relay.ts'

const { database } = await testDatabase(t)
await database.query('create table note (id bigserial primary key, body text not null)')

const bodies = async () =>
  (await database.query<{ body: string }>('select body from note order by id')).map((r) => r.body)

t.beforeEach(() => database.query('truncate note restart identity'))

t.test(
  'a planned statement goes on once a migration has changed the type of a column',
  async (t) => {
    const { database } = await testDatabase(t)
    await database.query('create table planned as select 1::integer as n')
    const read = { name: 'planned-read', text: 'select n, $1::integer as m from planned' }
    const write = { name: 'planned-write', text: 'update planned set n = n + $1 returning n' }
    const both = async () => [await database.query(read, [5]), await database.query(write, [1])]
    t.same(await both(), [[{ n: 1, m: 5 }], [{ n: 2 }]])
    await database.query('alter table planned alter n type bigint')
    t.same(await both(), [[{ n: 2, m: 5 }], [{ n: 3 }]])
    t.same(await both(), [[{ n: 3, m: 5 }], [{ n: 4 }]], 'and each time after it')
  },
)

t.test('a transaction fails once at most on a connection whose plan is of before', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase({ url, logger: quietLogger, maxConnections: 1 })
  t.teardown(() => database.close())
  await database.query('create table planned as select 1::integer as n')
  const read = { name: 'planned-read', text: 'select n from planned' }
  const inTransaction = () => database.transaction((tx) => tx.query(read))
  await inTransaction()
  await database.query('alter table planned alter n type bigint')
  await t.rejects(inTransaction(), { code: '0A000' })
  t.same(await inTransaction(), [{ n: 1 }])
})

t.test('bigints are read as numbers up to 2^53 and refused beyond', async (t) => {
  const sql = 'select $1::bigint as n'
  t.same(await database.query(sql, [2 ** 53 - 1]), [{ n: Number.MAX_SAFE_INTEGER }])
  await t.rejects(database.query(sql, ['9007199254740993']), RangeError)
  t.same(await database.query(sql, [1]), [{ n: 1 }], 'and the connection is still good')
})

t.test('arrays of bigints are arrays of numbers, nulls and inner arrays included', async (t) => {
  const read = async (array: string) =>
    (await database.query<{ ids: unknown }>(`select ${array} as ids`))[0]?.ids
  t.strictSame(await read("'{1,-2,9007199254740991}'::bigint[]"), [1, -2, Number.MAX_SAFE_INTEGER])
  t.strictSame(await read("'{1,null}'::bigint[]"), [1, null])
  t.strictSame(await read("'{{1,2},{3,4}}'::bigint[]"), [
    [1, 2],
    [3, 4],
  ])
  t.strictSame(await read("'{}'::bigint[]"), [])
  t.equal(await read('null::bigint[]'), null)
  t.strictSame(await read('array(select n::bigint from generate_series(1, 3) n)'), [1, 2, 3])
  await t.rejects(read("'{1,9007199254740993}'::bigint[]"), RangeError)
})

t.test('a named statement is prepared once a connection', async (t) => {
  const named = { name: 'add', text: 'select $1::int + 1 as sum' }
  await database.transaction(async (tx) => {
    t.same(await tx.query(named, [1]), [{ sum: 2 }])
    t.same(await tx.query(named, [2]), [{ sum: 3 }])
    const prepared = await tx.query(`select from pg_prepared_statements where name = 'add'`)
    t.equal(prepared.length, 1)
  })
})

t.test('a read that is repeated fails once both have', async (t) => {
  const reads = (...outcomes: [afterMs: number, outcome: 'rows' | Error][]) => {
    const [...left] = outcomes
    return readTwice(async () => {
      const [afterMs, outcome] = left.shift() ?? [0, new Error('a third read')]
      await pause(afterMs)
      if (outcome instanceof Error) throw outcome
      return outcome
    })
  }
  const full = new Error('too many connections')
  t.equal(await reads([900, 'rows'], [0, full]), 'rows', 'the first one answers after all')
  t.equal(await reads([600, full], [300, 'rows']), 'rows', 'the second one does')
  t.equal(await reads([5_000, 'rows'], [0, 'rows']), 'rows')
  const both = reads([700, new Error('the first')], [0, full])
  await t.rejects(both, { message: 'the first' })
  await t.rejects(reads([0, full]), full, 'one that fails at once is not repeated')
})

t.test('a transaction commits what resolves', async (t) => {
  const id = await database.transaction(async (tx) => {
    const rows = await tx.query<{ id: number }>(`insert into note (body) values ('a') returning id`)
    return rows[0]?.id
  })
  t.equal(id, 1)
  t.same(await bodies(), ['a'])
})

t.test('a transaction rolls back what rejects, and passes the error on', async (t) => {
  const failing = database.transaction(async (tx) => {
    await tx.query(`insert into note (body) values ('a')`)
    throw new Error('no')
  })
  await t.rejects(failing, { message: 'no' })
  t.same(await bodies(), [])
})

t.test('a connection cut in a transaction fails it and nothing else', async (t) => {
  const failing = database.transaction(async (tx) => {
    await tx.query(`insert into note (body) values ('a')`)
    const [self] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
    await database.query('select pg_terminate_backend($1, 1000)', [self?.pid])
    await tx.query('select 1')
  })
  const error = await failing.catch((error: unknown) => error)
  t.ok(isUnavailable(error), `${error}`)
  t.same(await bodies(), [])
})

const own = 'select pg_backend_pid() as pid'

t.test('an idle connection that is lost is told, one that is closed is not', async (t) => {
  const { url, database } = await testDatabase(t)
  const told: unknown[] = []
  const warn = (_: object, text: string) => void told.push(text)
  const db = openDatabase({ url, logger: { ...quietLogger, warn } as never })
  const [self] = await db.query<{ pid: number }>(own)
  await database.query('select pg_terminate_backend($1, 1000)', [self?.pid])
  await until(() => told.length > 0)
  t.same(told, ['an idle database connection was lost'])
  const pids = await Promise.all([1, 2, 3].map(() => db.query<{ pid: number }>(own)))
  const ended = db.close()
  await database.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [
    pids.flat().map(({ pid }) => pid),
  ])
  await ended
  t.equal(told.length, 1)
})

t.test('a statement is given up after five seconds and is then retryable', async (t) => {
  t.same(await database.query('show statement_timeout'), [{ statement_timeout: '5s' }])
  const tooSlow = database.transaction(async (tx) => {
    await tx.query(`set local statement_timeout = '50ms'`)
    await tx.query('select pg_sleep(60)')
  })
  const error = await tooSlow.catch((error: unknown) => error)
  t.ok(isUnavailable(error), `${error}`)
})

/** As a stopped process: what arrives meanwhile waits in the socket. */
const standStill = (milliseconds: number) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

t.test('a process that stood still reads what came before it gives a statement up', async (t) => {
  const { url, database } = await testDatabase(t)
  const probe = openWriteProbe({ url, node: 'here', logger: quietLogger })
  t.teardown(() => probe.close())
  const connected = [database.query('select pg_sleep(0.2)'), database.query('select pg_sleep(0.2)')]
  await Promise.all([...connected, probe.write(0)])
  // The answer of the last one is more than is read at once.
  const long = `select repeat('x', 200) as text from generate_series(1, 1000)`
  const waiting = [database.query(own), probe.write(0), database.query(long)]
  await new Promise(setImmediate)
  standStill(9_000)
  const answers = await Promise.allSettled(waiting)
  const givenUp = answers.filter(({ status }) => status === 'rejected')
  t.strictSame(givenUp, [])
})

t.test('a connection without an answer is broken off', async (t) => {
  const { url } = await testDatabase(t)
  const client = new PatientClient({ connectionString: url, query_timeout: 200 })
  const lost = new Promise((resolve) => client.on('error', resolve))
  await client.connect()
  t.match(await client.query('select 1 as one'), { rows: [{ one: 1 }] })
  await t.rejects(client.query('select pg_sleep(10)'), { message: 'Query read timeout' })
  t.match(await lost, { message: 'Query read timeout' })
})

t.test(
  'a statement that met a lock or its limit has failed once its own locks are free',
  async (t) => {
    const { url, database } = await testDatabase(t)
    const relay = await Relay.start(() => Number(new URL(url).port))
    t.teardown(() => relay.stop())
    const through = new URL(url)
    through.port = `${relay.port}`
    const db = openDatabase({ url: through.href, logger: quietLogger, maxConnections: 1 })
    t.teardown(() => db.close())
    for (const how of ['ready', 'lost']) {
      await db.query('set statement_timeout = 50')
      const { answered } = relay.overhear()
      const goOn = relay.holdFrom('Z\0\0\0\x05')
      let isTold = false
      const failure = db.query('select pg_sleep(60)').catch((cause: unknown) => {
        isTold = true
        return cause
      })
      await until(() => answered.some((text) => text.includes('57014')))
      // What is told at once would be told before this.
      await database.query('select 1')
      t.notOk(isTold, how)
      if (how === 'lost') relay.cut()
      else goOn()
      t.ok(isUnavailable(await failure), how)
    }
  },
)

t.test('an error of the statement itself is not taken for an outage', async (t) => {
  const error = await database.query('select nonsense').catch((error: unknown) => error)
  t.notOk(isUnavailable(error))
})

t.test('a server that takes no writes for now is one to come back to', async (t) => {
  const writing = database.transaction(async (tx) => {
    await tx.query('set local transaction_read_only = on')
    await tx.query(`insert into note (body) values ('a')`)
  })
  await refused(t, writing, { code: 'unavailable', retryAfterSeconds: 1 })
})

t.test('a socket that is gone is a server that is down, another missing file is not', async (t) => {
  // The path of a socket has to be short.
  const folder = await mkdtemp(join(tmpdir(), 'no-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const down = openDatabase({ url: `socket:${folder}?db=nobody`, logger: quietLogger })
  t.teardown(() => down.close())
  await refused(t, down.query('select 1'), { code: 'unavailable' })
  const missing = await readFile(join(folder, 'missing')).catch((error: unknown) => error)
  t.notOk(isUnavailable(missing))
})

t.test(
  'every error of a connection, and of a server that is in trouble, is one to come back to',
  async (t) => {
    const error = (message: string, fields: object = {}) =>
      Object.assign(new Error(message), fields)
    const ofServer = (code: string) => Object.assign(new pg.DatabaseError('', 0, 'error'), { code })
    const passing = [
      error('connect EMFILE', { code: 'EMFILE', syscall: 'connect' }),
      error('connect EADDRNOTAVAIL', { code: 'EADDRNOTAVAIL', syscall: 'connect' }),
      error('connect EAGAIN', { code: 'EAGAIN', syscall: 'connect' }),
      error('read ENETDOWN', { code: 'ENETDOWN', syscall: 'read' }),
      error('getaddrinfo ENOMEM', { code: 'ENOMEM', syscall: 'getaddrinfo' }),
      error('write EPROTO', { code: 'EPROTO', syscall: 'write' }),
      error('write ENOMEM', { code: 'ENOMEM', syscall: 'write' }),
      error('read EIO', { code: 'EIO', syscall: 'read' }),
      error('certificate has expired', { code: 'CERT_HAS_EXPIRED' }),
      error('wrong version number', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
      error('timeout expired'),
      error('Connection terminated unexpectedly'),
      error('Cannot use a pool after calling end on the pool'),
      error('There was an error establishing an SSL connection'),
      error('Received unexpected commandComplete message from backend.'),
      new AggregateError([error('', { code: 'ECONNREFUSED' })]),
      // Deadlock, serialization, crash, the disk of the server, a login that changes, too many connections.
      ...['40P01', '40001', '57P02', '57P04', '58030', '28P01', '3D000', '53300'].map(ofServer),
    ]
    for (const cause of passing) {
      t.ok(isUnavailable(cause), `${cause} ${Reflect.get(cause, 'code')}`)
      t.ok(isUnavailable(new Error('of MikroORM', { cause })))
    }
    const lasting = [
      error('open EMFILE', { code: 'EMFILE', syscall: 'open' }),
      error('ENOSPC: no space left on device, write', { code: 'ENOSPC', syscall: 'write' }),
      ...['23505', '22003', '42P01', '54000', 'XX001'].map(ofServer),
    ]
    for (const cause of lasting) t.notOk(isUnavailable(cause), `${cause}`)
    t.notOk(mayBeDone(passing[0]), 'nothing was sent')
    t.notOk(mayBeDone(ofServer('40P01')), 'it was undone')
    t.ok(mayBeDone(error('Connection terminated unexpectedly')))
    t.ok(mayBeDone(error('write ENOMEM', { code: 'ENOMEM', syscall: 'write' })))
    for (const code of ['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED']) {
      t.notOk(mayBeDone(error('', { code })), `${code} comes before a statement`)
    }
    const broken = { code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' }
    t.ok(mayBeDone(error('', broken)), 'a connection in use may break so')
    // A pooler that has lost its server, and servers that take no connection.
    for (const state of ['08P01', '08006', '08003']) t.ok(mayBeDone(ofServer(state)), state)
    for (const state of ['08001', '08004']) t.notOk(mayBeDone(ofServer(state)), state)
  },
)

t.test('a statement that gave way to another one is to be sent again', async (t) => {
  await database.query(`insert into note (body) values ('a'), ('b')`)
  const both = (first: number, second: number, met: () => Promise<void>) =>
    database.transaction(async (tx) => {
      await tx.query('update note set body = body where id = $1', [first])
      await met()
      await tx.query('update note set body = body where id = $1', [second])
    })
  let left = 2
  const all = Promise.withResolvers<void>()
  const met = () => {
    left -= 1
    if (left === 0) all.resolve()
    return all.promise
  }
  const ends = await Promise.allSettled([both(1, 2, met), both(2, 1, met)])
  const refusals = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  t.equal(refusals.length, 1)
  t.match(refusals[0], { failure: { code: 'unavailable', retryAfterSeconds: 1 } })
  t.notOk('certain' in refusals[0].failure)
})

t.test('a network that is away is one to come back to', async (t) => {
  for (const code of ['EAI_AGAIN', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH']) {
    t.ok(isUnavailable(Object.assign(new Error(code), { code })), code)
  }
})

t.test('what may have been carried out is not called undone', async (t) => {
  const address = new URL(database.pool.options.connectionString ?? '')
  const { port } = address
  const relay = await Relay.start(() => Number(port))
  address.port = `${relay.port}`
  const far = openDatabase({ url: address.href, logger: quietLogger, maxConnections: 1 })
  t.teardown(async () => {
    await far.close()
    await relay.stop()
  })
  const insert = (body: string) => `insert into note (body) values ('${body}')`
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (cause) => (cause as RequestFailed).failure,
    )
  const connected = () =>
    until(() =>
      far.query('select').then(
        () => true,
        () => false,
      ),
    )
  await connected()
  relay.cutWithin(1)
  t.match(await failureOf(far.query(insert('alone'))), { code: 'unavailable', certain: false })
  await connected()
  const committed = far.transaction(async (tx) => {
    await tx.query(insert('committed'))
    relay.cutWithin(1)
  })
  t.match(await failureOf(committed), { code: 'unavailable', certain: false })
  await connected()
  relay.cutWithin(1)
  const read = await failureOf(far.records((em) => em.execute('select body from note')))
  t.equal(read?.code, 'unavailable')
  t.equal(read?.certain, undefined, 'what only reads may be done again')
  await connected()
  const recorded = far.records(async (em) => {
    await em.execute(insert('recorded'))
    relay.cutWithin(1)
    await em.execute('select body from note')
  })
  t.match(await failureOf(recorded), { code: 'unavailable', certain: false })
  await connected()
  const inside = far.transaction(async (tx) => {
    await tx.query('select')
    relay.cutWithin(1)
    await tx.query(insert('undone'))
  })
  const undone = await failureOf(inside)
  t.equal(undone?.code, 'unavailable')
  t.equal(undone?.certain, undefined)
  relay.block()
  relay.cut()
  t.match(await failureOf(far.query(insert('unsent'))), { code: 'unavailable' })
  address.port = '1'
  const nobody = openDatabase({ url: address.href, logger: quietLogger })
  t.teardown(() => nobody.close())
  const unsent = await failureOf(nobody.query(insert('unsent')))
  t.equal(unsent?.code, 'unavailable')
  t.equal(unsent?.certain, undefined, 'without a connection nothing is sent')
  t.same(await bodies(), ['alone', 'committed', 'recorded'])
})
