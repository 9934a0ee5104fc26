/** BullMQ on PostgreSQL, or on Redis when there is one: the same queues and workers on both. */
import {
  createPostgresBackend,
  type JobsOptions,
  PostgresConnection,
  Queue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
  withBackend,
} from 'bullmq'
import { Redis } from 'ioredis'
import { parseIntoClientConfig } from 'pg-connection-string'

/** Statistics that are taken during a backlog can make every fetch scan the table, so they are frozen. */
const freezeStatistics = `
  analyze bullmq.job;
  alter table bullmq.job
    set (autovacuum_analyze_threshold = 2000000000, autovacuum_analyze_scale_factor = 0)`

/** The connection that waits for notifications; a borrowed one has no `end`. */
type ListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>> & {
  end?: () => Promise<void>
}

/** A borrowed or ending connection has no error listener, and without one its loss would end the process. */
function surviveLosses(connection: PostgresConnection): void {
  // The current or the next statement is rejected with the loss.
  const ignore = () => undefined
  connection.pool.on('connect', (client) => client.on('error', ignore))
  const guarded = new WeakSet<object>()
  const getListenClient = connection.getListenClient.bind(connection)
  connection.getListenClient = async () => {
    const client: ListenClient = await getListenClient()
    const { end } = client
    if (end && !guarded.has(client)) {
      guarded.add(client)
      client.end = () => {
        client.on('error', ignore)
        return end.call(client)
      }
    }
    return client
  }
}

/** BullMQ names its schema by `options`, beside those of the address; a whole address would replace them. */
const partsOf = (url: string) =>
  Object.fromEntries(
    Object.entries(parseIntoClientConfig(url)).filter(([, part]) => part !== undefined),
  )

export async function prepareSchema(url: string): Promise<void> {
  const connection = new PostgresConnection({ ...partsOf(url), migrate: true, max: 1 })
  surviveLosses(connection)
  try {
    await connection.waitUntilReady()
    const { rows } = await connection.pool.query(
      `select from pg_class where oid = 'bullmq.job'::regclass and reloptions is null`,
    )
    if (rows.length > 0) await connection.pool.query(freezeStatistics)
  } finally {
    await connection.close()
  }
}

/** The subject of a job. Its facts are in the database, never in the job. */
export interface JobTarget {
  readonly kind: string
  readonly id: string
}

export interface RunningJob {
  readonly data: JobTarget
  /** Failed runs before this one. */
  readonly attemptsMade: number
  readonly opts: { readonly attempts?: number }
}

export interface JobQueue {
  add(name: string, target: JobTarget, options: JobsOptions): Promise<unknown>
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
  /** Disconnects at once; it may resolve late if the server does not answer. */
  disconnect(): Promise<void>
}

export interface JobWorker {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(
    event: 'failed',
    listener: (job: RunningJob | undefined, error: Error, previous: string) => void,
  ): unknown
  waitUntilReady(): Promise<unknown>
  run(): Promise<void>
  pause(doNotWaitActive: boolean): Promise<void>
  resume(): void
  /** Waits for the jobs under way, unless it is forced. */
  close(force?: boolean): Promise<void>
  /** Disconnects at once; it may resolve late if the server does not answer. */
  disconnect(): Promise<void>
}

export type JobProcessor = (job: RunningJob) => Promise<void>

type Shared<Options> = Omit<Options, 'connection'>

export interface Backend {
  /** Queues and workers use one connection, which their owner closes. */
  readonly isShared: boolean
  queue(name: string, options: Shared<QueueOptions>): JobQueue
  worker(name: string, process: JobProcessor, options: Shared<WorkerOptions>): JobWorker
}

const CONNECT_MILLISECONDS = 5_000

const survivingBackend: typeof createPostgresBackend = (...options) => {
  const backend = createPostgresBackend(...options)
  surviveLosses(backend.connection)
  return backend
}

export async function postgresBackend(url: string): Promise<Backend> {
  await prepareSchema(url)
  const { Queue, Worker } = withBackend(survivingBackend)
  const pool = (max: number) => ({
    ...partsOf(url),
    application_name: 'chapar jobs',
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    query_timeout: 10_000,
    keepAlive: true,
    max,
  })
  return {
    isShared: false,
    queue: (name, options) => new Queue<JobTarget>(name, { ...options, connection: pool(2) }),
    worker: (name, process, options) =>
      new Worker<JobTarget, void>(name, process, { ...options, connection: pool(4) }),
  }
}

const RECONNECT_MILLISECONDS = 500
const LONGEST_STAY_MILLISECONDS = 5_000
const FORGOTTEN_MILLISECONDS = 60_000
/** Longer than a worker's wait for jobs, which takes 10 s at most. */
const SILENT_MILLISECONDS = 15_000

export type RedisConnection = Redis

/** Whether it is time to leave a replica: at once, then after pauses that grow while its address goes on leading to one. */
export function leaving(now = () => performance.now()): () => boolean {
  let [leftAt, wait] = [Number.NEGATIVE_INFINITY, 0]
  return () => {
    const since = now() - leftAt
    if (since < wait) return false
    const isNew = since > FORGOTTEN_MILLISECONDS
    wait = isNew ? RECONNECT_MILLISECONDS : Math.min(2 * wait, LONGEST_STAY_MILLISECONDS)
    leftAt = now()
    return true
  }
}

/**
 * The connection of the service to Redis. A command fails at once while there is no connection. `null` is what BullMQ
 * asks for: a command under way waits for the next connection, and each caller has a time limit of its own.
 */
export const connectRedis = (url: string): Redis => {
  /** By the options of a connection: each worker has a copy. */
  const leave = new WeakMap<object, () => boolean>()
  return new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: null,
    connectTimeout: 2_000,
    retryStrategy: () => RECONNECT_MILLISECONDS,
    // A line that was cut without a word would be used until TCP gives it up, after a quarter of an hour.
    socketTimeout: SILENT_MILLISECONDS,
    // The server was demoted: its address leads to another one by now. Before Redis 7 the word is at the end of a script's error.
    reconnectOnError(this: object, { message }) {
      if (!/\bREADONLY /.test(message)) return false
      const isTime = leave.get(this) ?? leaving()
      leave.set(this, isTime)
      return isTime()
    },
  })
}

/** BullMQ makes one connection more for each worker, since a worker's wait for jobs blocks its connection. */
export const redisBackend = (connection: Redis): Backend => ({
  isShared: true,
  queue: (name, options) => new Queue<JobTarget>(name, { ...options, connection }),
  worker: (name, process, options) =>
    new Worker<JobTarget, void>(name, process, { ...options, connection }),
})
