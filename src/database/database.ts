/** Access to PostgreSQL: one bounded pool for plain SQL and for MikroORM, short statements, short transactions. */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import type { PostgresPoolClient } from 'kysely'
import pg from 'pg'
import type { Logger } from '../../actors/ports/ports.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { databaseFailure, isUnavailable, mayBeDone, mayBeOneRow } from './failures.ts'

/** The types' object ids in every Postgres; pg names no arrays. */
const INT8_ARRAY = 1016
const TEXT_ARRAY = 1009

type Nested<Value> = readonly (Value | null | Nested<Value>)[]

const parseTexts: (text: string) => Nested<string> = pg.types.getTypeParser(
  TEXT_ARRAY as never,
  'text',
)

function parseInt8(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`bigint out of range: ${text}`)
  return number
}

const parseInt8Array = (text: string): Nested<number> => numbersIn(parseTexts(text))

const numbersIn = (texts: Nested<string>): Nested<number> =>
  texts.map((item) => {
    if (item === null) return null
    return typeof item === 'string' ? parseInt8(item) : numbersIn(item)
  })

/** The class of the locks that nodes hold while they run; the other half of a lock's key is the incarnation. Every version has the same. */
export const NODE_LOCK_CLASS = 0x6e6f6465

/** Everything else is read as pg does by default: timestamptz as Date, jsonb parsed. */
export const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format) {
    if (format !== 'binary') {
      if (oid === pg.types.builtins.INT8) return parseInt8
      if (oid === INT8_ARRAY) return parseInt8Array
    }
    return pg.types.getTypeParser(oid as never, format as 'text')
  },
}

/** An entity manager, for code outside this folder. */
export type Records = EntityManager

