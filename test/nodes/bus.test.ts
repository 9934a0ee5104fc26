/** Hints between nodes over Redis, and over PostgreSQL while Redis is away for some of them or for all. */
import { once } from 'node:events'
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { connect } from '../../src/database/database.ts'
import { connectRedis } from '../../src/jobs/backend.ts'
import { Bus } from '../../src/nodes/bus.ts'
import { PostgresCarrier } from '../../src/nodes/carriers.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { hasRedis, RedisServer } from '../support/redis.ts'
import { Relay } from '../support/relay.ts'
import { startService } from '../support/service.ts'

const skip = !(await hasRedis()) && 'redis-server is not installed'
const METRICS_TOKEN = 'figures of a test'
const logger = createLogger({ level: 'silent' })

interface Stage {
  readonly t: Test
  readonly url: string
  nodes: number
}

interface NodeOptions {
  /** Absent: this node has no Redis. */
  readonly redis?: string
  readonly channel?: string
}

/** One node's bus, with what it has heard of the topic `said`. */
async function node(stage: Stage, { redis, channel = 'test' }: NodeOptions = {}) {
  const incarnation = ++stage.nodes
  const connection = redis === undefined ? undefined : connectRedis(redis)
  connection?.on('error', () => undefined)
  connection?.connect().catch(() => undefined)
  const bus = new Bus({
    url: stage.url,
    logger,
    incarnation: () => incarnation,
    isAlone: () => stage.nodes < 2,
    count: () => stage.nodes,
    ...(connection && { redis: { connection, channel } }),
  })
  const heard: unknown[] = []
  const seen = { gaps: 0 }
  bus.on('said', (hint) => heard.push(hint))
  bus.onGap(() => {
    seen.gaps++
  })
  bus.start()
  stage.t.teardown(async () => {
    await bus.close()
    connection?.disconnect()
  })
  await until(() => Object.values(bus.carriers()).every(Boolean) || undefined)
  return { bus, heard, seen, say: (hint: string) => bus.tell('said', hint) }
}

async function stageOf(t: Test): Promise<Stage> {
  const { url } = await testDatabase(t)
  return { t, url, nodes: 0 }
}

async function redisOf(t: Test): Promise<RedisServer> {
  const redis = await RedisServer.create(t)
  await redis.start()
  return redis
}

/** What goes over PostgreSQL. */
async function noticesOf({ t, url }: Stage): Promise<string[]> {
  const connection = await connect(url, 'test')
  t.teardown(() => connection.close())
  const notices: string[] = []
  await connection.listen('chapar', (payload) => notices.push(payload))
  return notices
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => `${n}`)

t.test('hints go over PostgreSQL without Redis', async (t) => {
  const stage = await stageOf(t)
  const [one, two] = [await node(stage), await node(stage)]
  for (const hint of upTo(50)) one.say(hint)
  await until(() => two.heard.length === 50)
  t.same(two.heard, upTo(50), 'in their order')
  t.same(one.heard, [], 'a node does not hear itself')
  t.same(one.bus.carriers(), { postgres: true })
})

t.test('hints go over Redis alone where all nodes have it', { skip }, async (t) => {
  const stage = await stageOf(t)
  const redis = (await redisOf(t)).url
  const [one, two, three] = [
    await node(stage, { redis }),
    await node(stage, { redis }),
    await node(stage, { redis }),
  ]
  const notices = await noticesOf(stage)
  for (const hint of upTo(2_000)) one.say(hint)
  await until(() => two.heard.length === 2_000 && three.heard.length === 2_000)
  t.same(two.heard, upTo(2_000), 'in their order')
  t.same(three.heard, upTo(2_000))
  t.same(notices, [])
  t.same(one.bus.carriers(), { postgres: true, redis: true })
})

