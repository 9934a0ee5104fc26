/** Toxiproxy between each node and the database and Redis: what it does there is drawn anew for each round. */
import { setTimeout as pause } from 'node:timers/promises'
import { toxicFaults } from '../faults/toxic-faults.ts'
import type { RedisServer } from '../support/redis.ts'
import { Toxiproxy } from '../support/toxiproxy.ts'
import type { Stage, StageNode, Testing } from './stage.ts'

export async function openToxiproxy(t: Testing): Promise<Toxiproxy> {
  const toxiproxy = await Toxiproxy.start()
  if (typeof toxiproxy === 'string') throw new Error(toxiproxy)
  t.teardown(() => toxiproxy.stop())
  return toxiproxy
}

export async function toxiproxyMissing(): Promise<string | undefined> {
  const toxiproxy = await Toxiproxy.start()
  if (typeof toxiproxy === 'string') return toxiproxy
  await toxiproxy.stop()
  return undefined
}

/** The ways of a node, by which it gets to these. */
const waysOf = (name: string) => ({ database: `${name}-database`, redis: `${name}-redis` })

export async function spoilable(
  toxiproxy: Toxiproxy,
  name: string,
  databasePort: number,
  redis: RedisServer | undefined,
) {
  const ways = waysOf(name)
  const redisPort = redis && (await toxiproxy.leadTo(ways.redis, redis.port))
  return {
    databasePort: await toxiproxy.leadTo(ways.database, databasePort),
    environment: { ...(redisPort && { REDIS_URL: `redis://127.0.0.1:${redisPort}` }) },
  }
}

/** What befalls the Redis of all nodes meanwhile. */
const redisTroubles = [
  undefined,
  'CLIENT KILL TYPE normal',
  'CLIENT KILL TYPE pubsub',
  'CLIENT PAUSE 3000 ALL',
  'CLIENT PAUSE 3000 WRITE',
  'CONFIG SET maxmemory 1',
  'REPLICAOF 127.0.0.1 1',
  'FLUSHALL',
] as const
const redisEnds = ['CONFIG SET maxmemory 0', 'REPLICAOF NO ONE']

const MOST_SPOILED_MS = 12_000
const SEEDS = 1_000_000
/** Whether a node is frozen for a part of the time, too. */
const FREEZES = 0.3

/** Spoils the ways of one node or of all for some time; ends with clean ones. */
export async function spoilFor(
  { toxiproxy, redis, nodes }: Stage,
  node: StageNode,
  random: () => number,
): Promise<void> {
  if (!toxiproxy || !redis) throw new Error('there is no Toxiproxy')
  const spoiled = random() < 0.7 ? [node] : nodes
  const each = spoiled.map(({ name }) => waysOf(name))
  const database = each.map((ways) => ways.database)
  const both = each.flatMap((ways) => [ways.database, ways.redis])
  const seed = Math.floor(random() * SEEDS)
  const [fault] = toxicFaults(toxiproxy, [seed], [database, database, both])
  if (!fault) throw new Error('there is no fault')
  const lastsMs = 500 + random() * MOST_SPOILED_MS
  const trouble = redisTroubles[Math.floor(random() * redisTroubles.length)]
  const isFrozen = random() < FREEZES
  const end = await fault.begin()
  if (trouble) await redis.tell(trouble)
  if (isFrozen) {
    node.process.signal('SIGSTOP')
    await pause(random() * lastsMs)
    node.process.signal('SIGCONT')
  }
  await pause(lastsMs)
  for (const command of redisEnds) await redis.tell(command)
  await end()
}
