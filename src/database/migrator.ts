/** Runs the migrations that the database has no record of. */
import { Migrator } from '@mikro-orm/migrations'
import { defineConfig, MikroORM } from '@mikro-orm/postgresql'
import { migrationsList, type NamedMigration } from './migrations/index.ts'

const config = (url: string, list: readonly NamedMigration[]) =>
  defineConfig({
    clientUrl: url,
    entities: [],
    extensions: [Migrator],
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: 1 },
    driverOptions: { application_name: 'chapar migrations', connectionTimeoutMillis: 5_000 },
    migrations: {
      migrationsList: [...list],
      tableName: 'migration',
      transactional: true,
      allOrNothing: false,
      disableForeignKeys: false,
      snapshot: false,
      silent: true,
    },
  })

/** Returns their names. */
export async function runPending(url: string, list = migrationsList): Promise<string[]> {
  const orm = await MikroORM.init(config(url, list))
  try {
    const done = await orm.migrator.up()
    return done.map(({ name }) => name)
  } finally {
    await orm.close()
  }
}
