/** A database that was given: refused where it does not keep what it has committed, or serves in another way than is taken for granted. */
import t from 'tap'
import { assertDurable } from '../../src/database/durability.ts'
import { testDatabase } from '../support/database.ts'
import { FakeLogger } from '../support/fakes.ts'
import { pgbouncerMissing, pooled } from '../support/pgbouncer.ts'

const { url, database } = await testDatabase(t)
const [{ fsync } = { fsync: '' }] = await database.query<{ fsync: string }>('show fsync')
const isSafe = fsync === 'on'

t.test(
  'a server that may lose commits is told of while trying out, and refused in production',
  async (t) => {
    const logger = new FakeLogger()
    await assertDurable({ url, production: false, logger })
    t.equal(logger.warnings.length, isSafe ? 0 : 1)
    const inProduction = assertDurable({ url, production: true, logger })
    if (isSafe) await inProduction
    else await t.rejects(inProduction, { message: /fsync/ })
  },
)

t.test('one that acknowledges before it has written is refused always', async (t) => {
  const name = new URL(url).pathname.slice(1)
  await database.query(`alter database ${name} set synchronous_commit = off`)
  const logger = new FakeLogger()
  await t.rejects(assertDurable({ url, production: false, logger }), {
    message: /synchronous_commit/,
  })
  await database.query(`alter database ${name} set synchronous_commit = local`)
  await assertDurable({ url, production: false, logger })
})

t.test(
  'one that cannot be signed in to is told by its variable, without its password',
  async (t) => {
    const wrong = new URL(url)
    wrong.pathname = '/nowhere'
    const attempt = assertDurable({ url: wrong.href, production: false, logger: new FakeLogger() })
    await t.rejects(attempt, {
      name: 'StartFailure',
      message: 'DATABASE_URL: database "nowhere" does not exist',
    })
  },
)

const judged = (url: string) =>
  assertDurable({ url, production: false, logger: new FakeLogger() }).then(
    () => 'fit',
    ({ message }: Error) => message,
  )

t.test('settings under which our statements would fail are told with the remedy', async (t) => {
  const name = new URL(url).pathname.slice(1)
  const isolation = 'default_transaction_isolation'
  for (const [setting, value, line] of [
    [isolation, 'serializable', `alter role … set ${isolation} = 'read committed'`],
    [isolation, 'repeatable read', `alter role … set ${isolation} = 'read committed'`],
    ['DateStyle', 'SQL, DMY', "alter role … set datestyle = 'ISO'"],
    ['array_nulls', 'off', 'alter role … set array_nulls = on'],
    ['standard_conforming_strings', 'off', 'alter role … set standard_conforming_strings = on'],
  ] as const) {
    await database.query(`alter database ${name} set ${setting} = '${value}'`)
    const told = `DATABASE_URL: PostgreSQL runs with ${setting} ${value}: ${line}`
    t.equal(await judged(url), told)
    await database.query(`alter database ${name} reset ${setting}`)
  }
  await database.query(`alter database ${name} set datestyle = 'ISO, DMY'`)
  await database.query(`alter database ${name} set ${isolation} = 'read uncommitted'`)
  t.equal(await judged(url), 'fit')
})

t.test('a database that cannot hold every text is refused', async (t) => {
  const other = `${new URL(url).pathname.slice(1)}_latin`
  const locale = `encoding LATIN1 template template0 locale_provider libc locale 'C'`
  await database.query(`create database ${other} ${locale}`)
  t.teardown(() => database.query(`drop database ${other} with (force)`))
  const line = 'PostgreSQL runs with server_encoding LATIN1: create the database with encoding UTF8'
  const latin = Object.assign(new URL(url), { pathname: `/${other}` }).href
  t.equal(await judged(latin), `DATABASE_URL: ${line}`)
})

t.test('what the address itself asks for is no sign of a pooler', async (t) => {
  const ofConnections = [
    'statement_timeout=60000',
    'options=-c%20geqo%3Doff%20-c%20lock_timeout%3D9',
  ]
  for (const query of [...ofConnections, ofConnections.join('&')])
    t.equal(await judged(`${url}?${query}`), 'fit', query)
})

const skip = pgbouncerMissing ?? false
t.test('a pooler that keeps no settings of connections is refused', { skip }, async (t) => {
  for (const mode of ['session', 'transaction'] as const) {
    const cause = 'DATABASE_URL: a pooler that keeps no settings of connections is in between'
    const remedy = 'name the server itself'
    const refusing = await pooled(t, url, { mode, dropsSettings: false })
    const reason = /unsupported startup parameter: \w+/
    const told = await judged(refusing)
    t.match(told, reason)
    t.equal(told.replace(reason, '…'), `${cause} (…): ${remedy}`)
    const dropping = await pooled(t, url, { mode, dropsSettings: true })
    t.equal(await judged(dropping), `${cause}: ${remedy}`)
  }
})
