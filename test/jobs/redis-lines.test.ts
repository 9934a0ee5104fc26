/** The line to Redis falls silent, or its server is demoted: a new connection works, so it is made. */
import t, { type Test } from 'tap'
import { connectRedis, leaving } from '../../src/jobs/backend.ts'
import { createJobs } from '../../src/jobs/jobs.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { hasRedis, RedisServer } from '../support/redis.ts'
import { Relay } from '../support/relay.ts'

const skip = !(await hasRedis()) && 'redis-server is not installed'

/** A silent connection is given up after 15 s, and the queues are asked for twice a second. */
const WITHIN_MS = 60_000

async function stage(t: Test) {
  const redis = await RedisServer.create(t)
  await redis.start()
  let { port } = redis
  const line = await Relay.start(() => port)
  t.teardown(() => line.stop())
  const redisUrl = `redis://127.0.0.1:${line.port}`
  const jobs = await createJobs({ databaseUrl: 'postgres://unused', redisUrl, logger: quietLogger })
  t.teardown(() => jobs.close())
  const reminded = new Set<string>()
  jobs.onReminder('webhook', async (id) => void reminded.add(id))
  jobs.start()
  const remind = async (id: string) => {
    await jobs.remind({ kind: 'webhook', id, at: new Date() })
    await until(() => reminded.has(id))
  }
  await remind('first')
  /** Of a new connection. */
  const leadTo = (other: RedisServer) => {
    port = other.port
  }
  const wait = async () => {
    await until(() => jobs.trouble() !== null)
    await until(() => jobs.trouble() === null, WITHIN_MS)
    await remind('again')
  }
  return { redis, line, leadTo, wait }
}

t.test('silent, both ways or one', { skip, timeout: 90_000 }, async (t) => {
  const silences = ['both', 'requests', 'answers'] as const
  await Promise.all(
    silences.map(async (what) => {
      const { line, wait } = await stage(t)
      line.silence(what)
      await wait()
      t.pass(`in use again after silence of ${what}`)
    }),
  )
})

t.test('demoted to a replica of another one', { skip, timeout: 90_000 }, async (t) => {
  const { redis, leadTo, wait } = await stage(t)
  const other = await RedisServer.create(t)
  await other.start()
  leadTo(other)
  await redis.tell(`REPLICAOF 127.0.0.1 ${other.port}`)
  await wait()
  t.pass('the other one is in use')
})

t.test('a script is refused by a replica in the words of Redis 6', async (t) => {
  const refused = (message: string) =>
    connectRedis('redis://127.0.0.1').options.reconnectOnError?.(new Error(message))
  const inScript = 'ERR Error running script (call to f_1): @user_script:1: @user_script: 1:'
  t.ok(refused(`${inScript} -READONLY You can't write against a read only replica.`))
  t.ok(refused("READONLY You can't write against a read only replica."))
  t.notOk(refused('OOM command not allowed when used memory > maxmemory'))
})

t.test('a server that stays a replica is left more and more seldom', async (t) => {
  let now = 0
  const isTime = leaving(() => now)
  const times: number[] = []
  for (; now <= 20_000; now += 500) if (isTime()) times.push(now)
  t.same(times, [0, 500, 1_500, 3_500, 7_500, 12_500, 17_500])
  now += 60_500
  t.ok(isTime())
  now += 500
  t.ok(isTime(), 'once it has been forgotten, the pauses begin anew')
})

t.test('each connection leaves a replica by itself', async (t) => {
  const one = connectRedis('redis://127.0.0.1')
  const other = one.duplicate()
  const refused = new Error("READONLY You can't write against a read only replica.")
  const left = [one, one, other].map(({ options }) => options.reconnectOnError?.(refused))
  t.same(left, [true, false, true])
})
