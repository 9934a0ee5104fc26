/** Whether the database takes writes: the outcome of the latest commits, and small writes on a connection of its own. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Logger, Storage } from '../../actors/ports/ports.ts'
import { PatientClient, type Queryable } from './database.ts'
import { databaseFailure } from './failures.ts'

/** Shorter than the time limit of a readiness check. */
const LONGEST_MS = 800

interface WriteProbe {
  /** Rejects when the database does not take the row in time. */
  write(bytes: number): Promise<void>
  close(): Promise<void>
}

export function openWriteProbe({
  url,
  node,
  logger,
}: {
  readonly url: string
  readonly node: string
  readonly logger: Logger
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
    Client: PatientClient,
  })
  pool.on('connect', (client) => client.on('error', () => undefined))
  pool.on('error', (err) => {
    // The server may end a connection that is being closed.
    if (!pool.ending) logger.warn({ err }, 'an idle database connection was lost')
  })
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

/** Many a node never comes back by its name: each container has another one. */
const DAYS_KEPT = 1

export async function forgetProbes(db: Queryable): Promise<void> {
  await db.query(`delete from write_probe where at < now() - interval '${DAYS_KEPT} days'`)
}

interface WriteWatchOptions {
  /** Writes a row that needs room for so many bytes; rejects when the database does not take it in time. */
  probe(bytes: number): Promise<void>
  readonly logger: Pick<Logger, 'warn' | 'info'>
  readonly now?: () => number
}

/** The last success proves nothing for longer than this. */
const FRESH_MS = 1_000
const FIRST_PROBE_AGAIN_MS = 50
const LAST_PROBE_AGAIN_MS = 500
/** A full disk often has room for one small row; after a failure the probe asks for more than a page has left. */
const ROOM_BYTES = 65_536
/** Commits are retried within a second, and one may wait for locks for two. */
const STILL_FAILING_MS = 4_000
/** A statement whose connection was lost may still be carried out within this time: it may wait for locks for two seconds. */
export const LATE_WRITES_MS = 2_500

export class WriteWatch implements Storage {
  readonly #probe: WriteWatchOptions['probe']
  readonly #logger: WriteWatchOptions['logger']
  readonly #now: () => number
  #workedAt = Number.NEGATIVE_INFINITY
  /** Why the latest write failed; undefined once a write has worked since. */
  #cause: unknown
  #isSuspected = false
  /** The last probe failed as well: callers should not try before a probe has succeeded. */
  #isDown = false
  readonly #closing = new AbortController()
  /** Commits of updates that failed in a row. */
  #failedCommits = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #probing: Promise<boolean> | undefined
  readonly #waiting = new Set<() => void>()
  readonly #recoveries = new Set<() => void>()

  constructor({ probe, logger, now = Date.now }: WriteWatchOptions) {
    this.#probe = probe
    this.#logger = logger
    this.#now = now
  }

  /** Updates were committed. */
  committed(): void {
    this.#failedCommits = 0
    this.#workedAgain()
  }

  /** A commit of updates failed for a reason other than the updates themselves. */
  notCommitted(cause: unknown): void {
    this.#failedCommits++
    this.#failedAt = this.#now()
    this.suspect(cause)
  }

  /** Some statement failed because the database is unavailable. */
  suspect(cause: unknown): void {
    this.#cause = cause
    if (this.#isSuspected || this.#closing.signal.aborted) return
    this.#isSuspected = true
    void this.#findOut()
  }

  recovered(atMostMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      // Further tries during an outage would only add load.
      if (!this.#isDown) done()
    }, atMostMs)
    const done = () => {
      clearTimeout(timer)
      this.#waiting.delete(done)
      resolve()
    }
    this.#waiting.add(done)
    return promise
  }

  /** Why no write succeeds, in words for an operator; null while writes succeed. */
  async trouble(): Promise<string | null> {
    const isRetried = this.#now() - this.#failedAt < STILL_FAILING_MS
    if (this.#failedCommits > 1 && isRetried) return databaseFailure(this.#cause).description
    if (!this.#isSuspected && this.#now() - this.#workedAt < FRESH_MS) return null
    return (await this.#try()) ? null : databaseFailure(this.#cause).description
  }

  /**
   * Calls back after each trouble, and once more a moment later: the outcome of what failed in it may be unknown, or
   * may still come.
   */
  onRecovery(listener: () => void): void {
    this.#recoveries.add(listener)
  }

  /** Resumes all waiting callers. */
  close(): void {
    this.#closing.abort()
    this.#isDown = false
    this.#wake()
  }

  async #findOut(): Promise<void> {
    let wait = FIRST_PROBE_AGAIN_MS
    const { signal } = this.#closing
    while (this.#isSuspected && !signal.aborted && !(await this.#try())) {
      await pause(wait, undefined, { signal }).catch(() => undefined)
      wait = Math.min(2 * wait, LAST_PROBE_AGAIN_MS)
    }
  }

  /** Concurrent callers share one probe. */
  #try(): Promise<boolean> {
    this.#probing ??= this.#probe(this.#isSuspected ? ROOM_BYTES : 0)
      .then(
        () => {
          if (this.#isDown) this.#workedAgain()
          else this.#workedNow()
          return true
        },
        (cause) => {
          if (!this.#isDown) this.#logger.warn({ err: cause }, 'the database takes no writes')
          this.#isDown = true
          this.suspect(cause)
          return false
        },
      )
      .finally(() => {
        this.#probing = undefined
      })
    return this.#probing
  }

  #workedAgain(): void {
    if (this.#isDown) this.#logger.info({}, 'the database takes writes again')
    this.#isDown = false
    this.#workedNow()
    this.#wake()
  }

  #workedNow(): void {
    this.#workedAt = this.#now()
    if (!this.#isSuspected) return
    this.#isSuspected = false
    const tell = () => {
      if (this.#closing.signal.aborted) return
      for (const listener of this.#recoveries) listener()
    }
    tell()
    // A little more than that: what was in doubt until just now is then out of it.
    setTimeout(tell, LATE_WRITES_MS * 1.1).unref()
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done()
  }
}

/** Longer than any process keeps rows of which it does not know whether they are stored. */
const MARKS_KEPT = '30 days'

export async function forgetMarks(db: Queryable): Promise<void> {
  await db.query(`delete from write_mark where at < now() - interval '${MARKS_KEPT}'`)
}
