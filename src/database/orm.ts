/** MikroORM for the record tables: rows that are read and written one at a time. */
import { defineConfig, MikroORM } from '@mikro-orm/postgresql'
import { PostgresDialect } from 'kysely'
import type pg from 'pg'
import { entities } from './entities.ts'

/** It borrows connections from the pool of plain SQL, which outlives it. Fork the entity manager for each use. */
export function openOrm(pool: pg.Pool): MikroORM {
  const borrowed = {
    connect: () => pool.connect(),
    end: async () => undefined,
    options: pool.options,
  }
  return new MikroORM(
    defineConfig({
      entities: [...entities],
      // Required, although only the pool knows how to connect.
      dbName: '-',
      driverOptions: new PostgresDialect({ pool: borrowed }),
      allowGlobalContext: false,
      // Otherwise it looks for the database of that name and makes it, which a plain role may not.
      ensureDatabase: false,
    }),
  )
}
