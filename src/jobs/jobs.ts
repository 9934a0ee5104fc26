/** Jobs that outlive the process: sending one-time codes, and reminders that wake actors and are set again hourly. */
import { UnrecoverableError } from 'bullmq'
import { within } from '../../actors/host/time.ts'
import type { Logger } from '../../actors/ports/ports.ts'
import { failed } from '../../machines/model/failure.ts'
import { boundedWarnings } from '../observability/bounded.ts'
import {
  type JobProcessor,
  type JobQueue,
  type JobTarget,
  postgresBackend,
  type RedisConnection,
} from './backend.ts'
import { codes, openQueues, type QueueSource, type Queues, reminders } from './queues.ts'
import { RedisQueues } from './redis-queues.ts'

/** The failure of a job that is not tried again, because it would fail again. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure'
}

const HOUR_MS = 3_600_000
/** The delay merges the requests of several nodes into one reminder. */
const SOON_MS = 30_000

const LOOK_MS = 10_000
/** A clock that is set back by less delays no reminder for long. */
const SET_BACK_MS = 10_000

interface RearmOptions {
  readonly everyMs?: number
  readonly soonMs?: number
  readonly lookMs?: number
  readonly ofDay?: () => number
}

/**
 * Sets reminders again every hour, because a queue that was lost has forgotten them, and once the clock was set back: the
 * queue keeps them by the time of day. Returns how to stop.
 */
export function rearm(
  jobs: Pick<Jobs, 'remind' | 'onBack'>,
  targets: readonly Pick<Reminder, 'kind' | 'id'>[],
  logger: Logger,
  { everyMs = HOUR_MS, soonMs = SOON_MS, lookMs = LOOK_MS, ofDay = Date.now }: RearmOptions = {},
): () => void {
  const ask = () => {
    const at = new Date(Date.now() + soonMs)
    for (const { kind, id } of targets) {
      jobs
        .remind({ kind, id, at })
        .catch((err) => logger.warn({ err, kind, id }, 'a reminder could not be asked for anew'))
    }
  }
  jobs.onBack(ask)
  const timer = setInterval(ask, everyMs).unref()
  const ahead = () => ofDay() - performance.now()
  let before = ahead()
  const look = setInterval(() => {
    const now = ahead()
    if (now < before - SET_BACK_MS) ask()
    before = now
  }, lookMs).unref()
  return () => {
    clearInterval(timer)
    clearInterval(look)
  }
}

interface Reminder extends JobTarget {
  readonly at: Date
}

/** `signal` aborts when the job has taken too long. */
export type JobHandler = (id: string, signal: AbortSignal) => Promise<void>

export interface Jobs {
  /**
   * Sends the code of this challenge soon, by any node; by this node at once while the queue is unavailable. A second
   * call does not send it twice.
   */
  sendCode(challengeId: string): Promise<void>
  onSendCode(handler: JobHandler): void
  /**
   * At most one reminder waits for each target: a later call replaces it. A reminder may come early, late or twice, so
   * its handler looks at the facts and asks for the next one. While the queue is away this node keeps the reminder.
   */
  remind(reminder: Reminder): Promise<void>
  onReminder(kind: string, handler: JobHandler): void
  /** Called when a queue that was away is back, or was found empty: its jobs may be lost. */
  onBack(listener: () => void): void
  /** Starts the workers. Call it once all handlers are registered. */
  start(): void
  /** The reason why the queue takes nothing now, for an operator; null if it works. */
  trouble(): string | null
  /** Waits for the jobs under way, up to a limit. */
  close(): Promise<void>
}

interface OpenedJobs extends Jobs {
  /** The connection of the service to Redis, for short commands of others too; absent: it has none. */
  readonly redis: RedisConnection | undefined
}

interface JobsOptions {
  readonly databaseUrl: string
  readonly redisUrl?: string
  readonly logger: Logger
}

const JOB_MILLISECONDS = 30_000
/** A frozen queue delays its caller no longer than this. */
const ADD_MILLISECONDS = 700
const CLOSE_MILLISECONDS = 4_000
const LATER = { retryAfterSeconds: 60 }

const backoff = (delay: number) => ({ type: 'exponential', delay, jitter: 0.2 })

/** A code is valid for five minutes: later attempts are of no use. */
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

