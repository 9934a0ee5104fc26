/** The faults: each is a round of a suite, after which all nodes are back. */
import { setTimeout as pause } from 'node:timers/promises'
import { MINIMUM } from '../../src/database/migrate.ts'
import { until } from '../support/client.ts'
import { exclusive, xmpp } from './ends.ts'
import { breakFor, crashBackend } from './faults.ts'
import { linearizable } from './linearizable.ts'
import { networkMissing } from './network.ts'
import { releaseMissing } from './release.ts'
import type { Stage, StageNode } from './stage.ts'
import {
  LOOK_MS,
  type Owners,
  placedOwners,
  RECOVERED_WITHIN_MS,
  type Recovery,
  type Suite,
} from './suite.ts'
import { spoilFor, toxiproxyMissing } from './toxics.ts'

interface Watched {
  readonly id: number
  readonly next: number
  readonly epoch: number
}

const look = ({ database }: Stage, ids: Iterable<number>) =>
  database.query<Watched>(
    `select credential_id as id, next_update_id as next, epoch from credential_log
      where credential_id = any($1)`,
    [[...ids]],
  )

/**
 * How long each of these accounts needs until it stores the next update, from now on; by another owner, if it `moves`.
 * Somebody writes to each of them at once, so that it is the account that is waited for and not its next message.
 */
async function recoveriesOf(
  stage: Stage,
  ids: readonly number[],
  moves: boolean,
): Promise<Recovery[]> {
  const began = performance.now()
  const before = new Map((await look(stage, ids)).map((row) => [row.id, row]))
  const probing = stage.load.probe(ids)
  const recoveries: Recovery[] = []
  while (before.size > 0 && performance.now() - began < RECOVERED_WITHIN_MS) {
    for (const { id, next, epoch } of await look(stage, before.keys())) {
      const known = before.get(id)
      if (!known || next <= known.next || (moves && epoch === known.epoch)) continue
      recoveries.push({ account: id, ms: performance.now() - began })
      before.delete(id)
    }
    await pause(LOOK_MS)
  }
  for (const id of before.keys()) recoveries.push({ account: id, ms: Number.POSITIVE_INFINITY })
  await probing
  return recoveries
}

const withLoad = ({ credentialIds }: Stage, ids: ReadonlySet<number>) =>
  credentialIds.filter((id) => ids.has(id))

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
  goal: { share: 0.99, ms: 3_000 },
  async round(stage, random) {
    const victim = anyOf(stage.nodes, random)
    const ids = withLoad(stage, await ownedBy(stage, victim))
    const gone = victim.process.end('SIGKILL')
    const recoveries = await recoveriesOf(stage, ids, true)
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
  goal: { share: 0.99, ms: 12_000 },
  async round(stage, random) {
    const victim = anyOf(stage.nodes, random)
    const ids = withLoad(stage, await ownedBy(stage, victim))
    victim.process.signal('SIGSTOP')
    const [recoveries] = await Promise.all([recoveriesOf(stage, ids, true), pause(FROZEN_MS)])
    victim.process.signal('SIGCONT')
    await stage.settled()
    return { recoveries, needless: 0 }
  },
}

const LEAST_STALLED_MS = 2_200
const MOST_STALLED_MS = 6_500

/** A process stands still now and then, for less than its lease: its database answers, and the others are to wait. */
const stall: Suite = {
  name: 'process too busy',
  promisesCalls: false,
  // The server's own timers close connections that were idle for long before their next request is read.
  cuts: true,
  async round(stage, random) {
    const before = await placedOwners(stage)
    const victim = anyOf(stage.nodes, random)
    for (let time = 0; time < 3; time++) {
      victim.process.signal('SIGSTOP')
      await pause(LEAST_STALLED_MS + random() * (MOST_STALLED_MS - LEAST_STALLED_MS))
      victim.process.signal('SIGCONT')
      await pause(random() * 1_000)
    }
    const recoveries = await healed(stage, victim)
    return { recoveries, needless: movedBetween(before, await stage.owners()) }
  },
}

/** Stops a node in order and tells when each of its accounts, also those without load, had another owner. */
async function stopInOrder(stage: Stage, node: StageNode): Promise<Recovery[]> {
  const left = new Set(await ownedBy(stage, node))
  const began = performance.now()
  const gone = node.process.end('SIGTERM')
  const recoveries: Recovery[] = []
  while (left.size > 0 && performance.now() - began < RECOVERED_WITHIN_MS) {
    const owners = await stage.owners()
    const ms = performance.now() - began
    for (const account of left) {
      const owner = owners.get(account)
      if (owner === undefined || owner === node.name) continue
      recoveries.push({ account, ms })
      left.delete(account)
    }
    await pause(LOOK_MS)
  }
  for (const account of left) recoveries.push({ account, ms: Number.POSITIVE_INFINITY })
  await gone
  return recoveries
}

/** One node after the other is stopped in order and started again, as an upgrade does it. */
const rolling: Suite = {
  name: 'rolling restart',
  promisesCalls: true,
  cuts: false,
  async round(stage) {
    const recoveries: Recovery[] = []
    for (const node of stage.nodes) {
      recoveries.push(...(await stopInOrder(stage, node)))
      await node.start()
      await stage.settled()
    }
    return { recoveries, needless: 0 }
  },
}

const movedBetween = (before: Owners, after: Owners) =>
  [...before].filter(([id, owner]) => after.get(id) !== owner).length

