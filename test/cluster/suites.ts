/** The faults: each is a round of a suite, after which all nodes are back. */
import { setTimeout as pause } from 'node:timers/promises'
import { placeOf } from '../../actors/node/placement.ts'
import { until } from '../support/client.ts'
import type { Stage, StageNode } from './stage.ts'

/** What one round has shown, in milliseconds. */
export interface Round {
  /** From the fault to the first stored update of each account that it concerned. */
  readonly recoveries: readonly number[]
  /** Accounts that changed their owner though nothing made it necessary. */
  readonly needless: number
}

export interface Suite {
  readonly name: string
  /** Whether the nodes have a Redis. */
  readonly redis?: boolean
  /** Whether callers are promised that nothing fails. */
  readonly promisesCalls: boolean
  /** Whether connections to a process that ends may be lost under a call. */
  readonly cuts: boolean
  round(stage: Stage, random: () => number): Promise<Round>
}

const LOOK_MS = 25
const RECOVERED_WITHIN_MS = 60_000

/** How long each of these accounts needs until it stores the next update, from now on. */
async function recoveriesOf(stage: Stage, ids: readonly number[]): Promise<number[]> {
  const began = performance.now()
  const waiting = new Map<number, number | undefined>(ids.map((id) => [id, undefined]))
  const recoveries: number[] = []
  while (waiting.size > 0 && performance.now() - began < RECOVERED_WITHIN_MS) {
    const rows = await stage.database.query<{ id: number; next: number; owner: number | null }>(
      'select credential_id as id, next_update_id as next from credential_log where credential_id = any($1)',
      [[...waiting.keys()]],
    )
    for (const { id, next } of rows) {
      const before = waiting.get(id)
      if (before !== undefined && next > before) {
        recoveries.push(performance.now() - began)
        waiting.delete(id)
      } else waiting.set(id, next)
    }
    await pause(LOOK_MS)
  }
  for (const _ of waiting) recoveries.push(Number.POSITIVE_INFINITY)
  return recoveries
}

const withLoad = ({ accounts }: Stage, ids: ReadonlySet<number>) =>
  accounts.map(({ credentialId }) => credentialId).filter((id) => ids.has(id))

async function ownedBy(stage: Stage, { name }: StageNode): Promise<ReadonlySet<number>> {
  const owners = await stage.owners()
  return new Set([...owners].filter(([, owner]) => owner === name).map(([id]) => id))
}

const anyOf = (nodes: readonly StageNode[], random: () => number): StageNode => {
  const node = nodes[Math.floor(random() * nodes.length)]
  if (!node) throw new Error('there is no node')
  return node
}

/** A process is killed, its accounts go on elsewhere, and it comes back. */
const crash: Suite = {
  name: 'crash',
  promisesCalls: true,
  cuts: true,
  async round(stage, random) {
    const victim = anyOf(stage.nodes, random)
    const ids = withLoad(stage, await ownedBy(stage, victim))
    const gone = victim.process.end('SIGKILL')
    const recoveries = await recoveriesOf(stage, ids)
    await gone
    await victim.start()
    await stage.settled()
    return { recoveries, needless: 0 }
  },
}

const FROZEN_MS = 14_000

/** A process stands still for longer than the others wait for it, and goes on. */
const freeze: Suite = {
  name: 'freeze',
  promisesCalls: true,
  cuts: true,
  async round(stage, random) {
    const victim = anyOf(stage.nodes, random)
    const ids = withLoad(stage, await ownedBy(stage, victim))
    victim.process.signal('SIGSTOP')
    const [recoveries] = await Promise.all([recoveriesOf(stage, ids), pause(FROZEN_MS)])
    victim.process.signal('SIGCONT')
    await stage.settled()
    return { recoveries, needless: 0 }
  },
}

/** One node after the other is stopped in order and started again, as an upgrade does it. */
const rolling: Suite = {
  name: 'rolling restart',
  promisesCalls: true,
  cuts: false,
  async round(stage) {
    const recoveries: number[] = []
    for (const node of stage.nodes) {
      const ids = withLoad(stage, await ownedBy(stage, node))
      const handedOver = until(async () => (await ownedBy(stage, node)).size === 0)
      const began = performance.now()
      const gone = node.process.end('SIGTERM')
      await handedOver
      if (ids.length > 0) recoveries.push(performance.now() - began)
      await gone
      await node.start()
      await stage.settled()
    }
    return { recoveries, needless: 0 }
  },
}

type Owners = ReadonlyMap<number, string>

const movedBetween = (before: Owners, after: Owners) =>
  [...before].filter(([id, owner]) => after.get(id) !== owner).length

/** The owners once every account is where it is placed: whatever still goes there would look like a takeover. */
const placedOwners = (stage: Stage): Promise<Owners> =>
  until(async () => {
    const owners = await stage.owners()
    const places = stage.nodes.map(({ name }) => ({ name, weight: 1 }))
    return [...owners].every(([id, owner]) => placeOf(id, places) === owner) && owners
  }, 60_000)

/** PostgreSQL crashes and is back at once: no node is to blame another one. */
const postgres: Suite = {
  name: 'PostgreSQL restart',
  promisesCalls: false,
  cuts: false,
  async round(stage) {
    const before = await placedOwners(stage)
    await stage.postgres.crash()
    const recoveries = await recoveriesOf(stage, withLoad(stage, new Set(before.keys())))
    await stage.settled()
    const after = await stage.owners()
    return { recoveries, needless: movedBetween(before, after) }
  },
}

const MOST_APART_MS = 13_000

/** A node loses its line to the database for some seconds: by a closed connection, or in silence. */
const partition: Suite = {
  name: 'partition',
  promisesCalls: false,
  cuts: true,
  async round(stage, random) {
    const { line, url } = anyOf(stage.nodes, random)
    const isSilent = random() < 0.5
    const apartMs = 500 + random() * MOST_APART_MS
    line.block()
    if (isSilent) line.silence()
    else line.cut()
    await pause(apartMs)
    line.unblock()
    if (isSilent) line.unsilence()
    const ids = withLoad(stage, new Set((await stage.owners()).keys()))
    const recoveries = await recoveriesOf(stage, ids)
    await until(async () => (await fetch(`${url}/health/ready`)).ok, 30_000)
    await stage.settled()
    return { recoveries, needless: 0 }
  },
}

/** Longer than a node waits for an answer of Redis before it listens anew. */
const REDIS_FROZEN_MS = 3_500

/** Redis forgets everything, stands still, is killed and comes back: that is nothing to callers. */
const redis: Suite = {
  name: 'Redis lost',
  redis: true,
  promisesCalls: true,
  cuts: false,
  async round(stage) {
    const server = stage.redis
    if (!server) throw new Error('there is no Redis')
    const before = await placedOwners(stage)
    await server.tell('FLUSHALL')
    await pause(1_000)
    server.freeze()
    await pause(REDIS_FROZEN_MS)
    server.thaw()
    await server.kill()
    const recoveries = await recoveriesOf(stage, withLoad(stage, new Set(before.keys())))
    await pause(1_000)
    await server.start()
    // Until hints and limits are there again.
    await pause(2_000)
    await stage.settled()
    const after = await stage.owners()
    return { recoveries, needless: movedBetween(before, after) }
  },
}

export const suites = { crash, freeze, rolling, postgres, partition, redis }
export type SuiteName = keyof typeof suites
