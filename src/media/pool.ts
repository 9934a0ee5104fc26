/** The worker threads for bytes: few of them, a bounded queue, a time limit for every task; users take turns. */
import { availableParallelism } from 'node:os'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { MessageChannel, type ResourceLimits } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Logger } from '../../actors/ports/ports.ts'
import { presentMemory } from '../../bin/runtime.mjs'
import { failed } from '../../machines/model/failure.ts'
import { FairSemaphore } from '../fair-semaphore.ts'
import type { ProgramTask, Run } from './child.ts'
import type { UnsealTask } from './tasks/chunks.ts'
import type * as tasks from './worker.ts'

/** The user who asks, and the signal that ends the wait. */
export interface Asker {
  readonly userId: number
  readonly signal: AbortSignal
}

const later = (description: string, retryAfterSeconds: number, cause?: unknown) =>
  failed('unavailable', description, { retryAfterSeconds }, { cause })

const shuttingDown = (cause?: unknown) => later('the service is shutting down', 1, cause)

const tooMany = () => later('too many files are being worked on', 5)

const tooLong = (milliseconds: number) =>
  failed('timeout', `the file took longer than ${milliseconds / 1_000} seconds`)

/** Whether a thread has ended by itself, without memory for example. */
const hasEnded = (cause: unknown): cause is Error =>
  cause instanceof Error &&
  (/^ERR_WORKER_/.test(`${(cause as NodeJS.ErrnoException).code}`) ||
    cause.message.startsWith('worker exited with code'))

/** What happened to a thread in words for the caller; what the task itself has thrown stays as it is. */
function explained(cause: unknown): unknown {
  if (hasEnded(cause)) return later('the thread that worked on the file has ended', 5, cause)
  // Piscina's words for the tasks of a pool that is closed.
  const isClosed =
    cause instanceof Error && /^(Terminating worker|The task has been aborted)/.test(cause.message)
  return isClosed ? shuttingDown(cause) : cause
}

/** Rejects with `RequestFailed` when too many wait, and with the signal's reason once it aborts. */
export async function withSemaphore<Result>(
  semaphore: FairSemaphore,
  { userId, signal }: Asker,
  work: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  if (semaphore.isFull(userId)) throw tooMany()
  const waiting = semaphore.take(userId, signal)
  if (waiting && !(await waiting)) throw signal.reason
  try {
    return await work()
  } finally {
    semaphore.release(userId)
  }
}

type Tasks = typeof tasks
type Task = Exclude<keyof Tasks, 'program' | 'unseal'>