/** Named text is parsed and planned once a connection: worth it for the hot paths. */
export interface Statement {
  readonly name: string
  readonly text: string
  /** Rows are lists in the order of the columns: cheaper than objects where a statement returns many. */
  readonly rowMode?: 'array'
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
  /** Reads or writes rows of the record tables with an entity manager that nothing else uses. */
  records<T>(work: (em: EntityManager) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface DatabaseOptions {
  readonly url: string
  readonly logger: Logger
  readonly maxConnections?: number
  /** Called when a statement fails because the database is unavailable. */
  readonly onUnavailable?: (cause: unknown) => void
}

const limits = {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 3_000,
  // The server enforces the limits above. This one applies when the server does not answer at all.
  query_timeout: 8_000,
  idleTimeoutMillis: 30_000,
  keepAlive: true,
}

/** The current or the next statement on the connection reports the error. Without a listener the process would end. */
const reportedByStatement = () => undefined

type Explain = (error: unknown) => never

/**
 * Turn the error of an unavailable database into an answer that says when to try again. `maybeDone` is for what commits by
 * itself: it may have been carried out.
 */
function explainers(onUnavailable: (cause: unknown) => void = () => undefined) {
  const explain = (error: unknown, certainty: { readonly certain?: false }): never => {
    if (error instanceof RequestFailed || !isUnavailable(error)) throw error
    onUnavailable(error)
    throw new RequestFailed({ ...databaseFailure(error), ...certainty }, { cause: error })
  }
  const notDone: Explain = (error) => explain(error, {})
  const maybeDone: Explain = (error) => explain(error, mayBeDone(error) ? { certain: false } : {})
  return { notDone, maybeDone }
}

/** A plain `select` of ours may be repeated. */
const onlyReads = (text: string) => /^\s*select\b/i.test(text)

/** A migration has changed a column's type since the connection planned the statement: it was refused before it began, as it would be each time. */
const isPlanStale = (error: unknown) =>
  error instanceof pg.DatabaseError && error.routine === 'RevalidateCachedQuery'
const unnamed = { name: '' }

const queryableOn = (
  target: pg.Pool | pg.ClientBase,
  { notDone, maybeDone }: ReturnType<typeof explainers> = explainers(),
): Queryable => ({
  async query<Row extends object>(statement: string | Statement, values: readonly unknown[] = []) {
    const named = typeof statement === 'string' ? { text: statement } : statement
    const explain = onlyReads(named.text) ? notDone : maybeDone
    const send = (name = {}) => target.query<Row>({ ...named, ...name, values: [...values] })
    const result = await send().catch((error) =>
      target instanceof pg.Pool && isPlanStale(error)
        ? send(unnamed).catch(explain)
        : explain(error),
    )
    return result.rows
  },
})

type Send = (...sent: unknown[]) => Promise<unknown> | undefined

/**
 * Breaks off a connection whose server does not answer within `query_timeout`. After a pause of the process its timers come
 * before what arrived meanwhile, so the time is over only once that was read: pg's own would give up a living connection.
 */
export class PatientClient extends pg.Client {
  constructor({ query_timeout, ...config }: pg.ClientConfig = {}) {
    super(config)
    const send = (...sent: unknown[]) => (super.query as Send).apply(this, sent)
    const query = (...sent: unknown[]) => {
      if (!query_timeout) return send(...sent)
      const answered = this.#expect(query_timeout)
      const callback = sent.at(-1)
      if (typeof callback === 'function') {
        const tell = (...answer: readonly unknown[]) => {
          answered()
          callback(...answer)
        }
        return send(...sent.slice(0, -1), (...answer: readonly unknown[]) => {
          if (answer[0] && mayBeOneRow(answer[0])) this.#undone(() => tell(...answer))
          else tell(...answer)
        })
      }
      const answer = send(...sent)
      // What is no promise, such as a cursor, has no limit.
      Promise.resolve(answer).then(answered, answered)
      return answer
    }
    this.query = query as typeof this.query
  }

  /** The server tells of a failure first, and then gives back what the statement has locked: whoever looks at once would still meet it. */
  #undone(goOn: () => void) {
    const { connection } = this
    const ready = () => {
      connection.off('readyForQuery', ready).off('end', ready)
      goOn()
    }
    connection.on('readyForQuery', ready).on('end', ready)
  }

  /** Returns what to call with the answer. */
  #expect(takesMs: number): () => void {
    let timer: NodeJS.Timeout | undefined
    const wait = () => {
      timer = setTimeout(() => {
        const socket = this.connection.stream as Socket
        const { bytesRead } = socket
        setImmediate(() => {
          if (!timer) return
          // The rest of a long answer comes next.
          if (socket.bytesRead > bytesRead) wait()
          else socket.destroy(new Error('Query read timeout'))
        })
      }, takesMs)
    }
    wait()
    return () => {
      clearTimeout(timer)
      timer = undefined
    }
  }
}

export function openDatabase(options: DatabaseOptions): Database {
  const { url, logger, maxConnections = 20, onUnavailable } = options
  const { notDone, maybeDone } = explainers(onUnavailable)
  const pool = new pg.Pool({
    ...limits,
    connectionString: url,
    application_name: 'chapar',
    max: maxConnections,
    types,
    Client: PatientClient,
  })
  // The pool does not listen to a connection while it is borrowed.
  pool.on('connect', (client) => client.on('error', reportedByStatement))
  pool.on('error', (err) => {
    // The server may end a connection that is being closed.
    if (!pool.ending) logger.warn({ err }, 'an idle database connection was lost')
  })
  let orm: Promise<MikroORM> | undefined
  return {
    pool,
    ...queryableOn(pool, explainers(onUnavailable)),
    transaction: (work) =>
      inTransaction(
        pool,
        (client) => work(queryableOn(client, { notDone, maybeDone: notDone })),
        maybeDone,
      ).catch(notDone),
    records: async (work) => {
      orm ??= openOrm(pool)
      const { em } = await orm.catch(notDone)
      const use: RecordsUse = { hasWritten: false, borrowed: new Set() }
      return uses
        .run(use, () => work(em.fork()))
        .catch((error) => (use.hasWritten ? maybeDone : notDone)(error))
        .finally(() => {
          for (const client of use.borrowed) client.release(true)
        })
    },
    close: () => pool.end(),
  }
}

interface RecordsUse {
  /** Whether it has sent a write. */
  hasWritten: boolean
  /** Connections that MikroORM has: after a failed begin, commit or rollback it gives none back. */
  readonly borrowed: Set<pg.PoolClient>
}

