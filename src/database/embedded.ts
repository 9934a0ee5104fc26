/** A PostgreSQL server of our own, from the binaries that npm installed. */
import pg from 'pg'
import { adopt, type Owned } from './embedded/adopt.ts'
import { hold } from './embedded/hold.ts'
import { launch } from './embedded/launch.ts'
import { eventually } from './embedded/processes.ts'
import { type EmbeddedOptions, prepare, type Setup } from './embedded/setup.ts'

export { DatabaseInUse } from './embedded/adopt.ts'
export type { EmbeddedOptions } from './embedded/setup.ts'

export interface EmbeddedPostgres {
  readonly pid: number
  readonly port: number
  /** Names the database given in the options when left out. */
  url(database?: string): string
  /** Disconnects everybody and waits for the process to end. */
  stop(): Promise<void>
  /** Lets the server run on; the next start takes it over. */
  letGo(): Promise<void>
  /** Settles when the server is gone, whoever ended it, or was let go. */
  readonly onExit: Promise<void>
}

const obtainLimitMs = 30_000

/** Looks for a running server again after each attempt: another process may have been faster. */
async function obtain(setup: Setup): Promise<Owned> {
  const attempt = async () => (await adopt(setup)) ?? (await launch(setup))
  const owned = await eventually(obtainLimitMs, attempt, 100)
  if (owned === undefined) throw new Error(`PostgreSQL did not start: see ${setup.home.logFile}`)
  return owned
}

async function ensureDatabase({ claim }: Owned, database: string): Promise<void> {
  const found = await claim.client.query('select from pg_database where datname = $1', [database])
  if (found.rowCount === 0) {
    await claim.client.query(`create database ${pg.escapeIdentifier(database)}`)
  }
}

/** A setting of the role or the database would silently win over the command line. */
async function assertSettings({ claim }: Owned, setup: Setup): Promise<void> {
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    const { rows } = await claim.client.query('select current_setting($1) as value', [name])
    if (rows[0]?.value !== setup.settings[name]) {
      throw new Error(`PostgreSQL runs with ${name} = ${rows[0]?.value}, a commit may be lost`)
    }
  }
}

export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const setup = await prepare(options)
  const owned = await obtain(setup)
  const url = (database = setup.database) => setup.url(owned.port, database)
  const held = hold(owned, url('postgres'), options.logger)
  try {
    await assertSettings(owned, setup)
    await ensureDatabase(owned, setup.database)
  } catch (error) {
    await held.stop()
    throw error
  }
  options.logger.info({ pid: owned.pid, port: owned.port }, 'PostgreSQL is up')
  return {
    pid: owned.pid,
    port: owned.port,
    url,
    stop: held.stop,
    letGo: held.letGo,
    onExit: held.ended,
  }
}
