/** The worker threads for bytes: few of them, a bounded queue, a time limit for every task; users take turns. */
import { availableParallelism } from 'node:os'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
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

const tooMany = () =>
  failed('unavailable', 'too many files are being worked on', { retryAfterSeconds: 5 })

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
  readonly queue?: number
  readonly taskTakes?: number
}

const never = new AbortController().signal

/** Pictures are decoded by the threads of libuv: the launcher starts twice as many, for files, names and secrets. */
const PICTURES_AT_ONCE = 4

const common = {
  filename: new URL('./worker.ts', import.meta.url).href,
  minThreads: 0,
  idleTimeout: 30_000,
  // Bytes are outside the heap: a small heap is enough, and keeps garbage small.
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 },
}

export function createPool({
  threads = Math.max(2, availableParallelism() - 1),
  queue = 256,
  taskTakes = 120_000,
}: PoolOptions = {}): MediaPool {
  const pool = new Piscina({ ...common, maxThreads: threads, maxQueue: queue })
  const streaming = streamingThread()
  const semaphore = new FairSemaphore({
    places: Math.min(threads, PICTURES_AT_ONCE),
    waiting: queue,
    waitingPerUser: queue / 4,
  })
  const runner: Runner = {
    async run(name, task, signal) {
      signal?.throwIfAborted()
      if (pool.queueSize >= queue) {
        throw tooMany()
      }
      // Cleared with the task: the timer of AbortSignal.timeout would stay until its time is over.
      const limit = new AbortController()
      const timer = setTimeout(() => limit.abort(), taskTakes).unref()
      try {
        return await pool.run(task, { name, signal: limit.signal })
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

/** More tasks at a time than programs may run, so that readers find a place. */
const AT_ONCE = 64

/** One more thread, for tasks that are short or wait for a program: they share it and are never killed with it. */
function streamingThread(): Pick<MediaPool, 'unseal' | 'drive' | 'close'> {
  const pool = new Piscina({ ...common, maxThreads: 1, concurrentTasksPerWorker: AT_ONCE })
  const closing = new AbortController()
  const driven = new Set<Promise<Run>>()
  const run = async (task: Omit<ProgramTask, 'abort'>, signal: AbortSignal): Promise<Run> => {
    const { port1, port2 } = new MessageChannel()
    const abort = () => port1.postMessage(undefined)
    signal.addEventListener('abort', abort, { once: true })
    try {
      const ran: Run = await pool.run(
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
      return pool.run({ ...task, source }, { name: 'unseal', transferList })
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
      closing.abort()
      await Promise.all(driven)
      await pool.destroy()
    },
  }
}
