/** The two queues with their workers, open until they are closed or abandoned. */
import { UnrecoverableError } from 'bullmq'
import { within } from '../../actors/host/time.ts'
import type { Logger } from '../../actors/ports/ports.ts'
import { boundedWarnings } from '../observability/bounded.ts'
import type {
  Backend,
  JobProcessor,
  JobQueue,
  JobWorker,
  RedisConnection,
  RunningJob,
} from './backend.ts'

export const codes = 'one-time-codes'
export const reminders = 'reminders'

const READY_MILLISECONDS = 10_000
/** By default the second crash of a node during a job fails the job for good. */
const workerOptions = { maxStalledCount: 1_000, autorun: false }

interface Part {
  readonly name: string
  readonly queue: JobQueue
  readonly worker: JobWorker
}

export interface Queues {
  readonly codes: JobQueue
  readonly reminders: JobQueue
  /** Takes up work. */
  work(): void
  /** Takes up no more work, and waits for the jobs under way. */
  finish(): Promise<void>
  close(): Promise<void>
  /** At once. */
  abandon(): void
}

/** Rejects if the queues do not answer; then nothing is left open. */
export async function openQueues(
  backend: Backend,
  process: JobProcessor,
  logger: Logger,
): Promise<Queues> {
  const code = open(backend, codes, process, 10, logger)
  const reminder = open(backend, reminders, process, 50, logger)
  const parts = [code, reminder]
  const abandon = () => {
    const failed = (err: unknown) => logger.warn({ err }, 'a job queue did not let go')
    for (const { queue, worker } of parts) {
      // A worker that is only disconnected tries for ever to take up work.
      worker.close(true).catch(failed)
      if (backend.isShared) queue.close().catch(failed)
      else for (const part of [queue, worker]) part.disconnect().catch(failed)
    }
  }
  try {
    // A worker that is not ready may lose its connection in the handshake, and would never work again.
    const ready = () =>
      Promise.all(
        parts.flatMap((part) => [part.queue, part.worker]).map((it) => it.waitUntilReady()),
      )
    await within(READY_MILLISECONDS, undefined, ready)
  } catch (cause) {
    abandon()
    throw new Error('the job queue does not answer', { cause })
  }
  return {
    codes: code.queue,
    reminders: reminder.queue,
    work() {
      for (const { worker, name } of parts) {
        worker
          .run()
          .catch((error) => logger.error({ err: error, queue: name }, 'a worker has ended'))
      }
    },
    async finish() {
      await Promise.all(parts.map(({ worker }) => worker.pause(false)))
    },
    async close() {
      await Promise.all(parts.map(({ worker }) => worker.close()))
      await Promise.all(parts.map(({ queue }) => queue.close()))
    },
    abandon,
  }
}

function open(
  backend: Backend,
  name: string,
  process: JobProcessor,
  concurrency: number,
  logger: Logger,
): Part {
  const queue = backend.queue(name, {})
  const worker = backend.worker(name, process, { ...workerOptions, concurrency })
  const warn = boundedWarnings(logger)
  const trouble = (err: unknown) => {
    if (name !== reminders || answerOf(err) !== GONE)
      warn({ err, queue: name }, 'a queue has trouble')
  }
  for (const part of [queue, worker]) {
    part.on('error', trouble)
  }
  worker.on('error', pauseOnError(worker, trouble))
  worker.on('failed', (job, error) => {
    const target = { queue: name, kind: job?.data.kind, id: job?.data.id }
    if (isOver(job, error)) logger.error({ err: error, ...target }, 'a job was given up')
    else logger.warn({ err: error, ...target }, 'a job failed and will be tried again')
  })
  return { name, queue, worker }
}

function isOver(job: RunningJob | undefined, error: Error): boolean {
  return !job || error instanceof UnrecoverableError || job.attemptsMade >= (job.opts.attempts ?? 1)
}

/** BullMQ's number for what is wrong with one job, such as that another worker has its lock. Other errors have none. */
function answerOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'number' ? code : undefined
}

/**
 * The job that has ended is not there. On PostgreSQL a later reminder of its target may remove it just as it begins, instead
 * of waiting for its end: BullMQ looks at its state before it locks it.
 */
const GONE = -1

const PAUSE_MS = 1_000

/**
 * Returns a listener for the errors of a worker, which pauses it. BullMQ itself retries without a pause, and so floods a
 * database that is going down. An answer about one job shows that it is up. Jobs under way go on meanwhile.
 */
function pauseOnError(
  worker: JobWorker,
  onFailure: (cause: unknown) => void,
): (error: Error) => void {
  let isPausing = false
  return (error) => {
    if (isPausing || answerOf(error) !== undefined) return
    isPausing = true
    worker.pause(true).catch(onFailure)
    setTimeout(() => {
      isPausing = false
      worker.resume()
    }, PAUSE_MS).unref()
  }
}

/** Access to the queues, as long as they can be reached. */
export interface QueueSource {
  readonly queues: Queues | undefined
  /** Absent: the queues are in PostgreSQL. */
  readonly redis?: RedisConnection
  readonly trouble: string | null
  onBack(listener: () => void): void
  work(): void
  /** Waits no longer than this, also for a queue that does not answer. */
  close(withinMs: number): Promise<void>
}
