/** Runs the migrations that the database has no record of. */
import { Migrator } from '@mikro-orm/migrations'
import { defineConfig, MikroORM } from '@mikro-orm/postgresql'
import { migrationsList } from './migrations/index.ts'

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

/** Returns their names. */
export async function runPending(url: string): Promise<string[]> {
  const orm = await MikroORM.init(config(url))
  try {
    const done = await orm.migrator.up()
    return done.map(({ name }) => name)
  } finally {
    await orm.close()
  }
}
