/** A PostgreSQL server of our own: started, held, and started again on the same port whenever it ends by itself. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../../../actors/ports/ports.ts'
import { concerning } from '../../process/fatal-errors.ts'
import { adopt, type OwnedServer } from './adopt.ts'
import { type Claim, claimServer } from './claim.ts'
import { launch } from './launch.ts'
import { eventually, isAlive, stopServer } from './processes.ts'
import { type EmbeddedOptions, prepare, type Setup } from './setup.ts'

export interface EmbeddedPostgres {
  readonly pid: number
  readonly port: number
  /** Names the database given in the options when left out. */
  url(database?: string): string
  /** Disconnects all clients and waits for the process to end. */
  stop(): Promise<void>
  /** Lets the server run on; the next start takes it over. */
  letGo(): Promise<void>
  /** Settles when the server has ended for any reason, or was released. */
  readonly onExit: Promise<void>
}

const OBTAIN_LIMIT_MS = 30_000

/** Looks for a running server again after each attempt: another process may have been faster. */
async function obtain(setup: Setup): Promise<OwnedServer> {
  const attempt = async () => (await adopt(setup)) ?? (await launch(setup))
  const owned = await eventually(OBTAIN_LIMIT_MS, attempt, 100)
  if (owned === undefined) throw new Error(`PostgreSQL did not start: see ${setup.home.logFile}`)
  return owned
}

async function ensureDatabase({ claim }: OwnedServer, database: string): Promise<void> {
  const found = await claim.client.query('select from pg_database where datname = $1', [database])
  if (found.rowCount === 0) {
    await claim.client.query(`create database ${pg.escapeIdentifier(database)}`)
  }
}

/** A setting of the role or the database would override the command line without a warning. */
async function assertSettings({ claim }: OwnedServer, setup: Setup): Promise<void> {
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

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
/** A server that ran this long was healthy: the next failure is a new one. */
const HEALTHY_MS = 60_000

export interface KeptPostgres {
  url(): string
  /** Undefined while the server is down. */
  pid(): number | undefined
  stop(): Promise<void>
}

/** A failed first start rejects. Later starts are repeated until one succeeds or `stop` is called. */
export async function keepRunning(options: EmbeddedOptions): Promise<KeptPostgres> {
  const { logger } = options
  const first = await concerning('DATA_DIR', startEmbeddedPostgres(options))
  const stopping = new AbortController()
  let server: EmbeddedPostgres | undefined = first

  async function startAgain(): Promise<EmbeddedPostgres | undefined> {
    try {
      return await startEmbeddedPostgres({ ...options, port: first.port })
    } catch (error) {
      logger.error({ error }, 'PostgreSQL could not be started again')
      return undefined
    }
  }

  async function watch(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS
    while (!stopping.signal.aborted) {
      const upSince = performance.now()
      await server?.onExit
      if (stopping.signal.aborted) return
      if (performance.now() - upSince > HEALTHY_MS) pauseMs = FIRST_PAUSE_MS
      server = undefined
      logger.error({ pauseMs }, 'PostgreSQL ended unexpectedly and is started again')
      await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      if (!stopping.signal.aborted) server = await startAgain()
    }
  }

  const watching = watch()
  return {
    url: first.url,
    pid: () => server?.pid,
    async stop() {
      stopping.abort()
      // Waits for a start in progress, because its process would be left behind.
      if (server === undefined) await watching
      await server?.stop()
      await watching
    },
  }
}

const RETRY_MS = 100

interface Hold {
  /** Settles when the server has ended, or when it was released. */
  readonly ended: Promise<void>
  /** Lets the server run on without an owner. */
  letGo(): Promise<void>
  stop(): Promise<void>
}

function hold({ pid, claim }: OwnedServer, url: string, logger: Logger): Hold {
  let held: Claim | undefined = claim
  let wanted = true

  async function claimAgain(): Promise<Claim | undefined> {
    while (wanted && (await isAlive(pid))) {
      try {
        const again = await claimServer(url)
        if (again !== undefined) return again
        logger.error({ pid }, 'another process has claimed the database')
      } catch (error) {
        logger.warn({ pid, error }, 'the database does not answer its owner')
      }
      await pause(RETRY_MS)
    }
    return undefined
  }

  async function untilEnd(): Promise<void> {
    while (held !== undefined) {
      await held.lost
      held = await claimAgain()
      // Who has let go meanwhile knew only the claim before.
      if (!wanted) await held?.release()
    }
  }

  const ended = untilEnd()
  const letGo = async () => {
    wanted = false
    await held?.release()
    await ended
  }
  return {
    ended,
    letGo,
    async stop() {
      await letGo()
      await stopServer(pid)
    },
  }
}
