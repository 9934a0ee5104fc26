/** Brings the schema up to date; of several nodes starting at once, one does it. */
import { Migrator } from '@mikro-orm/migrations'
import { defineConfig, MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import { migrationsList } from './migrations/index.ts'

/** Any constant will do, as long as every version of the service uses the same. */
const lockKey = 0x6d696772

/** How long a node waits for another one's migrations. */
const lockWait = '5min'

const config = (url: string) =>
  defineConfig({
    clientUrl: url,
    entities: [],
    extensions: [Migrator],
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: 1 },
    driverOptions: { application_name: 'chapar migrations', connectionTimeoutMillis: 5_000 },
    migrations: {
      migrationsList: [...migrationsList],
      tableName: 'migration',
      transactional: true,
      allOrNothing: false,
      disableForeignKeys: false,
      snapshot: false,
      silent: true,
    },
  })

async function runPending(url: string): Promise<string[]> {
  const orm = await MikroORM.init(config(url))
  try {
    const done = await orm.migrator.up()
    return done.map(({ name }) => name)
  } finally {
    await orm.close()
  }
}

/** Returns the names of the migrations that were run. */
export async function migrate(url: string): Promise<string[]> {
  const lock = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  lock.on('error', () => {
    // Migrations go on without the lock: each commits with its own record, so none is run twice.
  })
  await lock.connect()
  try {
    await lock.query(`set lock_timeout = '${lockWait}'`)
    await lock.query('select pg_advisory_lock($1)', [lockKey])
    return await runPending(url)
  } finally {
    await lock.end()
  }
}
