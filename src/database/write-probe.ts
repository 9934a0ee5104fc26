/** A small write on a connection of its own: it does not wait for a pool that is exhausted. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Log } from './log.ts'

/** Below what a readiness check may take. */
const LONGEST_MS = 800

export interface WriteProbe {
  /** Rejects when the database does not take the row in time. */
  write(bytes: number): Promise<void>
  close(): Promise<void>
}

export function openWriteProbe({
  url,
  node,
  log,
}: {
  readonly url: string
  readonly node: string
  readonly log: Log
}): WriteProbe {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'chapar probe',
    max: 1,
    connectionTimeoutMillis: LONGEST_MS,
    query_timeout: LONGEST_MS,
    statement_timeout: LONGEST_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  })
  pool.on('connect', (client) => client.on('error', () => undefined))
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))
  return {
    async write(bytes) {
      await pool.query(
        `insert into write_probe (node, at, padding) values ($1, now(), $2)
         on conflict (node) do update set at = excluded.at, padding = excluded.padding`,
        [node, bytes > 0 ? randomBytes(bytes) : null],
      )
    },
    close: () => pool.end(),
  }
}