export interface Runner {
  run<Name extends Task>(
    name: Name,
    task: Parameters<Tasks[Name]>[0],
    /**
     * Aborted, it ends the wait for a turn, not a task that has begun: pictures are decoded by threads that the whole
     * process shares, and go on there though the worker is killed. The place of the task is free when they are.
     */
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<Tasks[Name]>>>
}

export interface MediaPool extends Runner {
  /** Runs tasks that may take seconds: users take turns, however many tasks one of them has. */
  of(userId: number): Runner
  /** Decrypts chunks for a reader, without waiting behind pictures. */
  unseal(task: UnsealTask): Promise<Uint8Array>
  /** Runs a program. Rejects with the signal's reason once the program was killed; any other end resolves. */
  drive(program: Omit<ProgramTask, 'abort'>, signal: AbortSignal): Promise<Run>
  /** Tasks that no thread has begun. */
  readonly waiting: number
  close(): Promise<void>
}

interface PoolOptions {
  readonly threads?: number
  readonly taskTakes?: number
  /** Bytes are outside the heap: a small heap is enough, and keeps garbage small. */
  readonly heapMegabytes?: number
  readonly logger?: Pick<Logger, 'error'>
}

const never = new AbortController().signal

/** Tasks that may wait. */
const QUEUE = 256

const MEGABYTE = 1_000_000

/** Pictures are decoded by the threads of libuv: the launcher starts twice as many, for files, names and secrets. */
const PICTURES_AT_ONCE = 4
/** A progressive JPEG of 40 megapixels: all of it is held while it is decoded. */
const PICTURE_BYTES = 200 * MEGABYTE

/** What the service and its launcher have outside the heap before any file comes. */
const IDLE_BYTES = 80 * MEGABYTE

function limitsOfThreads(maxOldGenerationSizeMb: number): ResourceLimits {
  // The launcher's least size is for the main thread, which has it by now; each thread would begin with it as well.
  setFlagsFromString('--min-semi-space-size=0')
  return { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: 8 }
}

/** How many that take so many bytes each have room outside the heap, once it is full: one in any case, and `most` at most. */
export function placesFor(
  bytes: number,
  most: number,
  memory = presentMemory(),
  heap = getHeapStatistics().heap_size_limit,
): number {
  const room = memory - heap - IDLE_BYTES
  return Math.max(1, Math.min(most, Math.floor(room / bytes)))
}

const common = {
  filename: new URL('./worker.ts', import.meta.url).href,
  minThreads: 0,
  idleTimeout: 30_000,
}

export function createPool({
  threads = Math.max(2, availableParallelism() - 1),
  taskTakes = 120_000,
  heapMegabytes = 128,
  logger,
}: PoolOptions = {}): MediaPool {
  const resourceLimits = limitsOfThreads(heapMegabytes)
  const pool = new Piscina({ ...common, resourceLimits, maxThreads: threads, maxQueue: QUEUE })
  const run = runsOn(pool, logger)
  /** In place of a thread that was killed, Piscina begins another only for a task that comes later. */
  const wake = () => {
    if (pool.queueSize === 0) return
    run({ head: new Uint8Array() }, { name: 'sniff' }).catch((err: unknown) => {
      logger?.error({ err }, 'a thread for files has ended')
    })
  }
  const streaming = streamingThread(resourceLimits, logger)
  const semaphore = new FairSemaphore({
    places: placesFor(PICTURE_BYTES, Math.min(threads, PICTURES_AT_ONCE)),
    waiting: QUEUE,
    waitingPerUser: QUEUE / 4,
  })
  const runner: Runner = {
    async run(name, task, signal) {
      signal?.throwIfAborted()
      if (pool.queueSize >= QUEUE) throw tooMany()
      // Cleared with the task: the timer of AbortSignal.timeout would stay until its time is over.
      const limit = new AbortController()
      const timer = setTimeout(() => {
        limit.abort(tooLong(taskTakes))
        wake()
      }, taskTakes).unref()
      try {
        return await run(task, { name }, limit)
      } finally {
        clearTimeout(timer)
        signal?.throwIfAborted()
      }
    },
  }
  return {
    ...runner,
    of: (userId) => ({
      run: (name, task, signal = never) =>
        withSemaphore(semaphore, { userId, signal }, () => runner.run(name, task, signal)),
    }),
    unseal: streaming.unseal,
    drive: streaming.drive,
    get waiting() {
      return pool.queueSize
    },
    async close() {
      await Promise.all([pool.destroy(), streaming.close()])
    },
  }
}

/**
 * Rejects in words for the caller. A thread that ends by itself, as without memory, leaves tasks in the queue: where it was
 * the last one, they fail with it.
 */
function runsOn(pool: Piscina, logger: PoolOptions['logger']) {
  const limits = new Set<AbortController>()
  const failQueued = (cause: unknown) => {
    if (pool.threads.length === 0) for (const limit of limits) limit.abort(cause)
  }
  // The thread had no task yet, or none any more.
  pool.on('error', (err) => {
    logger?.error({ err }, 'a thread for files has ended')
    failQueued(err)
  })
  return async (
    task: unknown,
    options: Parameters<Piscina['run']>[1],
    limit = new AbortController(),
  ) => {
    limits.add(limit)
    try {
      return await pool.run(task, { ...options, signal: limit.signal })
    } catch (cause) {
      if (hasEnded(cause)) failQueued(cause)
      throw explained(limit.signal.aborted ? limit.signal.reason : cause)
    } finally {
      limits.delete(limit)
    }
  }
}

/** More tasks at a time than programs may run, so that readers find a place. */
const AT_ONCE = 64

/** One more thread, for tasks that are short or wait for a program: they share it and are never killed with it. */
function streamingThread(
  resourceLimits: ResourceLimits,
  logger: PoolOptions['logger'],
): Pick<MediaPool, 'unseal' | 'drive' | 'close'> {
  const pool = new Piscina({
    ...common,
    resourceLimits,
    maxThreads: 1,
    concurrentTasksPerWorker: AT_ONCE,
    // Piscina itself gives a thread nothing beside a task that has a signal, since an abort ends the thread; here only tasks
    // that no thread has begun are aborted.
    loadBalancer: (_, threads) =>
      threads.find((thread) => thread.isRunningAbortableTask || thread.currentUsage < AT_ONCE) ??
      null,
  })
  const runOn = runsOn(pool, logger)
  const closing = new AbortController()
  const driven = new Set<Promise<Run>>()
  const run = async (task: Omit<ProgramTask, 'abort'>, signal: AbortSignal): Promise<Run> => {
    const { port1, port2 } = new MessageChannel()
    const abort = () => port1.postMessage(undefined)
    signal.addEventListener('abort', abort, { once: true })
    try {
      const ran: Run = await runOn(
        { ...task, abort: port2 },
        { name: 'program', transferList: [port2] },
      )
      const { buffer, byteOffset, byteLength } = ran.output
      return { ...ran, output: Buffer.from(buffer, byteOffset, byteLength) }
    } catch (error) {
      return { succeeded: false, output: Buffer.alloc(0), complaint: `${error}` }
    } finally {
      signal.removeEventListener('abort', abort)
      port1.close()
    }
  }
  return {
    unseal({ source, ...task }) {
      const transferList = source instanceof Uint8Array ? [source.buffer as ArrayBuffer] : []
      return runOn({ ...task, source }, { name: 'unseal', transferList })
    },
    async drive(task, signal) {
      const either = AbortSignal.any([signal, closing.signal])
      either.throwIfAborted()
      const running = run(task, either)
      driven.add(running)
      const ran = await running.finally(() => driven.delete(running))
      either.throwIfAborted()
      return ran
    },
    async close() {
      closing.abort(shuttingDown())
      await Promise.all(driven)
      await pool.destroy()
    },
  }
}
