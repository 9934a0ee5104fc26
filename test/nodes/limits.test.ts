/** Limits that two nodes count together in Redis, and each by itself while Redis is away. */
import t, { type Test } from 'tap'
import { connectRedis } from '../../src/jobs/backend.ts'
import { shareCalls, shareGuesses } from '../../src/nodes/limits.ts'
import { Gcra, Guesses } from '../../src/security/rate-limits.ts'
import { raw } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { hasRedis, RedisServer } from '../support/redis.ts'
import { startService } from '../support/service.ts'

const skip = !(await hasRedis()) && 'redis-server is not installed'

async function redisOf(t: Test): Promise<RedisServer> {
  const redis = await RedisServer.create(t)
  await redis.start()
  return redis
}

/** Two nodes' counters of the same limits. */
async function counters(t: Test, server: RedisServer) {
  const calls = { perSecond: 10, burst: 6 }
  const guesses = { perMinute: 4, perHour: 6 }
  const open = async () => {
    const redis = connectRedis(server.url)
    redis.on('error', () => undefined)
    t.teardown(() => redis.disconnect())
    await redis.connect()
    const shared = { redis, logger: quietLogger, count: () => 2 }
    return {
      redis,
      calls: shareCalls(shared, calls, new Gcra(calls)),
      guesses: shareGuesses(shared, guesses, new Guesses(guesses)),
    }
  }
  return [await open(), await open()] as const
}

t.test('calls are counted together, and the limit grows again', { skip }, async (t) => {
  const [one, two] = await counters(t, await redisOf(t))
  const answers: number[] = []
  for (let n = 0; n < 4; n++) {
    answers.push(await one.calls.take(7), await two.calls.take(7))
  }
  t.same(answers.slice(0, 6), [0, 0, 0, 0, 0, 0])
  t.ok(answers.includes(1), 'the seconds to wait')
  t.equal(await one.calls.take(8), 0, 'another user has an own limit')
  t.ok(await until(async () => (await two.calls.take(7)) === 0), 'a tenth of a second later')
  const ttl = await one.redis.pttl('chapar:calls:7')
  t.ok(ttl > 0 && ttl <= 700, 'what is not used up is forgotten')
})

t.test('guesses are counted together within a minute and within an hour', { skip }, async (t) => {
  const [one, two] = await counters(t, await redisOf(t))
  const guess = async (network: string) => [
    await one.guesses.add(network),
    await two.guesses.add(network),
  ]
  t.same([await guess('a'), await guess('a')].flat(), [0, 0, 0, 0])
  const [wait = 0] = await guess('a')
  t.ok(wait > 0 && wait <= 60, `${wait}`)
  const [long = 0] = await guess('a')
  t.ok(long > 60 && long <= 3_600, `${long}`)
  t.same(await guess('b'), [0, 0])
  t.ok((await one.redis.pttl('chapar:wrong-keys:b')) <= 60_000)
  t.ok((await one.redis.pttl('chapar:wrong-keys:b:hour')) > 60_000)
})

t.test('while Redis does not answer each node lets its share through', { skip }, async (t) => {
  const server = await redisOf(t)
  const [one, two] = await counters(t, server)
  t.equal(await one.calls.take(1), 0)
  server.freeze()
  const began = performance.now()
  t.equal(await one.calls.take(1), 0)
  const first = performance.now()
  t.same([await one.calls.take(1), await one.calls.take(1)], [0, 0])
  t.ok((await one.calls.take(1)) > 0, 'half of six at this node')
  t.ok(first - began < 500, 'it is not waited for long')
  t.ok(performance.now() - first < 40, 'and not again at once')
  t.same([await two.guesses.add('c'), await two.guesses.add('c')], [0, 0])
  t.ok((await two.guesses.add('c')) > 0, 'half of four')
  server.thaw()
  const isShared = async () => {
    await two.calls.take(2)
    return (await two.redis.exists('chapar:calls:2')) === 1
  }
  t.ok(await until(isShared))
})