/** A node gives all its accounts away: with `--idle`, a thousand or more. */
const handover: Suite = {
  name: 'handover',
  promisesCalls: true,
  cuts: false,
  goal: { share: 1, ms: 5_000 },
  async round(stage, random) {
    await placedOwners(stage)
    const node = anyOf(stage.nodes, random)
    const recoveries = await stopInOrder(stage, node)
    await node.start()
    await stage.settled()
    return { recoveries, needless: 0 }
  },
}

/** PostgreSQL, or only one of its backends, crashes and is back at once: no node is to blame another one. */
const postgres: Suite = {
  name: 'PostgreSQL restart',
  promisesCalls: false,
  cuts: false,
  async round(stage, random) {
    const before = await placedOwners(stage)
    await (random() < 0.5 ? stage.postgres.crash() : crashBackend(stage))
    const recoveries = await recoveriesOf(stage, withLoad(stage, new Set(before.keys())), false)
    await stage.settled()
    const after = await stage.owners()
    return { recoveries, needless: movedBetween(before, after) }
  },
}

const MOST_APART_MS = 13_000

const isReady = async ({ url }: StageNode) => (await fetch(`${url}/health/ready`)).ok

/** All accounts flow again, and all nodes are back. */
async function healed(stage: Stage, node: StageNode): Promise<Recovery[]> {
  const ids = withLoad(stage, new Set((await stage.owners()).keys()))
  const recoveries = await recoveriesOf(stage, ids, false)
  await until(() => isReady(node).catch(() => false), 30_000)
  await stage.settled()
  return recoveries
}

/** A node loses its line to the database for some seconds. */
const partition: Suite = {
  name: 'partition',
  promisesCalls: false,
  cuts: true,
  async round(stage, random) {
    const node = anyOf(stage.nodes, random)
    const apartMs = 500 + random() * MOST_APART_MS
    await breakFor([node.line], apartMs, random)
    return { recoveries: await healed(stage, node), needless: 0 }
  },
}

const MOST_PEERS_APART_MS = 8_000

/** The others cannot reach a node, or nobody anybody; the database says that all are there, so no account moves. */
const peers: Suite = {
  name: 'partition between nodes',
  needs: { peerLines: true },
  promisesCalls: false,
  cuts: true,
  async round(stage, random) {
    const before = await placedOwners(stage)
    const node = anyOf(stage.nodes, random)
    const apart = random() < 0.7 ? [node] : stage.nodes
    const lines = apart.flatMap(({ peerLine }) => (peerLine ? [peerLine] : []))
    await breakFor(lines, 500 + random() * MOST_PEERS_APART_MS, random)
    const recoveries = await healed(stage, node)
    return { recoveries, needless: movedBetween(before, await stage.owners()) }
  },
}

/** The ways of nodes to the database and Redis are spoiled, as by a bad network. */
const toxics: Suite = {
  name: 'ways spoiled',
  needs: { toxics: true, redis: true },
  missing: toxiproxyMissing,
  promisesCalls: false,
  cuts: true,
  async round(stage, random) {
    const node = anyOf(stage.nodes, random)
    await spoilFor(stage, node, random)
    const recoveries = await healed(stage, node)
    return { recoveries, needless: 0 }
  },
}

/** The machine of a node is cut off from everything, as by a pulled cable. */
const netns: Suite = {
  name: 'machine cut off',
  needs: { network: true },
  missing: networkMissing,
  promisesCalls: false,
  cuts: true,
  async round(stage, random) {
    const node = anyOf(stage.nodes, random)
    await node.machine?.connect(false)
    await pause(500 + random() * MOST_APART_MS)
    await node.machine?.connect(true)
    return { recoveries: await healed(stage, node), needless: 0 }
  },
}

/** Nodes of the last release are replaced by those of this tree, one after the other, and back where that is promised. */
const upgrade: Suite = {
  name: 'upgrade',
  needs: { release: true },
  missing: releaseMissing,
  promisesCalls: true,
  cuts: false,
  async round(stage) {
    const { release } = stage
    if (!release) throw new Error('there is no release')
    const recoveries: Recovery[] = []
    const replaceAll = async (tree?: string) => {
      for (const node of stage.nodes) {
        recoveries.push(...(await stopInOrder(stage, node)))
        await node.start(tree)
        await stage.settled()
      }
    }
    await replaceAll()
    const [row] = await stage.database.query<{ migration: string }>(MINIMUM)
    if (row && release.newest >= row.migration) await replaceAll(release.tree)
    return { recoveries, needless: 0 }
  },
}

/** Longer than a node waits for an answer of Redis before it listens anew. */
const REDIS_FROZEN_MS = 3_500

/** Redis forgets everything, stands still, is killed and comes back: that is nothing to callers. */
const redis: Suite = {
  name: 'Redis lost',
  needs: { redis: true },
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
    const recoveries = await recoveriesOf(stage, withLoad(stage, new Set(before.keys())), false)
    await pause(1_000)
    await server.start()
    // Until hints and limits are there again.
    await pause(2_000)
    await stage.settled()
    const after = await stage.owners()
    return { recoveries, needless: movedBetween(before, after) }
  },
}

export const suites = {
  crash,
  freeze,
  stall,
  rolling,
  handover,
  postgres,
  partition,
  peers,
  toxics,
  netns,
  exclusive,
  xmpp,
  redis,
  upgrade,
  linearizable,
}
export type SuiteName = keyof typeof suites
