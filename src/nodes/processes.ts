/** Several nodes on one machine: processes that share a port and the embedded database, each started again when it ends. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../observability/logger.ts'
import { exitCodes } from '../process/fatal-errors.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000
/** Each has its own name, so that an account comes back to it after a restart. */
const nameOf = (name: string, place: number) => `${name}-${place}`
/** Only this machine's processes reach it, each at a port of its own. */
const PEER_ADDRESS = 'https://127.0.0.1:0'

/** The settings that a process gets at its start. */
interface Orders {
  readonly databaseUrl: string
  /** The others are silent about where the service is. */
  readonly isFirst: boolean
}

interface ProcessesOptions {
  readonly count: number
  readonly name: string
  readonly metricsPort: number | undefined
  readonly databaseUrl: string
  readonly logger: Logger
}

/** The settings of this process; undefined if it is the only one. */
export async function takeOrders(): Promise<Orders | undefined> {
  if (!cluster.isWorker) return undefined
  const [orders] = (await once(process, 'message')) as [Orders]
  return orders
}

/** The message of each process once it listens. */
export function tellStarted(): void {
  process.send?.('started')
}

/** Resolves with an exit code after a signal, or when the first process cannot start. */
export async function runNodes(options: ProcessesOptions): Promise<number> {
  const { count } = options
  // Each process accepts for itself. Node.js would else accept here and hand on, and a connection that is handed to a process
  // which has just crashed stays open without an answer for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const stopping = new AbortController()
  const workers = new Set<Worker>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stopping.abort()
      for (const { process: child } of workers) child.kill(signal)
    })
  }
  const keep = (place: number, started: () => void) =>
    keepOne(place, { ...options, workers, stopping: stopping.signal, started })
  // The first one makes the key file and the tables; the others would wait for it anyway.
  const first = Promise.withResolvers<void>()
  const running = [keep(1, first.resolve)]
  const code = await Promise.race([first.promise, running[0]])
  if (typeof code === 'number') return code
  for (let place = 2; place <= count; place++) running.push(keep(place, () => undefined))
  const codes = await Promise.all(running)
  return Math.max(...codes)
}

interface Keeping extends ProcessesOptions {
  readonly workers: Set<Worker>
  readonly stopping: AbortSignal
  started(): void
}

/** Starts one process again, more slowly each time. Resolves with the exit code of the last. */
async function keepOne(place: number, options: Keeping): Promise<number> {
  const { workers, stopping, logger, started } = options
  let pauseMs = FIRST_PAUSE_MS
  for (let hasStarted = false; ; ) {
    const worker = fork(place, options)
    workers.add(worker)
    worker.on('message', () => {
      hasStarted = true
      pauseMs = FIRST_PAUSE_MS
      started()
    })
    const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null]
    workers.delete(worker)
    if (stopping.aborted || code === exitCodes.misconfigured) return code ?? 0
    if (!hasStarted && place === 1) return code ?? exitCodes.cannotStart
    logger.error({ place, code, signal, pauseMs }, 'a node ended and is started again')
    await pause(pauseMs, undefined, { signal: stopping }).catch(() => undefined)
    if (stopping.aborted) return 0
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
}

function fork(place: number, { name, metricsPort, databaseUrl }: ProcessesOptions): Worker {
  const worker = cluster.fork({
    NODE_NAME: nameOf(name, place),
    CLUSTER_ADDRESS: PEER_ADDRESS,
    ...(metricsPort !== undefined && { METRICS_PORT: `${metricsPort + place - 1}` }),
  })
  const orders: Orders = { databaseUrl, isFirst: place === 1 }
  worker.once('online', () => worker.send(orders))
  return worker
}
