/** One, two and three nodes on this machine: what a send, an update and a held poll cost at the owner of the account, and at the node that passes them on. */
import { setTimeout as pause } from 'node:timers/promises'
import { load, post } from './support/connection.ts'
import { below, type Finding } from './support/finding.ts'
import { Listeners } from './support/listeners.ts'
import { FIRST_UPDATE, seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { type Service, startService } from './support/service.ts'
import { empty, type Stage } from './support/stage.ts'
import { kilobytes, microseconds, milliseconds, percentile } from './support/statistics.ts'

const SENDERS = 24
const RECEIVERS = 600
/** So few that no call waits for another. */
const CONNECTIONS = 4
const WARM_UP_MS = 2_000
const TURNS = 5
const TURN_MS = 1_500
const UPDATES = { reports: 10, everyMs: 100 }
const HOP_P50_MS = 0.3
const HOP_CPU_MS = 0.08
/** Accounts stay where they are for so long: then none moves any more. */
const CALM_MS = 4_000

/** What one way took: milliseconds of each call, and milliseconds of processor time at both nodes. */
interface Cost {
  readonly delays: number[]
  owner: number
  edge: number
}

interface Cluster {
  readonly stage: Stage
  readonly services: readonly Service[]
  /** The node of the accounts that are measured, and one that passes calls on to it; the same where it is alone. */
  readonly owner: Service
  readonly edge: Service
  readonly people: readonly number[]
  /** Keys and accounts of `owner` alone. */
  readonly senders: readonly string[]
  readonly receivers: readonly { readonly id: number; readonly key: string }[]
}

export async function nodes(stage: Stage): Promise<Finding[]> {
  const found: Finding[] = []
  for (const count of [1, 2, 3]) {
    await empty(stage.sql)
    const cluster = await openCluster(stage, count)
    try {
      found.push(...(await costOfSends(cluster)), ...(await costOfPolls(cluster)))
    } finally {
      for (const service of cluster.services) await service.stop()
    }
  }
  return found
}

async function openCluster(stage: Stage, count: number): Promise<Cluster> {
  const userId = await seedUser(stage)
  const { credentialIds: sending } = await seedLinked(stage, userId, SENDERS)
  const receiving = await seedChatter(stage, userId, RECEIVERS)
  const ids = [...sending, ...receiving]
  const keys = new Map<number, string>()
  for (const [at, key] of (await seedKeys(stage, userId, ids)).entries())
    keys.set(ids[at] ?? 0, key)
  const people = await seedPeople(stage, userId, CONNECTIONS)
  const services: Service[] = []
  for (let n = 1; n <= count; n++) {
    services.push(
      await startService(stage, {
        START_BUDGET: '100',
        BASE_URL: 'http://bench.test',
        NODE_NAME: `node-${n}`,
        NODE_WEIGHT: '1',
        REBALANCE_SECONDS: '1',
        ...(count > 1 && { CLUSTER_ADDRESS: 'https://127.0.0.1:0' }),
      }),
    )
  }
  const owned = await settledOwners(stage, count)
  for (const [name, accounts] of owned) {
    await services[Number(name.slice('node-'.length)) - 1]?.ask('online', accounts.length)
  }
  const own = new Set(owned.get('node-1'))
  const [owner, second] = services
  if (!owner) throw new Error('there is no node')
  const ofOwner = (some: readonly number[]) =>
    some.filter((id) => own.has(id)).map((id) => ({ id, key: keys.get(id) ?? '' }))
  const senders = ofOwner(sending).map(({ key }) => key)
  return {
    stage,
    services,
    owner,
    edge: second ?? owner,
    people,
    senders,
    receivers: ofOwner(receiving),
  }
}

/** The accounts of each node, once they move no more. */
async function settledOwners(stage: Stage, count: number): Promise<Map<string, number[]>> {
  for (let [before, since] = ['', performance.now()]; ; await pause(250)) {
    const { rows } = await stage.sql.query<{ id: number; name: string }>(
      `select l.credential_id as id, n.name from credential_log l join node n on n.id = l.owner
        where n.ended_at is null order by 1`,
    )
    const owned = Map.groupBy(rows, ({ name }) => name)
    const now = JSON.stringify(rows)
    if (now !== before) since = performance.now()
    before = now
    const isCalm = performance.now() - since > CALM_MS && owned.size === count
    if (!isCalm || rows.length < SENDERS + RECEIVERS) continue
    return new Map([...owned].map(([name, accounts]) => [name, accounts.map(({ id }) => id)]))
  }
}

const processorOf = (service: Service) => service.ask<number>('processor')

/** Adds to `cost` what the work took at both nodes. */
async function measured(
  { owner, edge }: Cluster,
  cost: Cost,
  work: () => Promise<readonly number[]>,
): Promise<void> {
  const [atOwner, atEdge] = await Promise.all([processorOf(owner), processorOf(edge)])
  cost.delays.push(...(await work()))
  cost.owner += (await processorOf(owner)) - atOwner
  cost.edge += (await processorOf(edge)) - atEdge
}

const noCost = (): Cost => ({ delays: [], owner: 0, edge: 0 })
const text = 'The quick brown fox jumps over the lazy dog.'

async function costOfSends(cluster: Cluster): Promise<Finding[]> {
  const { services, owner, edge, people, senders } = cluster
  const requests = people.map((chat_id, at) =>
    Buffer.from(post(`/bot${senders[at % senders.length]}/sendMessage`, { chat_id, text })),
  )
  const isAlone = owner === edge
  const costs = { owner: noCost(), edge: noCost() }
  const ways = isAlone ? (['owner'] as const) : (['owner', 'edge'] as const)
  const portOf = (way: 'owner' | 'edge') => (way === 'owner' ? owner : edge).port
  for (const way of ways) await load(portOf(way), requests, WARM_UP_MS)
  // In turn, so that whatever else the machine does meets both alike.
  for (let turn = 0; turn < TURNS; turn++) {
    for (const way of ways) {
      await measured(cluster, costs[way], () => load(portOf(way), requests, TURN_MS))
    }
  }
  const title = `${services.length} nodes: sendMessage`
  const p50 = (way: 'owner' | 'edge') => percentile(costs[way].delays, 0.5)
  const each = (way: 'owner' | 'edge', at: 'owner' | 'edge') =>
    costs[way][at] / costs[way].delays.length
  const direct: Finding[] = [
    { what: `${title} at the owner: p50`, ours: milliseconds(p50('owner')) },
    { what: '  processor time', ours: microseconds(each('owner', 'owner')) },
  ]
  if (isAlone) return direct
  const hop = p50('edge') - p50('owner')
  // In as much time, without calls: on a busy machine there are few of them for all that a node does anyway.
  const idle = costs.owner.edge
  const cpu = (costs.edge.edge - idle) / costs.edge.delays.length
  return [
    ...direct,
    {
      what: '  through another node: added to the p50',
      ours: milliseconds(hop),
      ...below(hop, HOP_P50_MS, '0.3 ms'),
    },
    {
      what: '  processor time of the node that passes it on',
      ours: microseconds(cpu),
      ...below(cpu, HOP_CPU_MS, '80 µs'),
    },
    {
      what: '  what that node takes anyway, for each of these calls',
      ours: microseconds(idle / costs.edge.delays.length),
    },
    { what: '  processor time of the owner', ours: microseconds(each('edge', 'owner')) },
  ]
}

/** Polls are opened and held, then each gets updates, by one way and then by the other. */
async function costOfPolls(cluster: Cluster): Promise<Finding[]> {
  const { services, owner, edge } = cluster
  const found: Finding[] = []
  // Every account has its first update, which is another matter.
  await speak(cluster, 1, 0)
  let offset = FIRST_UPDATE + 1
  for (const service of owner === edge ? [owner] : [owner, edge]) {
    found.push(...(await heldAt(cluster, service, offset)))
    offset += UPDATES.reports
  }
  return found.map(({ what, ...rest }) => ({ what: `${services.length} nodes: ${what}`, ...rest }))
}

const speak = ({ owner, receivers }: Cluster, reports: number, everyMs: number) =>
  owner.ask('speak', { credentialIds: receivers.map(({ id }) => id), batch: 1, reports, everyMs })

async function heldAt(cluster: Cluster, service: Service, offset: number): Promise<Finding[]> {
  const { owner, edge, receivers } = cluster
  const place = service === owner ? 'at the owner' : 'through another node'
  const [before, opening, updates] = [await service.memory(), noCost(), noCost()]
  let listeners: Listeners | undefined
  await measured(cluster, opening, async () => {
    const keys = receivers.map(({ key }) => key)
    listeners = await Listeners.open(service.port, keys, offset)
    while ((await owner.ask<number>('waitingPolls')) < receivers.length) await pause(50)
    return keys.map(() => 0)
  })
  const after = await service.memory()
  await measured(cluster, updates, async () => {
    const received = listeners?.receive(receivers.length * UPDATES.reports)
    await speak(cluster, UPDATES.reports, UPDATES.everyMs)
    return (await received) ?? []
  })
  listeners?.close()
  while ((await owner.ask<number>('waitingPolls')) > 0) await pause(50)
  const both = (cost: Cost) => {
    const each = (milliseconds: number) => microseconds(milliseconds / cost.delays.length)
    return owner === edge ? each(cost.owner) : `owner ${each(cost.owner)}, edge ${each(cost.edge)}`
  }
  return [
    { what: `opening a poll ${place}: processor time`, ours: both(opening) },
    {
      what: `a held poll ${place}: memory of that node (RSS)`,
      ours: kilobytes((after.rss - before.rss) / receivers.length),
    },
    { what: `an update to a held poll ${place}: processor time`, ours: both(updates) },
    {
      what: `an update to a held poll ${place}: report to receipt`,
      ours: `p50 ${milliseconds(percentile(updates.delays, 0.5))}, p99 ${milliseconds(percentile(updates.delays, 0.99))}`,
    },
  ]
}
