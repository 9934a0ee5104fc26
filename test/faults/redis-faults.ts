/** What happens to Redis: codes are asked for without a pause while it is killed, emptied, frozen, filled and revived. */
import { setTimeout as pause } from 'node:timers/promises'
import { createJobs } from '../../src/jobs/jobs.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { RedisServer } from '../support/redis.ts'

export interface RedisOutcome {
  readonly name: string
  readonly asked: number
  /** Asked for, acknowledged, and never sent. */
  readonly lost: number
  readonly slowestMs: number
  /** From its end until the queue is used again. */
  readonly backMs: number
}

interface RedisFault {
  readonly name: string
  begin(redis: RedisServer): Promise<unknown>
  end(redis: RedisServer): Promise<unknown>
}

const faults: readonly RedisFault[] = [
  {
    name: 'Redis killed, back empty',
    begin: (redis) => redis.kill(),
    end: (redis) => redis.start(),
  },
  {
    name: 'Redis frozen (SIGSTOP)',
    begin: async (redis) => redis.freeze(),
    end: async (redis) => redis.thaw(),
  },
  {
    name: 'Redis full (maxmemory)',
    begin: (redis) => redis.tell('CONFIG SET maxmemory 1'),
    end: (redis) => redis.tell('CONFIG SET maxmemory 0'),
  },
  {
    name: 'Redis emptied (FLUSHALL)',
    begin: (redis) => redis.tell('FLUSHALL'),
    end: async () => undefined,
  },
]

const EVERY_MS = 100
const SENT_MS = 30_000

export async function runRedisFaults(
  seconds: number,
  told: (outcome: RedisOutcome) => void,
): Promise<RedisOutcome[]> {
  await using opened = new AsyncDisposableStack()
  const redis = await RedisServer.create({ teardown: (work) => void opened.defer(work) })
  await redis.start()
  const jobs = await createJobs({ databaseUrl: '', redisUrl: redis.url, logger: quietLogger })
  opened.defer(() => jobs.close())
  const sent = new Set<string>()
  jobs.onSendCode(async (id) => void sent.add(id))
  jobs.start()
  const again = { work: () => {} }
  jobs.onBack(() => again.work())
  const outcomes: RedisOutcome[] = []
  for (const [place, fault] of faults.entries()) {
    const asked: string[] = []
    let slowestMs = 0
    // As the accounts do: what a queue has forgotten is handed over again.
    again.work = () => {
      for (const id of asked) if (!sent.has(id)) void jobs.sendCode(id)
    }
    const asking = setInterval(async () => {
      const id = `${place}-${asked.length}`
      asked.push(id)
      const began = performance.now()
      await jobs.sendCode(id)
      slowestMs = Math.max(slowestMs, performance.now() - began)
    }, EVERY_MS)
    await pause(500)
    await fault.begin(redis)
    await pause(seconds * 1000)
    await fault.end(redis)
    const ended = performance.now()
    await until(() => jobs.trouble() === null)
    const backMs = performance.now() - ended
    await pause(1_000)
    clearInterval(asking)
    const isSent = () => asked.every((id) => sent.has(id))
    await until(isSent, SENT_MS).catch(() => undefined)
    const lost = asked.filter((id) => !sent.has(id)).length
    const outcome = { name: fault.name, asked: asked.length, lost, slowestMs, backMs }
    outcomes.push(outcome)
    told(outcome)
  }
  return outcomes
}
