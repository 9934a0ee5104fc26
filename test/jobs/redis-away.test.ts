/** Redis is away, empty, frozen or full: the service starts, sends codes at once, stops at once, and says so once. */
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts'
import { until } from '../support/client.ts'
import { hasRedis, RedisServer } from '../support/redis.ts'

/** What an operator would read. */
class Lines {
  readonly warnings: { readonly fields: object; readonly message: string }[] = []
  info(): void {}
  warn(fields: object, message: string): void {
    this.warnings.push({ fields, message })
  }
  error(fields: object, message: string): void {
    this.warn(fields, message)
  }
}

const skip = !(await hasRedis()) && 'redis-server is not installed'

/** The promise of a code, and of a stop. */
const CODE_MS = 1_000
const STOP_MS = 5_000

async function stage(t: Test, { isThere = true } = {}) {
  const redis = await RedisServer.create(t)
  if (isThere) await redis.start()
  const logger = new Lines()
  const began = performance.now()
  const jobs = await createJobs({
    databaseUrl: 'postgres://unused',
    redisUrl: redis.url,
    logger,
  })
  const startMs = performance.now() - began
  const [sent, reminded]: [string[], string[]] = [[], []]
  jobs.onSendCode(async (id) => void sent.push(id))
  jobs.onReminder('webhook', async (id) => void reminded.push(id))
  jobs.start()
  let closing: Promise<void> | undefined
  t.teardown(() => {
    closing ??= jobs.close()
    return closing
  })
  const close = async () => {
    const began = performance.now()
    closing ??= jobs.close()
    await closing
    const took = performance.now() - began
    t.ok(took < STOP_MS, `it stopped in ${Math.round(took)} ms`)
  }
  let count = 0
  const code = async (what: string) => {
    const id = `${what} ${count++}`
    const began = performance.now()
    await jobs.sendCode(id)
    await until(() => sent.includes(id))
    const took = performance.now() - began
    t.ok(took < CODE_MS, `${what}: a code was sent in ${Math.round(took)} ms`)
  }
  return { redis, jobs, logger, sent, reminded, code, close, startMs }
}

const soon = (ms: number) => new Date(Date.now() + ms)
const isUp = (jobs: Jobs) => until(() => jobs.trouble() === null)
const isAway = (jobs: Jobs) => until(() => jobs.trouble() !== null)
const aboutRedis = ({ warnings }: Lines) =>
  warnings.filter(({ message }) => /^Redis takes no jobs/.test(message))

t.test('a start without it is a start, and it is used once it comes', { skip }, async (t) => {
  const { redis, jobs, logger, reminded, code, startMs } = await stage(t, { isThere: false })
  t.ok(startMs < 3_000, `it took ${Math.round(startMs)} ms`)
  t.equal(jobs.trouble(), 'Redis takes no jobs')
  t.match(aboutRedis(logger), [{ fields: { reason: /ECONNREFUSED/ } }])
  await code('away')
  await jobs.remind({ kind: 'webhook', id: 'due', at: soon(50) })
  await until(() => reminded.includes('due'))
  await jobs.remind({ kind: 'webhook', id: 'later', at: soon(3_600_000) })
  let told = 0
  jobs.onBack(() => told++)
  await redis.start()
  await isUp(jobs)
  await until(() => told === 1)
  await code('back')
  await jobs.remind({ kind: 'webhook', id: 'queued', at: soon(50) })
  await until(() => reminded.includes('queued'))
})

t.test('killed, and back with nothing', { skip }, async (t) => {
  const { redis, jobs, logger, reminded, code } = await stage(t)
  t.equal(jobs.trouble(), null)
  await code('up')
  await redis.kill()
  await code('just killed')
  await isAway(jobs)
  await code('away')
  await jobs.remind({ kind: 'webhook', id: 'kept', at: soon(60_000) })
  await redis.start()
  await code('just back')
  await isUp(jobs)
  await code('back')
  await jobs.remind({ kind: 'webhook', id: 'kept', at: soon(0) })
  await until(() => reminded.includes('kept'))
  t.equal(aboutRedis(logger).length, 1, 'it is said once')
  t.ok(logger.warnings.length < 8, `${logger.warnings.length} lines of warning`)
})

t.test('frozen, and thawed', { skip }, async (t) => {
  const { redis, jobs, code, sent } = await stage(t)
  redis.freeze()
  await code('frozen')
  await isAway(jobs)
  await code('still frozen')
  redis.thaw()
  await code('just thawed')
  await isUp(jobs)
  await code('thawed')
  t.ok(sent.length >= 4)
})

t.test('full', { skip }, async (t) => {
  const { redis, jobs, logger, code } = await stage(t)
  await redis.tell('CONFIG SET maxmemory 1')
  await code('just full')
  await isAway(jobs)
  t.match(aboutRedis(logger), [{ fields: { reason: /OOM/ } }])
  await code('full')
  await redis.tell('CONFIG SET maxmemory 0')
  await isUp(jobs)
  await code('with room')
})

t.test('emptied in passing, it is told to whoever has to ask again', { skip }, async (t) => {
  const { redis, jobs, sent, reminded } = await stage(t)
  let told = 0
  jobs.onBack(() => told++)
  await jobs.remind({ kind: 'webhook', id: 'forgotten', at: soon(3_600_000) })
  await redis.tell('FLUSHALL')
  await until(() => told === 1)
  t.same([sent, reminded], [[], []])
  await pause(1_200)
  t.equal(told, 1, 'once')
})

t.test('the queues take one connection, and one more for each worker', { skip }, async (t) => {
  const { redis, jobs, code } = await stage(t, { isThere: false })
  for (let round = 0; round < 3; round++) {
    await redis.start()
    await isUp(jobs)
    if (round === 2) continue
    await redis.kill()
    await isAway(jobs)
  }
  await code('back for good')
  const asking = new Redis(redis.url)
  t.teardown(() => asking.disconnect())
  const clients = async () => `${await asking.client('LIST')}`.trim().split('\n').length - 1
  await until(async () => (await clients()) === 3)
  await pause(1_500)
  t.equal(await clients(), 3, 'however often it came and went')
})

for (const trouble of ['killed', 'frozen', 'never there'] as const) {
  t.test(`a stop waits for none that is ${trouble}`, { skip }, async (t) => {
    const { redis, jobs, close } = await stage(t, { isThere: trouble !== 'never there' })
    if (trouble === 'killed') await redis.kill()
    if (trouble === 'frozen') redis.freeze()
    await pause(50)
    await jobs.remind({ kind: 'webhook', id: '1', at: soon(0) })
    await close()
  })
}

t.test('one that refuses us ends the start', { skip }, async (t) => {
  const redis = await RedisServer.create(t)
  await redis.start()
  await redis.tell('CONFIG SET requirepass secret')
  for (const redisUrl of [redis.url, `redis://:wrong@127.0.0.1:${redis.port}`]) {
    const jobs = createJobs({ databaseUrl: 'postgres://unused', redisUrl, logger: new Lines() })
    await t.rejects(jobs, { message: /^(NOAUTH|WRONGPASS)/ })
  }
})