const USER_CALLS_PER_MINUTE = '40'
const WRONG_KEYS_PER_MINUTE = '8'

async function twoNodes(t: Test, redis: RedisServer) {
  const env = {
    REDIS_URL: redis.url,
    USER_CALLS_PER_MINUTE,
    WRONG_KEYS_PER_MINUTE,
    CLUSTER_ADDRESS: 'https://127.0.0.1:0',
  }
  const one = await startService(t, { env: { ...env, NODE_NAME: 'one' } })
  const DATA_DIR = one.dataDir
  const client = async () => (await one.client()).token
  const tokens = [await client(), await client(), await client()]
  const { databaseUrl } = one
  const two = await startService(t, { databaseUrl, env: { ...env, NODE_NAME: 'two', DATA_DIR } })
  const urls = [one.url, two.url]
  const inTurn = async (count: number, ask: (url: string) => Promise<number | undefined>) => {
    const statuses: (number | undefined)[] = []
    for (let n = 0; n < count; n++) statuses.push(await ask(urls[n % 2] ?? ''))
    return statuses
  }
  return {
    urls,
    tokens,
    /** The answers' statuses, of each node in turn. */
    calls: (token: string | undefined, count: number) => {
      const headers = { authorization: `Bearer ${token}` }
      return inTurn(count, async (url) => (await raw(url, '/user', { headers })).status)
    },
    guesses: (count: number) => inTurn(count, guess),
  }
}

const guess = async (url: string) => (await raw(url, `/bot200000:${'a'.repeat(43)}/getMe`)).status

const passed = (statuses: readonly unknown[], status: number) =>
  statuses.filter((each) => each === status).length

t.test('two nodes', { skip }, async (t) => {
  const redis = await redisOf(t)
  const { urls, tokens, calls, guesses } = await twoNodes(t, redis)
  const [first, second, third] = tokens

  await t.test('a limit of a user is one of both nodes', async (t) => {
    const statuses = await calls(first, 60)
    const through = passed(statuses, 200)
    // It grows by less than one a second.
    t.ok(through >= 40 && through < 50, `${through}`)
    const headers = { authorization: `Bearer ${first}` }
    for (const url of urls) {
      t.match(await raw(url, '/user', { headers }), {
        status: 429,
        headers: { 'retry-after': /^[1-9]$/ },
        body: { ok: false, error_code: 429, parameters: { retry_after: Number } },
      })
    }
    t.same(await calls(second, 2), [200, 200], 'another user has an own limit')
  })

  await t.test('so is that of an address that guesses keys', async (t) => {
    t.same(await guesses(10), [...Array(8).fill(401), 429, 429])
    for (const url of urls) {
      const { body } = await raw(url, `/bot200000:${'a'.repeat(43)}/getMe`)
      t.ok(body.parameters.retry_after > 0 && body.parameters.retry_after <= 60)
    }
  })

  await t.test('without Redis calls go on, and each node counts its share', async (t) => {
    await redis.kill()
    const began = performance.now()
    const statuses = await calls(second, 60)
    t.comment(`${Math.round(performance.now() - began)} ms`)
    const through = passed(statuses, 200)
    t.ok(through >= 38 && through < 50, `${through}`)
    t.same(new Set(statuses), new Set([200, 429]))
    t.same(await guesses(10), [...Array(8).fill(401), 429, 429])
  })

  await t.test('with Redis again they count together', async (t) => {
    await redis.start()
    // It has nothing of what was; a node that is not back refuses by its own count.
    for (const url of urls) await until(async () => (await guess(url)) === 401)
    const statuses = await calls(third, 60)
    const through = passed(statuses, 200)
    t.ok(through >= 40 && through < 50, `${through}`)
    t.equal(passed(await guesses(12), 401) <= 8, true)
  })
})
