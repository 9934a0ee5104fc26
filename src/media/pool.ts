/** The worker threads for bytes: few of them, a bounded queue, and a time limit for every task. */
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { FairSemaphore } from '../fair-semaphore.ts'
import { inTurn, tooMany } from './in-turn.ts'
import type * as tasks from './worker.ts'

type Tasks = typeof tasks
type Task = keyof Tasks

export interface Runner {
  run<Name extends Task>(
    name: Name,
    task: Parameters<Tasks[Name]>[0],
    /** Aborted, it kills the thread: not worth it for short work. */
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<Tasks[Name]>>>
}

export interface MediaPool extends Runner {
  /** Runs tasks that may take seconds: users take turns, however many tasks one of them has. */
  of(userId: number): Runner
  /** Tasks that no thread has begun. */
  readonly waiting: number
  close(): Promise<void>
}

export interface PoolOptions {
  readonly threads?: number
  readonly queue?: number
  readonly taskTakes?: number
}

const never = new AbortController().signal

/** Bytes are kept outside of it: what the threads need is little, and what is left lying about stays little, too. */
const HEAP = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 }

export function createPool({
  threads = Math.max(2, availableParallelism() - 1),
  queue = 256,
  taskTakes = 120_000,
}: PoolOptions = {}): MediaPool {
  const pool = new Piscina({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threads,
    maxQueue: queue,
    idleTimeout: 30_000,
    resourceLimits: HEAP,
  })
  const turns = new FairSemaphore({ places: threads, waiting: queue, waitingPerUser: queue / 4 })
  const runner: Runner = {
    async run(name, task, signal) {
      if (pool.queueSize >= queue) {
        throw tooMany()
      }
      // Cleared with the task: the timer of AbortSignal.timeout would stay until its time is over.
      const limit = new AbortController()
      const timer = setTimeout(() => limit.abort(), taskTakes).unref()
      const either = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal
      try {
        return await pool.run(task, { name, signal: either })
      } finally {
        clearTimeout(timer)
      }
    },
  }
  return {
    ...runner,
    of: (userId) => ({
      run: (name, task, signal = never) =>
        inTurn(turns, { userId, signal }, () => runner.run(name, task, signal)),
    }),
    get waiting() {
      return pool.queueSize
    },
    close: () => pool.destroy(),
  }
}
