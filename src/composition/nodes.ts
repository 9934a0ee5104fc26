/** Builds what this process needs among other nodes: their address for it, the bus, shared limits, and the handover of accounts. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { VERSION } from '../http/headers.ts'
import type { RequestForwarder } from '../http/nodes/forwarding.ts'
import type { RedisConnection } from '../jobs/backend.ts'
import { Bus } from '../nodes/bus.ts'
import { type Handover, handOver } from '../nodes/handover.ts'
import { Moves, SEEN_AFTER_MS } from '../nodes/moves.ts'
import { joinNodes, type Nodes } from '../nodes/nodes.ts'
import { listenForPeers } from '../nodes/peers.ts'
import { SignOuts } from '../nodes/sign-outs.ts'
import type { NodeFigures } from '../nodes/table.ts'
import type { Logger } from '../observability/logger.ts'
import { LAG_RESOLUTION_MS } from '../observability/metrics.ts'
import { concerning } from '../process/fatal-errors.ts'
import { Gcra, Guesses } from '../security/rate-limits.ts'
import type { Core } from './core.ts'
import type { Services } from './services.ts'
import { resealAll, type Storage } from './storage.ts'

interface NodesOptions {
  readonly config: Config
  readonly databaseUrl: string
  readonly storage: Storage
  readonly logger: Logger
}

/** Resolves once this node has joined the others. */
export async function openNodes(options: NodesOptions, opened: AsyncDisposableStack) {
  const { config, databaseUrl: url, storage, logger } = options
  const peers = await openToPeers(config, storage, opened)
  const nodes = await joinNodes({
    ...storage,
    url,
    name: config.node,
    address: peers?.address ?? null,
    // The embedded database serves one process, or several that have addresses.
    isSole: config.databaseUrl === undefined && peers === undefined,
    weight: config.nodeWeight,
    version: VERSION,
    common: {
      baseUrl: config.baseUrls[0],
      keys: storage.vault.keys,
      files: storage.media.place,
    },
    logger,
  })
  opened.defer(() => nodes.leave())
  await resealAll(storage, logger)
  const incarnation = () => nodes.view().incarnation ?? 0
  const { isAlone, count } = nodes
  const connection = storage.jobs.redis
  const redis = connection && { redis: { connection, channel: channelOf(config, storage) } }
  const bus = new Bus({ url, logger, incarnation, isAlone, count, ...redis })
  bus.start()
  opened.defer(() => bus.close())
  storage.metrics.bus(() => bus.carriers())
  // The table has lost the keys of an erased owner already; other nodes may still hold them in memory.
  storage.vault.onShred(bus.teller('shred'))
  bus.on('shred', (owner) => storage.vault.forget(String(owner)))
  return { peers, nodes, bus, limits: await openLimits({ config, connection, count, logger }) }
}

interface LimitsParts extends Pick<NodesOptions, 'config' | 'logger'> {
  readonly connection: RedisConnection | undefined
  count(): number
}

/** The limits that are counted by this node alone, or with Redis by all nodes together. */
async function openLimits({ config, connection: redis, count, logger }: LimitsParts) {
  const { callsPerUser, wrongKeys: wrong } = config.limits
  const [calls, wrongKeys] = [new Gcra<number>(callsPerUser), new Guesses(wrong)]
  if (!redis) return { calls, wrongKeys }
  const { shareCalls, shareGuesses } = await import('../nodes/limits.ts')
  const shared = { redis, count, logger }
  return {
    calls: shareCalls(shared, callsPerUser, calls),
    wrongKeys: shareGuesses(shared, wrong, wrongKeys),
  }
}

/** Several services may share a Redis server, and its channels belong to no database. */
function channelOf({ redisUrl }: Config, { vault }: Storage): string {
  const { pathname } = new URL(redisUrl ?? '')
  return `chapar:bus:${pathname.slice(1) || 0}:${vault.derive('bus').toString('hex', 0, 8)}`
}

