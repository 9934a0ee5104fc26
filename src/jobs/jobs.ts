/** Work that outlives the process: sending one-time codes, and reminders that wake actors. */
import { UnrecoverableError } from 'bullmq'
import { failed } from '../../actors/errors.ts'
import { within } from '../../actors/time.ts'
import type { Log } from '../database/log.ts'
import {
  type Backend,
  type JobProcessor,
  type JobQueue,
  postgresBackend,
  type RunningJob,
  redisBackend,
  type Target,
} from './backend.ts'
import { breather } from './breather.ts'
import { PermanentFailure } from './failure.ts'

export interface Reminder extends Target {
  readonly at: Date
}

/** `signal` aborts when the job has taken too long. */
export type JobHandler = (id: string, signal: AbortSignal) => Promise<void>

export interface Jobs {
  /**
   * Has the code of this challenge sent soon, by any node, and by this one at once while the queue is away. Asking
   * again does not send it twice.
   */
  sendCode(challengeId: string): Promise<void>
  onSendCode(handler: JobHandler): void
  /**
   * At most one reminder waits for each target: a later call replaces it. One may come early, late or twice, so
   * whoever is reminded looks at the facts and asks for the next one.
   */
  remind(reminder: Reminder): Promise<void>
  onReminder(kind: string, handler: JobHandler): void
  /** Takes up work; called once all handlers are known. */
  start(): void
  /** Waits for the jobs at hand, for a while. */
  close(): Promise<void>
}

export interface JobsOptions {
  readonly databaseUrl: string
  readonly redisUrl?: string
  readonly log: Log
}

const READY_MILLISECONDS = 10_000
const JOB_MILLISECONDS = 30_000
/** A queue that is frozen keeps nobody waiting for longer. */
const ADD_MILLISECONDS = 8_000

/** Longer than most jobs take; a queue that does not answer keeps nobody from stopping. */
const CLOSE_MILLISECONDS = 8_000
const LATER = { retryAfterSeconds: 60 }

const backoff = (delay: number) => ({ type: 'exponential', delay, jitter: 0.2 })

/** A code lives five minutes: trying longer than a minute or two helps nobody. */
const codeOptions = {
  attempts: 5,
  backoff: backoff(2_000),
  removeOnComplete: true,
  removeOnFail: true,
}
const reminderOptions = {
  attempts: 8,
  backoff: backoff(1_000),
  removeOnComplete: true,
  removeOnFail: { age: 86_400, count: 1_000 },
}
/** By default the second crash of a node with a job at hand would fail the job for good. */
const workerOptions = { maxStalledCount: 1_000, autorun: false }

const codes = 'one-time-codes'
const reminders = 'reminders'

export async function createJobs({ databaseUrl, redisUrl, log }: JobsOptions): Promise<Jobs> {
  const backend = redisUrl ? redisBackend(redisUrl) : await postgresBackend(databaseUrl)
  const handlers = new Map<string, JobHandler>()
  const process = processorFor(handlers)
  const opened = [
    open(backend, codes, process, 10, log),
    open(backend, reminders, process, 50, log),
  ] as const
  const [code, reminder] = opened
  await ready(opened.map(({ queue }) => queue.waitUntilReady()))
  const abandon = (err: unknown) => {
    log.warn({ err }, 'the job queues were left without a word')
    for (const part of opened.flatMap(({ queue, worker }) => [queue, worker])) {
      part.disconnect().catch((err) => log.warn({ err }, 'a job queue did not let go'))
    }
  }

  return {
    async sendCode(id) {
      const target = { kind: codes, id }
      const options = { ...codeOptions, jobId: `code-${id}` }
      await add(code.queue, codes, target, options).catch(async (err) => {
        log.warn({ err, queue: codes }, 'a code is sent past the queue')
        await process({ data: target, attemptsMade: 0, opts: {} }).catch((cause) => {
          log.error({ err: cause, queue: codes, id }, 'a code was not sent')
          throw failed('unavailable', 'the code could not be sent', LATER, { cause })
        })
      })
    },
    onSendCode: (handler) => void handlers.set(codes, handler),
    async remind({ kind, id, at }) {
      const deduplication = { id: `${kind}/${id}`, replace: true, keepLastIfActive: true }
      const delay = Math.max(0, at.getTime() - Date.now())
      await add(reminder.queue, kind, { kind, id }, { ...reminderOptions, deduplication, delay })
    },
    onReminder: (kind, handler) => void handlers.set(kind, handler),
    start() {
      for (const { worker, name } of opened) {
        worker.run().catch((error) => log.error({ err: error, queue: name }, 'a worker has ended'))
      }
    },
    close: () => within(CLOSE_MILLISECONDS, undefined, () => closeAll(opened)).catch(abandon),
  }
}

async function closeAll(opened: readonly Opened[]): Promise<void> {
  await Promise.all(opened.map(({ worker }) => worker.close()))
  await Promise.all(opened.map(({ queue }) => queue.close()))
}

function add(queue: JobQueue, ...job: Parameters<JobQueue['add']>): Promise<unknown> {
  return within(ADD_MILLISECONDS, undefined, () => queue.add(...job))
}

function processorFor(handlers: ReadonlyMap<string, JobHandler>): JobProcessor {
  return async ({ data: { kind, id } }) => {
    const handler = handlers.get(kind)
    if (!handler) throw new Error(`nobody handles ${kind}`)
    try {
      await handler(id, AbortSignal.timeout(JOB_MILLISECONDS))
    } catch (error) {
      throw error instanceof PermanentFailure ? new UnrecoverableError(error.message) : error
    }
  }
}

type Opened = ReturnType<typeof open>

function open(
  backend: Backend,
  name: string,
  process: JobProcessor,
  concurrency: number,
  log: Log,
) {
  const queue = backend.queue(name, {})
  const worker = backend.worker(name, process, { ...workerOptions, concurrency })
  const trouble = (error: unknown) => log.warn({ err: error, queue: name }, 'a queue has trouble')
  for (const part of [queue, worker]) {
    part.on('error', trouble)
  }
  worker.on('error', breather(worker, trouble))
  worker.on('failed', (job, error) => {
    const target = { queue: name, kind: job?.data.kind, id: job?.data.id }
    if (isOver(job, error)) log.error({ err: error, ...target }, 'a job was given up')
    else log.warn({ err: error, ...target }, 'a job failed and will be tried again')
  })
  return { name, queue, worker }
}

function isOver(job: RunningJob | undefined, error: Error): boolean {
  return !job || error instanceof UnrecoverableError || job.attemptsMade >= (job.opts.attempts ?? 1)
}

async function ready(queues: readonly Promise<unknown>[]): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error('the job queue does not answer')),
    READY_MILLISECONDS,
  )
  try {
    await Promise.race([Promise.all(queues), late])
  } finally {
    clearTimeout(timer)
  }
}