t.test('another service on the same Redis hears nothing', { skip }, async (t) => {
  const stage = await stageOf(t)
  const redis = (await redisOf(t)).url
  const [one, two] = [await node(stage, { redis }), await node(stage, { redis })]
  const stranger = await node({ ...(await stageOf(t)), nodes: 5 }, { redis, channel: 'other' })
  one.say('hello')
  await until(() => two.heard.length === 1)
  await pause(50)
  t.same(stranger.heard, [])
})

t.test('a node without Redis and those with it hear each other', { skip }, async (t) => {
  const stage = await stageOf(t)
  const redis = (await redisOf(t)).url
  const [one, two] = [await node(stage, { redis }), await node(stage, { redis })]
  const without = await node(stage)
  one.say('from one')
  await until(() => two.heard.length === 1 && without.heard.length === 1)
  without.say('from without')
  await until(() => one.heard.length === 1 && two.heard.length === 2)
  await pause(100)
  t.same(two.heard, ['from one', 'from without'], 'what comes over both ways is heard once')
  t.same(without.heard, ['from one'])
})

t.test('Redis ends, and is back: no hint is missed in between', { skip }, async (t) => {
  const stage = await stageOf(t)
  const redis = await redisOf(t)
  const [one, two] = [await node(stage, over(redis)), await node(stage, over(redis))]
  await redis.kill()
  await until(() => two.bus.carriers().redis === false)
  t.equal(two.seen.gaps, 1, 'what was under way may be lost')
  one.say('while it is away')
  two.say('the other way')
  await until(() => two.heard.length === 1 && one.heard.length === 1)

  await redis.start()
  await until(() => one.bus.carriers().redis && two.bus.carriers().redis)
  t.equal(two.seen.gaps, 2)
  // The publisher does not try for a second after its last failure.
  await pause(1_100)
  const notices = await noticesOf(stage)
  one.say('over Redis again')
  await until(() => two.heard.length === 2)
  t.same(two.heard, ['while it is away', 'over Redis again'])
  t.same(notices, [])
})

t.test('a node starts while Redis is away', { skip }, async (t) => {
  const stage = await stageOf(t)
  const redis = await RedisServer.create(t)
  const one = await node(stage)
  const starting = node(stage, over(redis))
  await pause(1_000)
  one.say('early')
  await redis.start()
  const two = await starting
  t.same(two.heard, ['early'])
  t.equal(two.seen.gaps, 0, 'nothing was missed')
})

t.test('a Redis that does not answer delays little and repeats nothing', { skip }, async (t) => {
  const stage = await stageOf(t)
  const redis = await redisOf(t)
  const [one, two] = [await node(stage, over(redis)), await node(stage, over(redis))]
  redis.freeze()
  const began = performance.now()
  one.say('in the cold')
  await until(() => two.heard.length === 1)
  t.ok(performance.now() - began < 1_500)
  await until(() => two.bus.carriers().redis === false)
  one.say('still')
  await until(() => two.heard.length === 2)
  redis.thaw()
  await until(() => one.bus.carriers().redis && two.bus.carriers().redis)
  one.say('warm')
  await until(() => two.heard.length === 3)
  await pause(1_000)
  t.same(two.heard, ['in the cold', 'still', 'warm'], 'also when Redis delivers late')
})

t.test('a node whose line to Redis is dead without a word', { skip }, async (t) => {
  const stage = await stageOf(t)
  const redis = await redisOf(t)
  const line = await Relay.start(() => redis.port)
  t.teardown(() => line.stop())
  const one = await node(stage, over(redis))
  const two = await node(stage, { redis: `redis://127.0.0.1:${line.port}` })
  line.block()
  line.silence()
  await until(() => two.bus.carriers().redis === false)
  t.equal(two.seen.gaps, 1)
  // Redis counts its connection as long as nobody says otherwise.
  await pause(1_500)
  one.say('to the deaf one')
  await until(() => two.heard.length === 1)
  two.say('from the deaf one')
  await until(() => one.heard.length === 1)
  line.unblock()
  await until(() => two.bus.carriers().redis)
  t.same([one.heard, two.heard], [['from the deaf one'], ['to the deaf one']])
})

