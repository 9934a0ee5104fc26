/** What one benchmark runs on: a migrated database of its own on a durable Postgres, and a folder for the service. */
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
  note(text: string): void
}

export interface Theatre {
  /** Runs `play` on a fresh stage, which is taken down afterwards. */
  perform<Result>(name: string, play: (stage: Stage) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

const logger = createLogger({ level: 'error' })

/** Dropping a database ends connections that are about to end by themselves. */
const ended = (err: Error) => logger.debug({ err }, 'a connection was ended')

export async function openTheatre(note: (text: string) => void): Promise<Theatre> {
  await mkdir(dataDir, { recursive: true })
  const server = await startEmbeddedPostgres({ dir: join(dataDir, 'postgres'), logger })
  const admin = new pg.Pool({ connectionString: server.url('postgres'), max: 1 })
  admin.on('error', ended)
  return {
    async perform(name, play) {
      const database = `bench_${name}`
      const ownDir = join(dataDir, name)
      await rm(ownDir, { recursive: true, force: true })
      await admin.query(`drop database if exists ${database} with (force)`)
      await admin.query(`create database ${database}`)
      const databaseUrl = server.url(database)
      await migrate(databaseUrl)
      const db = openDatabase({ url: databaseUrl, logger })
      const sql = new pg.Pool({ connectionString: databaseUrl, max: 4, types })
      sql.on('error', ended)
      try {
        const vault = await openVault({ db, keyFile: join(ownDir, 'keys'), logger })
        return await play({ databaseUrl, db, sql, vault, dataDir: ownDir, note })
      } finally {
        await db.close()
        await sql.end()
        await admin.query(`drop database ${database} with (force)`)
        await rm(ownDir, { recursive: true, force: true })
      }
    },
    async close() {
      await admin.end()
      await server.stop()
    },
  }
}
