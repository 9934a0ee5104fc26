/** Migrations: run once, in order, also by nodes that start at the same moment. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { openOrm } from '../../src/database/database.ts'
import { enterCell, migrate } from '../../src/database/migrate.ts'
import { migrationsList } from '../../src/database/migrations/index.ts'
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

t.test('a database that a newer version has used is left alone', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.query(`insert into migration (name) values ('9999-from-the-future')`)
  await t.rejects(migrate(url), {
    name: 'DatabaseIsNewer',
    message: /a newer version .*9999-from-the-future.*restore a backup/,
  })
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