t.test('a line to PostgreSQL that is dead without a word is left for another one', async (t) => {
  const { url } = await testDatabase(t)
  const line = await Relay.start(() => Number(new URL(url).port))
  t.teardown(() => line.stop())
  const overLine = new URL(url)
  overLine.host = `127.0.0.1:${line.port}`
  const heard: string[] = []
  let gaps = 0
  const ends = { logger, heard: (notice: string) => heard.push(notice), gap: () => gaps++ }
  const carrier = new PostgresCarrier(`${overLine}`, ends)
  carrier.start()
  t.teardown(() => carrier.close())
  await until(() => carrier.isUp)
  line.silence()
  await until(() => gaps === 1)
  const speaker = await connect(url, 'test')
  t.teardown(() => speaker.close())
  await speaker.query('select pg_notify($1, $2)', ['chapar', 'heard again'])
  await until(() => heard.length === 1)
  t.same(heard, ['heard again'])
})

t.test('a stream of changes tells the state again when Redis is lost', { skip }, async (t) => {
  const redis = await redisOf(t)
  const env = { REDIS_URL: redis.url, METRICS_TOKEN, CLUSTER_ADDRESS: 'https://127.0.0.1:0' }
  const one = await startService(t, { env: { ...env, NODE_NAME: 'one' } })
  const client = await one.client()
  const two = await startService(t, {
    databaseUrl: one.databaseUrl,
    env: { ...env, NODE_NAME: 'two', DATA_DIR: one.dataDir },
  })
  const leaving = new AbortController()
  const response = await fetch(`${two.url}/platforms/credentials/events`, {
    headers: { authorization: `Bearer ${client.token}` },
    signal: leaving.signal,
  })
  let text = ''
  const reading = (async () => {
    for await (const piece of response.body ?? []) text += Buffer.from(piece).toString()
  })().catch(() => undefined)
  const states = () => text.match(/event: state/g)?.length
  await until(() => states() === 1)
  await until(async () => (await metrics(two.url)).includes('chapar_bus{carrier="redis"} 1'))
  await redis.kill()
  await until(() => states() === 2)
  t.match(await metrics(two.url), /^chapar_bus\{carrier="redis"\} 0$/m)
  t.match(await metrics(two.url), /^chapar_bus\{carrier="postgres"\} 1$/m)
  t.equal((await fetch(`${two.url}/health/ready`)).status, 200, 'nothing depends on it')
  leaving.abort()
  await reading
})

async function metrics(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  return await (await fetch(`${url}/metrics`, { headers })).text()
}

function over(server: RedisServer): NodeOptions {
  return { redis: server.url }
}

t.test('a server that takes no listeners is left without connections', async (t) => {
  const { url } = await testDatabase(t)
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const near = createServer((socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
    const far = connectTo(Number(port), hostname)
    for (const each of [socket, far]) each.on('error', () => undefined)
    // The server does not know this word; a standby refuses the right one.
    socket.on('data', (chunk) =>
      far.write(chunk.toString('latin1').replace('listen', 'lissen'), 'latin1'),
    )
    far.pipe(socket)
    socket.on('close', () => far.destroy())
  }).listen(0, '127.0.0.1')
  await once(near, 'listening')
  const relayed = new URL(url)
  relayed.hostname = '127.0.0.1'
  relayed.port = `${(near.address() as AddressInfo).port}`
  let tries = 0
  const counting = { ...logger, debug: () => void tries++ }
  const ends = { logger: counting as typeof logger, heard: () => undefined, gap: () => undefined }
  const carrier = new PostgresCarrier(`${relayed}`, ends)
  carrier.start()
  t.teardown(async () => {
    await carrier.close()
    near.close()
  })
  await until(() => tries >= 3)
  t.ok(sockets.size <= 1, `${sockets.size} connections`)
})