const uses = new AsyncLocalStorage<RecordsUse>()

/** Only the text shows whether MikroORM reads or writes. The begin of a transaction writes nothing. */
function noting(client: pg.PoolClient, use: RecordsUse | undefined): PostgresPoolClient {
  if (!use) return client
  use.borrowed.add(client)
  const query = (text: string, values: readonly unknown[]) => {
    use.hasWritten ||= !onlyReads(text) && !/^begin$/i.test(text)
    return client.query(text, [...values])
  }
  // Its type also takes cursors, which MikroORM does not use here.
  const release = () => {
    if (use.borrowed.delete(client)) client.release()
  }
  return { query: query as never, release }
}

/**
 * MikroORM for the record tables. It borrows connections from the pool of plain SQL, which outlives it. Fork the entity
 * manager for each use. Loaded when the first record is asked for: most commands of the operator do without.
 */
export async function openOrm(pool: pg.Pool): Promise<MikroORM> {
  const [{ defineConfig, MikroORM }, { PostgresDialect }, { entities }] = await Promise.all([
    import('@mikro-orm/postgresql'),
    import('kysely'),
    import('./entities.ts'),
  ])
  const borrowed = {
    connect: async () => noting(await pool.connect(), uses.getStore()),
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

/** Closing the connection rolls back as well, so a long wait gains nothing. */
const rollback = { text: 'rollback', query_timeout: 1_000 }

async function abandon(client: pg.PoolClient, hasStalePlan: boolean): Promise<void> {
  try {
    await client.query(rollback)
    client.release(hasStalePlan)
  } catch {
    // The caller gets the first error; this one only says that the connection is broken.
    client.release(true)
  }
}

/**
 * A connection outside the pool, for work that must not wait for the pool. Open another one after a statement has
 * failed.
 */
export interface Connection extends Queryable {
  /** Calls back with each payload that any connection notifies the channel of. */
  listen(channel: string, heard: (payload: string) => void): Promise<void>
  /** Resolves once the connection is closed, for any reason. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/** Shorter than the lease of a node, so that one silent connection does not suspend the node. */
const CONNECTION_TAKES_MS = 2_000

const MOMENTS = 8

/**
 * Opens it, or gives up: several answers have to be read one after the other, so only moments count in which this process
 * ran. A pause of it is one moment.
 */
async function openInTime(client: pg.Client): Promise<void> {
  const late = Promise.withResolvers<never>()
  let moments = 0
  const timer = setInterval(() => {
    if (++moments === MOMENTS) late.reject(new Error('timeout expired'))
  }, CONNECTION_TAKES_MS / MOMENTS)
  const opening = client.connect()
  try {
    await Promise.race([opening, late.promise])
  } catch (cause) {
    // It may come up later, when nobody needs it any more.
    opening.then(
      () => client.end(),
      () => undefined,
    )
    throw cause
  } finally {
    clearInterval(timer)
  }
}

export async function connect(url: string, name: string): Promise<Connection> {
  const client = new PatientClient({
    connectionString: url,
    application_name: name,
    // Only so that nothing is left of what was given up.
    connectionTimeoutMillis: 5 * CONNECTION_TAKES_MS,
    statement_timeout: CONNECTION_TAKES_MS,
    query_timeout: CONNECTION_TAKES_MS,
    keepAlive: true,
    types,
  })
  client.on('error', reportedByStatement)
  const ended = new Promise<void>((resolve) => void client.once('end', () => resolve()))
  await openInTime(client)
  return {
    ...queryableOn(client),
    ended,
    async listen(channel, heard) {
      client.on('notification', (notice) => {
        if (notice.channel === channel) heard(notice.payload ?? '')
      })
      await client.query(`listen ${client.escapeIdentifier(channel)}`)
    },
    close: () => client.end(),
  }
}

/** Returns the connection to the pool only if its transaction has ended. */
async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  maybeDone: Explain,
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit').catch(maybeDone)
    client.release()
    return result
  } catch (error) {
    await abandon(client, isPlanStale(error))
    throw error
  }
}
