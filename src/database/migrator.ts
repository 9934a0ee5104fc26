/** Runs the migrations that the database has no record of, beside nodes that serve it. */
import { setTimeout as pause } from 'node:timers/promises'
import { Migrator } from '@mikro-orm/migrations'
import { defineConfig, MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import { NODE_LOCK_CLASS } from './database.ts'
import { migrationsList, type NamedMigration } from './migrations/index.ts'

/** Queries of other nodes queue up behind a change of a table that waits for its lock: it waits no longer than this. */
const LOCK_WAIT_MS = 1_000
const AGAIN_AFTER_MS = 1_000
const MOST_TRIES = 150
const LOCK_NOT_AVAILABLE = '55P03'

const config = (url: string, list: readonly NamedMigration[]) =>
  defineConfig({
    clientUrl: url,
    entities: [],
    extensions: [Migrator],
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: 1 },
    driverOptions: {
      application_name: 'chapar migrations',
      connectionTimeoutMillis: 5_000,
      options: `-c lock_timeout=${LOCK_WAIT_MS}`,
    },
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

/** A migration that takes something away, and the names of the nodes that use it and are up. */
export interface WaitingMigration {
  readonly migration: string
  readonly nodes: readonly string[]
}

export type HeldBack = (waiting: WaitingMigration) => void

/** Returns their names. Migrations that would harm nodes that are up wait for a later call; `heldBack` is called with each. */
export async function runPending(
  url: string,
  list = migrationsList,
  heldBack?: HeldBack,
): Promise<string[]> {
  const orm = await MikroORM.init(config(url, list))
  try {
    const done: string[] = []
    const pending = new Set((await orm.migrator.getPending()).map(({ name }) => name))
    for (const { migrations, since } of stepsOf(list.filter(({ name }) => pending.has(name)))) {
      const nodes = since === undefined ? [] : await holdersBack(url, since)
      if (nodes.length > 0) {
        for (const migration of migrations) heldBack?.({ migration, nodes })
        continue
      }
      done.push(...(await patiently(() => orm.migrator.up({ migrations }))))
    }
    return done
  } finally {
    await orm.close()
  }
}

interface Step {
  readonly migrations: string[]
  /** Only for a migration that takes something away, which is a step of its own. */
  readonly since?: string
}

function stepsOf(list: readonly NamedMigration[]): Step[] {
  const steps: Step[] = []
  for (const { name, contracts } of list) {
    const last = steps.at(-1)
    if (contracts) steps.push({ migrations: [name], since: contracts.since })
    else if (last && last.since === undefined) last.migrations.push(name)
    else steps.push({ migrations: [name] })
  }
  return steps
}

/** Tries again while a lock cannot be had. Migrations that were run before have their record and are not run again. */
async function patiently(run: () => Promise<{ readonly name: string }[]>): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    try {
      return (await run()).map(({ name }) => name)
    } catch (cause) {
      if (tries === MOST_TRIES || !isOfLock(cause)) throw cause
      await pause(AGAIN_AFTER_MS)
    }
  }
}

/** The migrator wraps what the database says. */
function isOfLock(cause: unknown): boolean {
  for (let one = cause; one instanceof Error; one = one.cause) {
    if ('code' in one && one.code === LOCK_NOT_AVAILABLE) return true
  }
  return false
}

/**
 * The names of nodes that are up and do not know the migration `since`. Where there are none, no such node joins any more:
 * joining looks at the minimum under the same lock.
 */
async function holdersBack(url: string, since: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {
    // The statement that finds the connection lost rejects.
  })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1, 0)', [NODE_LOCK_CLASS])
    const { rows } = await client.query<{ name: string }>(
      `select n.name from node n where n.ended_at is null and n.schema < $1
          and (n.state = 'joining' or n.id in (
            select l.objid::int from pg_locks l where l.locktype = 'advisory' and l.classid = $2
               and l.objsubid = 2 and l.granted
               and l.database = (select oid from pg_database where datname = current_database())))
        order by n.id`,
      [since, NODE_LOCK_CLASS],
    )
    if (rows.length === 0) {
      await client.query('update schema_minimum set migration = greatest(migration, $1)', [since])
    }
    await client.query('commit')
    return rows.map(({ name }) => name)
  } finally {
    await client.end()
  }
}
