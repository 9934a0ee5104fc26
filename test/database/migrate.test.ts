/** Migrations: run once, in order, also by nodes that start at the same moment. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { Migration } from '@mikro-orm/migrations'
import t from 'tap'
import { type Database, openOrm } from '../../src/database/database.ts'
import { contract, enterCell, migrate } from '../../src/database/migrate.ts'
import { migrationsList } from '../../src/database/migrations/index.ts'
import { runPending } from '../../src/database/migrator.ts'
import { PostgresNodes } from '../../src/nodes/table.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { joinTestServer } from '../support/postgres.ts'

t.test('of several nodes that start at once, one runs the migrations', async (t) => {
  const server = await joinTestServer()
  const name = `chapar_test_migrate_${process.pid}`
  await server.client.query(`create database ${name}`)
  t.teardown(async () => {
    await server.client.query(`drop database ${name} with (force)`)
    await server.client.end()
  })
  const url = server.url(name)
  const runs = await Promise.all([migrate(url), migrate(url), migrate(url)])
  t.same(
    runs.flat(),
    migrationsList.map(({ name }) => name),
  )
  t.same(await migrate(url), [], 'and a restart runs nothing')
})

const setMinimum = (database: Database, name: string) =>
  database.query('update schema_minimum set migration = $1', [name])

t.test('a database to which a newer version has only added is used', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.query(`insert into migration (name) values ('9999-from-the-future')`)
  t.same(await migrate(url), [])
})

t.test('a database from which a newer version has taken something is left alone', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.query(`insert into migration (name) values ('9999-from-the-future')`)
  await setMinimum(database, '9998-used-until-then')
  await t.rejects(migrate(url), {
    name: 'DatabaseIsNewer',
    message: /know the migration 9998-used-until-then.*restore a backup/,
  })
  const facts = { name: 'late', address: null, version: 'test', weight: 1 }
  const nodes = new PostgresNodes({ ...facts, db: database, url })
  await t.rejects(nodes.join(), { name: 'DatabaseIsNewer' }, 'nor does such a node join later')
  t.same(await database.query('select from node'), [])
})

/** Takes the column `old` away, which versions before the migration `since` use. */
class Contraction extends Migration {
  override up(): void {
    this.addSql('alter table used drop column old')
  }
}
class Expansion extends Migration {
  override up(): void {
    this.addSql('alter table used add column new int')
  }
}
const contraction = {
  name: '9998-contraction',
  class: Contraction,
  contracts: { since: '9990-not-used-any-more' },
}
const expansion = { name: '9999-expansion', class: Expansion }

