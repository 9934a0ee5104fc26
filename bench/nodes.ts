/** One, two and three nodes on this machine: what a send, an update and a held poll cost at the owner of the account, and at the node that passes them on. */
import { setTimeout as pause } from 'node:timers/promises'
import { load, post } from './support/connection.ts'
import { below, type Finding } from './support/finding.ts'
import { type Front, startFronts } from './support/fronts.ts'
import { Listeners } from './support/listeners.ts'
import { FIRST_UPDATE, seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { type Service, startService } from './support/service.ts'
import { empty, type Stage } from './support/stage.ts'
import { kilobytes, microseconds, milliseconds, percentile } from './support/statistics.ts'

const SENDERS = 24
const RECEIVERS = 600
/** Alone no call waits for another; with many the node always has work, so none pays for waking it. */
const LOADS = { alone: 1, many: 32 }
/** Code is compiled late: each way warms up until rounds in a row are no cheaper than the best before them. */
const ROUND_MS = 800
const CALM_ROUNDS = 3
const MOST_ROUNDS = 10
const CHEAPER = 0.97
const TURNS = 4
const TURN_MS = 600
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
  const people = await seedPeople(stage, userId, LOADS.many)
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

/** What calls go through on their way to the owner; the first way of a cluster is the owner itself. */
type Way = Pick<Front, 'name' | 'port' | 'processor'>

/** The median of its calls, and milliseconds of processor time at what stands in each way, used or not: each does something anyway. */
interface Turn {
  readonly p50: number
  readonly calls: number
  readonly processor: readonly number[]
}

/** Those of each way, of each load. */
type Turns = Readonly<Record<keyof typeof LOADS, readonly Turn[][]>>

async function costOfSends(cluster: Cluster): Promise<Finding[]> {
  const { services, owner, edge, stage } = cluster
  const title = `${services.length} nodes: sendMessage at the owner`
  const way = (name: string, service: Service): Way => {
    return { name, port: service.port, processor: () => processorOf(service) }
  }
  const direct = way(title, owner)
  if (owner === edge) return ownerFindings(title, await turnsOf(cluster, [direct]))
  // How many nodes there are is nothing to them.
  const fronts = services.length === 2 ? await startFronts(owner.port, stage.dataDir) : []
  const ways = [direct, way('through another node', edge), ...fronts]
  const turns = await turnsOf(cluster, ways)
  for (const front of fronts) await front.stop()
  const hops = ways.flatMap(({ name }, at) => (at > 0 ? hopFindings(name, turns, at) : []))
  return [...ownerFindings(title, turns), ...hops]
}

async function turnsOf(cluster: Cluster, ways: readonly Way[]): Promise<Turns> {
  for (const way of ways) await warmUp(cluster, way)
  const turns = { alone: ways.map((): Turn[] => []), many: ways.map((): Turn[] => []) }
  // In turn, so that whatever else the machine does meets all alike.
  for (let turn = 0; turn < TURNS; turn++) {
    for (const load of ['alone', 'many'] as const) {
      for (const [at, { port }] of ways.entries()) {
        turns[load][at]?.push(await turnOf(cluster, ways, port, LOADS[load], TURN_MS))
      }
    }
  }
  return turns
}

async function warmUp(cluster: Cluster, way: Way): Promise<void> {
  const owner = { ...way, processor: () => processorOf(cluster.owner) }
  for (let [round, least, since] = [0, Number.POSITIVE_INFINITY, 0]; since < CALM_ROUNDS; round++) {
    if (round === MOST_ROUNDS) return
    const both = way.port === cluster.owner.port ? [owner] : [owner, way]
    const { processor, calls } = await turnOf(cluster, both, way.port, LOADS.many, ROUND_MS)
    const each = processor.reduce((sum, part) => sum + part, 0) / calls
    since = each < CHEAPER * least ? 0 : since + 1
    least = Math.min(least, each)
  }
}

async function turnOf(
  { people, senders }: Cluster,
  ways: readonly Way[],
  port: number,
  connections: number,
  forMs: number,
): Promise<Turn> {
  const requests = Array.from({ length: connections }, (_, at) => {
    const chat_id = people[at % people.length]
    return Buffer.from(post(`/bot${senders[at % senders.length]}/sendMessage`, { chat_id, text }))
  })
  const figures = () => Promise.all(ways.map(({ processor }) => processor()))
  const before = await figures()
  const delays = await load(port, requests, forMs)
  const processor = (await figures()).map((after, at) => after - (before[at] ?? 0))
  return { p50: percentile(delays, 0.5), calls: delays.length, processor }
}

const medianOf = (values: readonly number[] = []) => percentile(values, 0.5)

/** What each call took at the owner when it came by that way. */
const atOwner = (turns: readonly Turn[] = []) =>
  medianOf(turns.map(({ processor, calls }) => (processor[0] ?? Number.NaN) / calls))

const alike = (alone: number, many: number) => `${microseconds(alone)}, ${microseconds(many)}`

function ownerFindings(title: string, { alone, many }: Turns): Finding[] {
  return [
    {
      what: `${title}, one at a time: p50`,
      ours: milliseconds(medianOf(alone[0]?.map(({ p50 }) => p50))),
    },
    {
      what: `  processor time, one at a time and ${LOADS.many} at once`,
      ours: alike(atOwner(alone[0]), atOwner(many[0])),
    },
  ]
}

/** Turn by turn against the owner's own, in which what stands in that way had nothing to do. */
function hopFindings(name: string, { alone, many }: Turns, at: number): Finding[] {
  const against = (turns: readonly Turn[][], cost: (turn: Turn, direct: Turn) => number) =>
    medianOf(turns[at]?.map((turn, index) => cost(turn, turns[0]?.[index] ?? turn)))
  const passing = (turn: Turn, direct: Turn) =>
    ((turn.processor[at] ?? 0) - (direct.processor[at] ?? 0)) / turn.calls
  const added = against(alone, (turn, direct) => turn.p50 - direct.p50)
  const busy = against(many, passing)
  const isOurs = at === 1
  return [
    {
      what: `  ${name}, one at a time: added to the p50`,
      ours: milliseconds(added),
      ...(isOurs && below(added, HOP_P50_MS, '0.3 ms')),
    },
    {
      what: '    processor time of what passes it on, one at a time',
      ours: microseconds(against(alone, passing)),
    },
    {
      what: `    the same, ${LOADS.many} at once`,
      ours: microseconds(busy),
      ...(isOurs && below(busy, HOP_CPU_MS, '80 µs')),
    },
    {
      what: `    processor time of the owner, one at a time and ${LOADS.many} at once`,
      ours: alike(atOwner(alone[at]), atOwner(many[at])),
    },
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
