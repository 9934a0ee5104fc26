/** The PostgreSQL server that all test files share, found running or started. */
import { realpath, rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { DatabaseInUse } from '../../src/database/embedded/adopt.ts'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/database/embedded/supervisor.ts'
import { quietLogger } from './logger.ts'
import { lastingFolder } from './memory.ts'

const dir = lastingFolder('test-postgres')
const attempts = 10

export interface TestServer {
  /** While it is open, nobody stops the server. */
  readonly client: pg.Client
  url(database: string): string
}

/** Durability is what the kill test looks at, with a server of its own; here it only costs time. */
const startOnce = () =>
  startEmbeddedPostgres({
    dir,
    database: 'postgres',
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      max_connections: '600',
      max_wal_size: '128MB',
      min_wal_size: '32MB',
    },
    logger: quietLogger,
  })

/** Other runs have all its connections: it is well, and has room later. */
const isFull = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && error.code === '53300') || isFull(error.cause))

async function start(): Promise<EmbeddedPostgres> {
  for (let left = attempts; ; left--) {
    try {
      return await startOnce()
    } catch (error) {
      if (left === 0) throw error
      if (error instanceof DatabaseInUse) continue
      if (isFull(error)) {
        await pause(1_000)
        continue
      }
      // Without fsync a crash of the machine may have damaged it, and nothing in it is of value.
      await rm(await realpath(dir).catch(() => dir), { recursive: true, force: true })
    }
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'chapar test' })
  await client.connect()
  return client
}

interface Membership {
  readonly url: TestServer['url']
  leave(): Promise<void>
}

let joined: Promise<Membership> | undefined

/** Looks for the server once in a process, and stays connected so that nobody stops it. */
async function join(): Promise<Membership> {
  const server = await start()
  const connectionString = server.url()
  // One connection, which does not keep the process alive.
  const pool = new pg.Pool({
    connectionString,
    application_name: 'chapar test',
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  })
  pool.on('error', () => {
    joined = undefined
  })
  await pool.query('select')
  await server.letGo()
  const leave = async () => {
    const client = await pool.connect()
    client.release(true)
    await pool.end()
  }
  return { url: server.url, leave }
}

export async function joinTestServer(): Promise<TestServer> {
  const given = process.env.DATABASE_URL
  if (given !== undefined) {
    const url = (database: string) => Object.assign(new URL(given), { pathname: database }).href
    return { client: await connect(given), url }
  }
  joined ??= join()
  const { url } = await joined
  return { client: await connect(url('postgres')), url }
}

const leftovers = `select datname from pg_database
  where datname like 'chapar\\_test\\_%' or datname like 'chapar\\_template\\_%'
    and oid < (select max(oid) from pg_database where datname like 'chapar\\_template\\_%')`
const otherClients = `select from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid()
    and application_name <> 'chapar owner'`

/** Stops the server unless another run uses it. A server that was given is left alone. */
export async function leaveTestServer(): Promise<void> {
  if (process.env.DATABASE_URL !== undefined) return
  const membership = joined
  joined = undefined
  await (await membership)?.leave()
  let server: EmbeddedPostgres
  try {
    server = await startOnce()
  } catch (error) {
    if (error instanceof DatabaseInUse) return
    throw error
  }
  const client = await connect(server.url())
  const others = await client.query(otherClients)
  if (others.rowCount === 0) {
    for (const { datname } of (await client.query(leftovers)).rows) {
      await client.query(`drop database ${pg.escapeIdentifier(datname)} with (force)`)
    }
  }
  await client.end()
  await (others.rowCount === 0 ? server.stop() : server.letGo())
}