t.test('what takes something away waits for the last node that uses it', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.query('create table used (old int)')
  const columns = async () => {
    const rows = await database.query<{ name: string }>(
      `select column_name as name from information_schema.columns where table_name = 'used'`,
    )
    return rows.map(({ name }) => name).sort()
  }
  const minimum = async () => (await database.query('select migration from schema_minimum'))[0]
  const list = [...migrationsList, contraction, expansion]
  const facts = { name: 'old', address: null, version: 'test', weight: 1 }
  const old = new PostgresNodes({ ...facts, db: database, url })
  const { incarnation } = await old.join()
  t.same(await runPending(url, list), ['9999-expansion'])
  t.same(await columns(), ['new', 'old'])
  const before = await minimum()

  await database.query(`update node set state = 'up' where id = $1`, [incarnation])
  t.same(await runPending(url, list), [], 'it is up')
  t.same(await minimum(), before)

  await old.leave(incarnation)
  const crashed = new PostgresNodes({ ...facts, name: 'crashed', db: database, url })
  const { incarnation: gone } = await crashed.join()
  await database.query(`update node set state = 'up' where id = $1`, [gone])
  await database.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid::int = $1`,
    [gone],
  )
  const run = await until(async () => {
    const names = await runPending(url, list)
    return names.length > 0 && names
  })
  t.same(run, ['9998-contraction'], 'one that has crashed holds nobody back')
  t.same(await columns(), ['new'])
  t.same(await minimum(), { migration: '9990-not-used-any-more' })
})

t.test('an order to take it away names the nodes that use it, and waits for them', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.query('create table used (old int)')
  const list = [...migrationsList, contraction, expansion]
  const facts = { name: 'old', address: null, version: 'test', weight: 1 }
  const old = new PostgresNodes({ ...facts, db: database, url })
  const { incarnation } = await old.join()
  const done: string[] = []
  let looks = 0
  const contracting = (waitMs: number) =>
    contract({
      run: (heldBack) => {
        looks++
        return runPending(url, list, heldBack)
      },
      waitMs,
      done: (name) => done.push(name),
    })
  const waits = { migration: '9998-contraction', nodes: ['old'] }
  t.same(await contracting(0), [waits])
  t.same(done, ['9999-expansion'], 'what adds need not wait')

  const waiting = contracting(60_000)
  await until(() => looks > 2)
  t.same(done, ['9999-expansion'])
  await old.leave(incarnation)
  t.same(await waiting, [])
  t.same(done, ['9999-expansion', '9998-contraction'])
  t.same(await contracting(0), [], 'and there is nothing left')
})

const migrateCommand = async (databaseUrl: string, ...words: string[]) => {
  const env = { ...process.env, DATABASE_URL: databaseUrl, LOG_LEVEL: 'fatal' }
  const command = ['src/nodes/migrate-command.ts', ...words]
  return promisify(execFile)(process.execPath, command, { env })
}

t.test('chapar migrate --contract ends well where nothing waits', async (t) => {
  const { url, database } = await testDatabase(t)
  const newest = migrationsList.at(-1)?.name ?? ''
  const { stdout } = await migrateCommand(url, '--contract', '--wait', '5')
  t.equal(stdout, 'Nothing is left to do.\n')
  await t.rejects(migrateCommand(url, '--contracts'), {
    code: 2,
    stderr: /usage: .* migrate --contract/,
  })
  await t.rejects(migrateCommand(url, '--contract', '--wait', 'long'), { code: 2 })
  await database.query(`insert into migration (name) values ('9999-from-the-future')`)
  await setMinimum(database, '9998-used-until-then')
  await database.query('delete from migration where name = $1', [newest])
  await t.rejects(
    migrateCommand(url, '--contract'),
    { code: 69, stderr: /^chapar: DATABASE_URL: .*run a newer version.*\n$/ },
    'an older version takes nothing away',
  )
})

t.test('a change of a table lets others pass while it waits for its lock', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.query('create table used (old int)')
  const holder = await database.pool.connect()
  await holder.query('begin')
  await holder.query('select from used')
  const running = runPending(url, [...migrationsList, expansion])
  await until(async () => {
    const rows = await database.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'alter table used%'`,
    )
    return rows.length > 0
  })
  // It stands behind the change, whose wait ends.
  await database.query('insert into used values (1)')
  await holder.query('commit')
  holder.release()
  t.same(await running, ['9999-expansion'])
})

t.test('a migration that takes something away says since when nobody uses it', async (t) => {
  const folder = join(import.meta.dirname, '../../src/database/migrations')
  const takesAway =
    /\b(drop column|drop table (?!%)|rename (column|to)|alter column \w+ (set not null|type))\b/i
  const known = migrationsList.filter(({ name }) => name >= '0125')
  t.ok(known.length > 0)
  for (const { name, contracts } of known) {
    const text = readFileSync(join(folder, `${name}.ts`), 'utf8')
    if (contracts === undefined) t.notMatch(text, takesAway, name)
    else t.ok(contracts.since <= name, name)
  }
})

t.test('ids begin where those of the cell do, and no other cell takes the database', async (t) => {
  const { url, database } = await testDatabase(t)
  const next = async (sequence: string) => {
    const [row] = await database.query<{ id: number }>(`select nextval('${sequence}') as id`)
    return row?.id
  }
  const key = Number(await next('api_key_number'))
  await enterCell(url, 0)
  t.equal(await next('api_key_number'), key + 1, 'the first cell changes nothing')
  await Promise.all([enterCell(url, 7), enterCell(url, 7)])
  t.equal(await next('api_key_number'), 7e12 + key + 2, 'nodes that start at once move it once')
  t.ok(Number(await next('credential_id_seq')) > 7e12)
  await enterCell(url, 7)
  t.equal(await next('api_key_number'), 7e12 + key + 3)
  await t.rejects(enterCell(url, 8), {
    name: 'ForeignCell',
    message: /ids of cell 7, and CELL is 8: set CELL to 7/,
  })
  await t.rejects(enterCell(url, 0), { name: 'ForeignCell' })
  t.equal(await next('api_key_number'), 7e12 + key + 4, 'and a refusal leaves them')
})

t.test('every migration file is listed under its name, in order', async (t) => {
  const names = migrationsList.map(({ name }) => name)
  const files = readdirSync(join(import.meta.dirname, '../../src/database/migrations'))
  const found = files.filter((file) => file !== 'index.ts').map((file) => basename(file, '.ts'))
  t.same(names, found.sort())
  for (const name of names) t.match(name, /^\d{4}-[a-z0-9-]+$/)
})

t.test('records refuse an entity manager that requests would share', async (t) => {
  const { database } = await testDatabase(t)
  const orm = await openOrm(database.pool)
  t.same(await orm.em.fork().execute('select 1 as one'), [{ one: 1 }])
  await t.rejects(orm.em.flush(), { name: 'ValidationError' })
})
