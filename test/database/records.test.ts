/** Records by MikroORM: on the connections of plain SQL, for the tables that the migrations made. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { openDatabase, openOrm } from '../../src/database/database.ts'
import { AppUser, Diagnosis, entities, UserSession } from '../../src/database/entities.ts'
import { failureOf } from '../support/accounts.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { freePort } from '../support/ports.ts'

t.test('records and plain SQL share one pool', async (t) => {
  const { url, database } = await testDatabase(t)
  const most = 3
  const db = openDatabase({ url, logger: quietLogger, maxConnections: most })
  // The server's own workers, such as a vacuum, connect to a database, too.
  const counting = `select count(*)::int as open from pg_stat_activity
                     where datname = $1 and backend_type = 'client backend'`
  const name = new URL(url).pathname.slice(1)
  const open = async () => {
    const [row] = await database.query<{ open: number }>(
      `${counting} and pid <> pg_backend_pid()`,
      [name],
    )
    return row?.open
  }
  await database.query('select 1')
  t.equal(await open(), 0)
  const slowRecord = () => db.records((em) => em.execute('select pg_sleep(0.5)'))
  const slowSql = () => db.query('select pg_sleep(0.5)')
  const work = Promise.all([slowRecord, slowSql, slowRecord, slowSql].map((slow) => slow()))
  let seen = 0
  for (let count = 0; count < 12; count++) {
    seen = Math.max(seen, (await open()) ?? 0)
    await pause(50)
  }
  await work
  t.equal(seen, most, 'no connection beside those of the pool')
  await db.close()
  for (let count = 0; count < 40 && (await open()) !== 0; count++) await pause(50)
  t.equal(await open(), 0, 'and closing the database closes all of them')
})

t.test('entities agree with the columns that the migrations made', async (t) => {
  const { database } = await testDatabase(t)
  const { schema } = await openOrm(database.pool)
  const change = await schema.getUpdateSchemaSQL({ wrap: false, dropTables: false })
  // Indexes, foreign keys, triggers and comments are the migrations' alone.
  const own = /^(drop (index|trigger|function)|comment on|alter table \S+ (drop|add) constraint) /
  const statements = change.split(/;\s*/).filter((each) => each !== '' && !own.test(each))
  // It takes the identity of this column, which is declared, for a default.
  t.same(statements, [
    'alter table "otp_challenge" alter column "number" drop default',
    // Of tokens that nodes of the version before make.
    'alter table "personal_token" alter column "scopes" drop default',
    'alter table "personal_token" alter column "allowed_ips" drop default',
  ])
  t.equal(entities.length, 13)
})

t.test('a transaction of records that fails anywhere gives its connection back', async (t) => {
  const { url } = await testDatabase(t)
  const db = openDatabase({ url, logger: quietLogger, maxConnections: 1 })
  t.teardown(() => db.close())
  const { query } = pg.Client.prototype
  t.teardown(() => Object.assign(pg.Client.prototype, { query }))
  const change = () =>
    db.records((em) => em.transactional((tx) => tx.nativeUpdate(AppUser, { id: 1 }, { id: 1 })))
  await change()
  for (const failing of [['begin'], ['update'], ['commit'], ['commit', 'rollback']]) {
    Object.assign(pg.Client.prototype, {
      query(this: pg.Client, ...given: unknown[]) {
        const fails = failing.some((verb) => `${given[0]}`.startsWith(verb))
        if (fails) return Promise.reject(new Error('the connection broke'))
        return Reflect.apply(query, this, given)
      },
    })
    await t.rejects(change(), failing.join())
    Object.assign(pg.Client.prototype, { query })
    // A statement by itself begins with its transaction: no connection comes back in the middle of another one.
    const alone = await db.query('select now() = statement_timestamp() as alone')
    t.same(alone, [{ alone: true }], failing.join())
  }
})

t.test('a record is written and read as it was', async (t) => {
  const { database } = await testDatabase(t)
  const createdAt = new Date('2026-01-02T03:04:05.678Z')
  const user = { phoneIndex: Buffer.from([0, 255]), phoneSealed: Buffer.from('…'), createdAt }
  const id = await database.records((em) => em.insert(AppUser, user))
  const found = await database.records((em) => em.findOneOrFail(AppUser, { id }))
  t.same({ ...found }, { id, ...user, erasingAt: null, suspendedAt: null, suspendedReason: null })
  const session = { userId: id, createdAt, lastUsedAt: createdAt, expiresAt: createdAt }
  const userAgent = `it's \\ "50%" ? $1 :x`
  const row = { ...session, ip: '::1', userAgent, endedAt: null }
  const sessionId = await database.records((em) => em.insert(UserSession, row))
  const [stored] = await database.query<{ user_agent: string; at: Date }>(
    'select user_agent, created_at as at from user_session where id = $1',
    [sessionId],
  )
  t.same(stored, { user_agent: userAgent, at: createdAt })
})

t.test('a database that is away is an answer that says when to try again', async (t) => {
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`
  const db = openDatabase({ url, logger: quietLogger })
  t.teardown(() => db.close())
  const failure = { code: 'unavailable', description: 'the database does not answer' }
  const read = db.records((em) => em.findOne(Diagnosis, { id: 'x' }))
  t.match(await failureOf(read), { ...failure, retryAfterSeconds: 1 })
  const server = await testDatabase(t)
  const slow = server.database.records((em) =>
    em.transactional(async (tx) => {
      await tx.execute(`set local statement_timeout = '20ms'`)
      await tx.execute('select pg_sleep(1)')
    }),
  )
  t.match(await failureOf(slow), failure, 'also by an error of the server')
})

t.test('records need no right to make a database', async (t) => {
  const { url, database } = await testDatabase(t)
  const name = new URL(url).pathname.slice(1)
  const role = `${name}_plain`
  await database.query(`create role ${role} login nocreatedb password 'x'`)
  const plain = Object.assign(new URL(url), { username: role, password: 'x' }).href
  const db = openDatabase({ url: plain, logger: quietLogger })
  t.teardown(async () => {
    await db.close()
    await database.query(`drop role ${role}`)
  })
  t.match(await db.records((em) => em.execute('select current_user as role')), [{ role }])
})