/** Listens for other nodes, where this one has an address for them. */
async function openToPeers(config: Config, { vault }: Storage, opened: AsyncDisposableStack) {
  if (config.clusterAddress === undefined) return undefined
  const listening = listenForPeers(config.clusterAddress, vault.derive('node'))
  const peers = await concerning('CLUSTER_ADDRESS', listening)
  opened.defer(() => peers.close())
  return peers
}

interface SignOutParts extends Pick<HandoverParts, 'core' | 'logger'> {
  readonly config: Config
  readonly storage: Storage
  readonly nodes: Nodes
  readonly services: Pick<Services, 'eraser'>
}

/** Signs out what new links and deletions have left. Returns how to stop. */
export function signOutLeft(parts: SignOutParts): () => Promise<void> {
  const { config, storage, core, nodes, services, logger } = parts
  const signOuts = new SignOuts({
    ...storage,
    platforms: core.platforms,
    lease: core.lease,
    node: config.node,
    incarnation: () => nodes.view().incarnation ?? null,
    uses: (credentialId, link) => core.supervisor.peek(credentialId)?.effects.uses(link) ?? false,
    erased: (userId) => services.eraser.goOn(userId),
    logger,
  })
  signOuts.start()
  return () => signOuts.stop()
}

const MEGABYTE = 2 ** 20

/** Figures of this node for operators, measured since the last call. */
export function figuresOf(
  { core, forwarder }: Pick<HandoverParts, 'core' | 'forwarder'>,
  opened: AsyncDisposableStack,
): () => NodeFigures {
  const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  delay.enable()
  opened.defer(() => {
    delay.disable()
  })
  return () => {
    // The measurement includes the interval of its own timer.
    const lagMs = Math.max(0, Math.round(delay.max / 1e6) - LAG_RESOLUTION_MS)
    delay.reset()
    return {
      held: core.heldPolls(),
      parked: forwarder.parked,
      lagMs,
      memoryMb: Math.round(process.memoryUsage.rss() / MEGABYTE),
    }
  }
}

/** Leaves enough time for the rest of a stop. The other nodes claim accounts that are not handed over by then. */
const HANDOVER_TAKES_MS = 15_000

interface HandoverParts {
  readonly core: Core
  readonly forwarder: RequestForwarder
  readonly bus: Bus
  readonly logger: Logger
  readonly storage: Pick<Storage, 'metrics'>
}

const handoverOf = ({ core, forwarder, bus, logger, storage }: HandoverParts): Handover => ({
  owned: () => core.supervisor.owned(),
  park: (ids) => forwarder.park(ids),
  unpark: (ids) => forwarder.unpark(ids),
  endPolls: (ids) => core.endPollsOf(ids),
  idle: (ids) => forwarder.idle(ids),
  end: (owned) => core.letGo(owned),
  release: (owned, waits) => core.store.release(owned, waits),
  announce: () => bus.tell('released', null),
  logger,
  metrics: storage.metrics,
})

interface GivingParts extends HandoverParts {
  readonly nodes: Nodes
}

/** Follows what operators order and where accounts are placed. Returns how to stop. */
export function moveAccounts(parts: GivingParts, calmMs: number): () => Promise<void> {
  const { nodes, logger } = parts
  const moves = new Moves({ nodes, handover: handoverOf(parts), calmMs, logger })
  moves.start()
  return () => moves.stop()
}

/** Gives the accounts to the other nodes, if there are any; calls for them go on. */
export async function giveAccountsAway(parts: GivingParts, hurry: AbortSignal): Promise<void> {
  const { core, nodes, logger } = parts
  nodes.drain()
  if (nodes.isAlone()) return
  const began = performance.now()
  await pause(SEEN_AFTER_MS, undefined, { signal: hurry }).catch(() => undefined)
  // All of them may be stopping.
  if (!nodes.hasSuccessors()) return
  const credentials = await handOver(
    handoverOf(parts),
    [...core.supervisor.owned()],
    AbortSignal.any([hurry, AbortSignal.timeout(HANDOVER_TAKES_MS)]),
  )
  const seconds = Math.round(performance.now() - began) / 1000
  logger.info({ credentials, seconds }, 'credentials were handed over')
}
