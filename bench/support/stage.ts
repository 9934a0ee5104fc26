/** Prepares what one benchmark runs on: a migrated database of its own on a durable Postgres, and a folder for the service. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type Database, openDatabase, types } from '../../src/database/database.ts'
import { startEmbeddedPostgres } from '../../src/database/embedded/supervisor.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { openVault, type Vault } from '../../src/security/vault.ts'

export const dataDir = join(import.meta.dirname, '../../data/bench')

export interface Stage {
  readonly databaseUrl: string
  /** As the service uses it. */
  readonly db: Database
  /** Without limits, for seeding. */
  readonly sql: pg.Pool
  readonly vault: Vault
  /** Shared by the service, which finds the keys of the vault there. */
  readonly dataDir: string
  readonly options: Options
  /** The rows that an earlier run of today has seeded are there. */
  readonly isSeeded: boolean
  note(text: string): void
  /** Another stage of the same server, beside this one. */
  readonly perform: Theatre['perform']
}

export interface Options {
  /** Print the plans of all statements that the benchmark compares. */
  readonly plans: boolean
  /** Keep the database for the next run of the same benchmark on the same day. */
  readonly keep: boolean
  /** Numbers of accounts, for benchmarks of many of them. */
  readonly sizes: readonly number[]
  /** For these, the only network that they look at. */
  readonly network?: string | undefined
  /** They are started a first time, and no second one. */
  readonly once: boolean
  /** Another checkout of the project, to compare with. */
  readonly tree?: string | undefined
  /** Names of the loads to measure, of benchmarks with several. */
  readonly loads?: string | undefined
  /** Options of Node.js to compare with. */
  readonly node?: string | undefined
}

export interface Theatre {
  /** Runs `play` on a fresh stage, which is taken down afterwards unless it is kept. */
  perform<Result>(name: string, play: (stage: Stage) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** Without `--loads` a benchmark measures all of its loads. */
export const asksFor = ({ options: { loads } }: Stage, load: string): boolean =>
  loads === undefined || loads.split(',').includes(load)

const logger = createLogger({ level: 'error' })

/** Dropping a database ends connections that are about to end by themselves. */
const ended = (err: Error) => logger.debug({ err }, 'a connection was ended')

export async function openTheatre(
  note: (text: string) => void,
  options: Options,
): Promise<Theatre> {
  await mkdir(dataDir, { recursive: true })
  const server = await startEmbeddedPostgres({ dir: join(dataDir, 'postgres'), logger })
  const admin = new pg.Pool({ connectionString: server.url('postgres'), max: 1 })
  admin.on('error', ended)
  const theatre: Theatre = {
    async perform(name, play) {
      const database = `bench_${name}`
      const ownDir = join(dataDir, name)
      const isSeeded = options.keep && (await takeMark(admin, database))
      if (!isSeeded) {
        await rm(ownDir, { recursive: true, force: true })
        await admin.query(`drop database if exists ${database} with (force)`)
        await admin.query(`create database ${database}`)
      }
      const databaseUrl = server.url(database)
      await migrate(databaseUrl)
      const db = openDatabase({ url: databaseUrl, logger })
      const sql = new pg.Pool({ connectionString: databaseUrl, max: 4, types })
      sql.on('error', ended)
      let isWhole = false
      try {
        const vault = await openVault({ db, keyFile: join(ownDir, 'keys'), logger })
        const dir = { dataDir: ownDir, options, isSeeded, perform: theatre.perform }
        const result = await play({ databaseUrl, db, sql, vault, ...dir, note })
        isWhole = true
        return result
      } finally {
        await db.close()
        await sql.end()
        if (isWhole && options.keep) await mark(admin, database)
        else {
          await admin.query(`drop database ${database} with (force)`)
          await rm(ownDir, { recursive: true, force: true })
        }
      }
    },
    async close() {
      await admin.end()
      await server.stop()
    },
  }
  return theatre
}

/** Removes all users and nodes with all that is theirs, also the audit log, whose rows the service cannot remove. */
export async function empty(sql: pg.Pool): Promise<void> {
  await sql.query(`begin; set local session_replication_role = replica;
    truncate app_user, node cascade; commit`)
}

/** Seeded rows are as old as their day: the logs have a partition for each day. */
const today = () => new Date().toISOString().slice(0, 10)

/** Removes the mark, so that a run that breaks off leaves nothing that the next one would trust. */
async function takeMark(admin: pg.Pool, database: string): Promise<boolean> {
  const { rows } = await admin.query(
    `select shobj_description(oid, 'pg_database') as mark from pg_database where datname = $1`,
    [database],
  )
  if (rows[0]?.mark !== today()) return false
  await admin.query(`comment on database ${database} is null`)
  return true
}

const mark = (admin: pg.Pool, database: string) =>
  admin.query(`comment on database ${database} is '${today()}'`)
