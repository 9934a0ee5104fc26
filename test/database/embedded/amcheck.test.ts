/** The check of the database that ends the kill test finds nothing in a new one, and what was changed behind the server's back. */
import { open } from 'node:fs/promises'
import pg from 'pg'
import t from 'tap'
import { startEmbeddedPostgres } from '../../../src/database/embedded/supervisor.ts'
import { examine } from '../../support/amcheck.ts'
import { embeddedFolder } from '../../support/embedded.ts'
import { quietLogger as logger } from '../../support/logger.ts'

const dir = embeddedFolder(t)
const start = () => startEmbeddedPostgres({ dir, logger })

t.test('damage is found', { timeout: 100_000 }, async (t) => {
  const server = await start()
  const whole = await examine(server.url())
  t.same(whole.damages, [])
  t.ok(whole.indexes > 100, `${whole.indexes} indexes`)

  const client = new pg.Client({ connectionString: server.url() })
  await client.connect()
  await client.query('create table victim (id int primary key, text text)')
  await client.query(
    'insert into victim select n, repeat(md5(n::text), 4) from generate_series(1, 1000) n',
  )
  await client.query('checkpoint')
  const { rows: files } = await client.query<{ path: string }>(
    `select current_setting('data_directory') || '/' || pg_relation_filepath(name::regclass) as path from unnest('{victim, victim_pkey}'::text[]) name`,
  )
  await client.end()
  await server.stop()
  for (const { path } of files) {
    const file = await open(path, 'r+')
    await file.write('damaged', 8_192 + 4_000)
    await file.close()
  }
  const damaged = await start()
  t.teardown(() => damaged.stop())
  const { damages } = await examine(damaged.url())
  t.match(damages.join('\n'), /invalid page in block 1 of relation/)
  t.match(damages.join('\n'), /victim_pkey: invalid page in block 1/)
})
