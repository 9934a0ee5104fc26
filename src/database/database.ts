/** The way to PostgreSQL for plain SQL: a bounded pool, short statements, short transactions. */
import pg from 'pg'
import { failed, RequestFailed } from '../../machines/model/failure.ts'
import { types } from './int8.ts'
import type { Log } from './log.ts'
import { inTransaction } from './transaction.ts'
import { isUnavailable, whyUnavailable } from './unavailable.ts'

/** Named text is parsed and planned once a connection: worth it for the hot paths. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export interface Queryable {
  query<Row extends object>(
    statement: string | Statement,
    values?: readonly unknown[],
  ): Promise<Row[]>
}

export interface Database extends Queryable {
  readonly pool: pg.Pool
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly url: string
  readonly log: Log
  readonly maxConnections?: number
  /** Called when a statement fails because the database is unavailable. */
  readonly onUnavailable?: (cause: unknown) => void
}

const limits = {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 3_000,
  // The server enforces the limits above; this one is for a server that has fallen silent.
  query_timeout: 8_000,
  idleTimeoutMillis: 30_000,
  keepAlive: true,
}

/** The statement that is under way or comes next fails of it; without a listener the process would end. */
const toldByTheNextStatement = () => undefined

/** A database that is away is no defect of the request: the caller is told when to come back. */
const explainer =
  (onUnavailable: (cause: unknown) => void = () => undefined) =>
  (error: unknown): never => {
    if (error instanceof RequestFailed || !isUnavailable(error)) throw error
    onUnavailable(error)
    const retry = { retryAfterSeconds: 1 }
    throw failed('unavailable', whyUnavailable(error), retry, { cause: error })
  }

export const queryableOn = (target: pg.Pool | pg.PoolClient, explain = explainer()): Queryable => ({
  async query<Row extends object>(statement: string | Statement, values: readonly unknown[] = []) {
    const named = typeof statement === 'string' ? { text: statement } : statement
    const result = await target.query<Row>({ ...named, values: [...values] }).catch(explain)
    return result.rows
  },
})

export function openDatabase(options: DatabaseOptions): Database {
  const { url, log, maxConnections = 20, onUnavailable } = options
  const explain = explainer(onUnavailable)
  const pool = new pg.Pool({
    ...limits,
    connectionString: url,
    application_name: 'chapar',
    max: maxConnections,
    types,
  })
  // While a connection is lent, and until its borrower has it, the pool itself does not listen to it.
  pool.on('connect', (client) => client.on('error', toldByTheNextStatement))
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))
  return {
    pool,
    ...queryableOn(pool, explain),
    transaction: (work) =>
      inTransaction(pool, (client) => work(queryableOn(client, explain))).catch(explain),
    close: () => pool.end(),
  }
}