export async function createJobs(options: JobsOptions): Promise<OpenedJobs> {
  const { databaseUrl, redisUrl, logger } = options
  const handlers = new Map<string, JobHandler>()
  const process = processorFor(handlers)
  const source: QueueSource = redisUrl
    ? await RedisQueues.start({ url: redisUrl, process, logger })
    : await queuesInPostgres(databaseUrl, process, logger)
  const warn = boundedWarnings(logger)
  const remindHere = ({ kind, id }: Reminder) => {
    process({ data: { kind, id }, attemptsMade: 0, opts: {} }).catch((err) =>
      logger.warn({ err, kind, id }, 'a reminder failed while the queue was away'),
    )
  }
  const kept = new KeptReminders(remindHere)
  const remind = async (reminder: Reminder) => {
    try {
      await addReminder(source.queues, reminder)
      kept.forget(reminder)
    } catch (err) {
      kept.keep(reminder)
      warn({ err, kept: kept.size }, 'a reminder is kept here, since the queue did not take it')
    }
  }
  source.onBack(() => {
    for (const reminder of kept.take()) void remind(reminder)
  })

  return {
    redis: source.redis,
    async sendCode(id) {
      const target = { kind: codes, id }
      await add(source.queues?.codes, codes, target, { ...codeOptions, jobId: `code-${id}` }).catch(
        async (err) => {
          warn({ err, queue: codes }, 'a code is sent past the queue')
          await process({ data: target, attemptsMade: 0, opts: {} }).catch((cause) => {
            logger.error({ err: cause, queue: codes, id }, 'a code was not sent')
            throw failed('unavailable', 'the code could not be sent', LATER, { cause })
          })
        },
      )
    },
    onSendCode: (handler) => void handlers.set(codes, handler),
    remind,
    onReminder: (kind, handler) => void handlers.set(kind, handler),
    onBack: (listener) => source.onBack(listener),
    start: () => source.work(),
    trouble: () => source.trouble,
    async close() {
      kept.take()
      await source.close(CLOSE_MILLISECONDS)
    },
  }
}

async function addReminder(queues: Queues | undefined, { kind, id, at }: Reminder): Promise<void> {
  const deduplication = { id: `${kind}/${id}`, replace: true, keepLastIfActive: true }
  const delay = Math.max(0, at.getTime() - Date.now())
  const options = { ...reminderOptions, deduplication, delay }
  await add(queues?.[reminders], kind, { kind, id }, options)
}

async function add(queue: JobQueue | undefined, ...job: Parameters<JobQueue['add']>) {
  if (!queue) throw new Error('the job queue does not answer')
  await within(ADD_MILLISECONDS, undefined, () => queue.add(...job))
}

async function queuesInPostgres(
  url: string,
  process: JobProcessor,
  logger: Logger,
): Promise<QueueSource> {
  const queues = await openQueues(await postgresBackend(url), process, logger)
  return {
    queues,
    trouble: null,
    onBack: () => undefined,
    work: () => queues.work(),
    close: (withinMs) =>
      within(withinMs, undefined, () => queues.close()).catch((err) => {
        logger.warn({ err }, 'the job queues were left without a word')
        queues.abandon()
      }),
  }
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

const LONGEST_MS = 2 ** 31 - 1

interface Kept {
  readonly reminder: Reminder
  readonly timer: NodeJS.Timeout
}

/** Reminders that the queue did not take: called when they are due, and given to the queue when it is back. */
class KeptReminders {
  readonly #due: (reminder: Reminder) => void
  readonly #kept = new Map<string, Kept>()

  constructor(due: (reminder: Reminder) => void) {
    this.#due = due
  }

  get size(): number {
    return this.#kept.size
  }

  /** Keeps only the latest reminder of each target. */
  keep(reminder: Reminder): void {
    const target = targetOf(reminder)
    clearTimeout(this.#kept.get(target)?.timer)
    const give = () => {
      this.#kept.delete(target)
      this.#due(reminder)
    }
    const left = Math.max(0, reminder.at.getTime() - Date.now())
    // A reminder may come early: its handler looks at the facts and asks for the next one.
    const timer = setTimeout(give, Math.min(left, LONGEST_MS)).unref()
    this.#kept.set(target, { reminder, timer })
  }

  /** The queue has taken a later reminder. */
  forget(reminder: Reminder): void {
    const target = targetOf(reminder)
    clearTimeout(this.#kept.get(target)?.timer)
    this.#kept.delete(target)
  }

  /** Returns all reminders and keeps none. */
  take(): Reminder[] {
    const all = [...this.#kept.values()]
    for (const { timer } of all) clearTimeout(timer)
    this.#kept.clear()
    return all.map(({ reminder }) => reminder)
  }
}

const targetOf = ({ kind, id }: Reminder) => `${kind}/${id}`

const kind = 'webhook'

export interface WebhookReminders {
  /** Reminds at `at`, in milliseconds since 1970. */
  set(apiKeyId: number, at: number): void
  /** Call it before the jobs start. */
  onDue(wake: (apiKeyId: number) => void): void
}

export const webhookReminders = (
  jobs: Pick<Jobs, 'remind' | 'onReminder'>,
  logger: Logger,
): WebhookReminders => ({
  set(apiKeyId, at) {
    // A lost reminder does no harm: the table has the time, and is checked regularly and at each start.
    jobs
      .remind({ kind, id: `${apiKeyId}`, at: new Date(at) })
      .catch((err) => logger.warn({ err, apiKeyId }, 'a webhook could not be set a reminder'))
  },
  onDue(wake) {
    jobs.onReminder(kind, async (id) => wake(Number(id)))
  },
})
