/** The composition root: builds the service stage by stage, and stops it in reverse order. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '../actors/ports/platform.ts'
import { Accounts } from './accounts/accounts.ts'
import { consoleOtpLimits, defaultOtpLimits } from './accounts/limits.ts'
import { createSender } from './accounts/senders/create.ts'
import { type Core, createCore } from './composition/core.ts'
import { openNetworks } from './composition/networks.ts'
import { createServices, type Services } from './composition/services.ts'
import { openStorage, type Storage } from './composition/storage.ts'
import type { Config } from './config/config.ts'
import { handOver } from './credentials/handover.ts'
import { claimUnowned, followNodes, warnOfMemory } from './credentials/ownership.ts'
import { RequestForwarder } from './http/forwarding.ts'
import { createReadiness } from './http/health.ts'
import { routesOf } from './http/routes.ts'
import { listen, VERSION } from './http/server.ts'
import { rearm, webhookReminders } from './jobs/jobs.ts'
import { everyHalfMinute, everyHour, watchActors } from './maintenance.ts'
import type { OpenedMedia } from './media/open.ts'
import { Bus } from './nodes/bus.ts'
import { joinNodes, type Nodes } from './nodes/nodes.ts'
import { Owners } from './nodes/owners.ts'
import { listenForPeers } from './nodes/peers.ts'
import type { Logger } from './observability/log.ts'
import { concerning } from './process/fatal-errors.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { carryBack } from './webhooks/reply-call.ts'

export interface Gateway {
  readonly core: Core
  readonly media: OpenedMedia
  /** Where it listens, as an address on this machine. */
  readonly address: string
  /** The built-in messenger, for tools that act as its people. */
  readonly sandbox: Sandbox | undefined
  /** `atOnce`: does not give the load balancer time to notice. */
  stop(options?: { readonly atOnce?: boolean }): Promise<void>
}

interface GatewayOptions {
  readonly config: Config
  readonly databaseUrl: string
  readonly logger: Logger
  /** Prints a line for the person who started the service. */
  readonly print: (line: string) => void
  /** More platforms than the built-in ones. */
  readonly platforms?: readonly Platform[]
}

/** Reminders that the start sets, and each run sets for the next one. */
const recurring = [
  { kind: 'updates', id: 'retention' },
  { kind: 'alerts', id: 'incidents' },
  { kind: 'accounts', id: 'upkeep' },
]

/** If a stage fails, closes the stages before it in reverse order. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const hurry = new AbortController()
  const { address, core, media, sandbox } = await open(options, opened, hurry.signal)
  const toClose = opened.move()
  const stop: Gateway['stop'] = ({ atOnce = false } = {}) => {
    if (atOnce) hurry.abort()
    return toClose.disposeAsync()
  }
  return { core, media, sandbox, address, stop }
}

async function open(options: GatewayOptions, opened: AsyncDisposableStack, hurry: AbortSignal) {
  const { config, logger, print } = options
  await assertPortsFree(config)
  const storage = await openStorage(options, opened)
  const peers = await openToPeers(config, storage, opened)
  const nodes = await joinNodes({
    ...storage,
    url: options.databaseUrl,
    name: config.node,
    address: peers?.address ?? null,
    version: VERSION,
    logger,
  })
  opened.defer(() => nodes.leave())
  const bus = openBus({ url: options.databaseUrl, nodes, logger }, opened)
  const accounts = openAccounts({ config, storage, logger, print }, opened)
  const networks = { config, storage, logger, bus, more: options.platforms ?? [] }
  const { sandbox, platforms } = await openNetworks(networks, opened)

  const reminders = webhookReminders(storage.jobs, logger)
  const core = createCore({ ...storage, config, platforms, reminders, nodes, bus, logger })
  opened.defer(() => core.stop())
  reminders.onDue((apiKeyId) => core.roster.remind(apiKeyId))
  const services = createServices({ config, storage, accounts, core, logger })
  const { execution, uploads } = services
  core.replyCalls.executeBy(async (apiKeyId, call, traceId) =>
    carryBack(await core.keys.find(apiKeyId), call, traceId, { ...execution, uploads }),
  )

  await accounts.start()
  await begin({ config, storage, core, services, nodes, bus, logger }, opened)

  const forwarder = new RequestForwarder({
    nodes,
    owners: new Owners(storage.db),
    owns: (credentialId) => core.supervisor.factsOf(credentialId) !== undefined,
    key: storage.vault.derive('node'),
    holdMs: config.timing.holdFor,
    metrics: storage.metrics,
    logger,
  })
  opened.defer(() => forwarder.close())
  const readiness = createReadiness({ database: storage.db, logger })
  readiness.addCheck(() => storage.writes.trouble(), 'the database takes no writes')
  const [leaving, draining] = [new AbortController(), new AbortController()]
  const parts = { config, storage, accounts, core, services, sandbox, readiness, nodes }
  const routes = routesOf({ ...parts, draining: draining.signal })
  const { metrics, journal } = storage
  const { close, address } = await listen({
    config,
    logger,
    metrics,
    journal,
    nodes,
    routes,
    forwarder,
    leaving: leaving.signal,
  })
  peers?.serve(forwarder.receive)
  opened.defer(async () => {
    readiness.drain()
    nodes.drain()
    if (!nodes.isAlone()) await give({ core, nodes, forwarder, bus, logger }, hurry)
    leaving.abort()
    // Until the load balancer notices, requests still come and are answered.
    await pause(config.drainMs, undefined, { signal: hurry }).catch(() => undefined)
    draining.abort()
    core.endPolls()
    await close()
  })
  return { address, core, media: storage.media, sandbox }
}

interface BusParts extends Pick<GatewayOptions, 'logger'> {
  readonly url: string
  readonly nodes: Nodes
}

function openBus({ url, nodes, logger }: BusParts, opened: AsyncDisposableStack): Bus {
  const incarnation = () => nodes.view().incarnation ?? 0
  const bus = new Bus({ url, logger, incarnation, isAlone: () => nodes.isAlone() })
  bus.start()
  opened.defer(() => bus.close())
  return bus
}

/** Listens for other nodes, where this one has an address for them. */
async function openToPeers(config: Config, { vault }: Storage, opened: AsyncDisposableStack) {
  if (config.clusterAddress === undefined) return undefined
  const listening = listenForPeers(config.clusterAddress, vault.derive('node'))
  const peers = await concerning('CLUSTER_ADDRESS', listening)
  opened.defer(() => peers.close())
  return peers
}

/** What the rest of a stop needs; what takes longer is left to those who notice that this node has ended. */
const HANDOVER_TAKES_MS = 15_000
/** The others take accounts once they have seen in a beat that this node does not. */
const SEEN_AFTER_MS = 600

interface GivingParts {
  readonly core: Core
  readonly nodes: Nodes
  readonly forwarder: RequestForwarder
  readonly bus: Bus
  readonly logger: Logger
}

/** Gives the accounts to the other nodes; calls for them go on. */
async function give(parts: GivingParts, hurry: AbortSignal): Promise<void> {
  const { core, forwarder, bus, logger } = parts
  const began = performance.now()
  await pause(SEEN_AFTER_MS, undefined, { signal: hurry }).catch(() => undefined)
  const credentials = await handOver(
    {
      owned: () => core.supervisor.owned(),
      park: (ids) => forwarder.park(ids),
      unpark: (ids) => forwarder.unpark(ids),
      idle: (ids) => forwarder.idle(ids),
      end: (owned) => core.letGo(owned),
      release: (owned) => core.store.release(owned),
      announce: () => bus.tell('released', null),
      logger,
    },
    AbortSignal.any([hurry, AbortSignal.timeout(HANDOVER_TAKES_MS)]),
  )
  const seconds = Math.round(performance.now() - began) / 1000
  logger.info({ credentials, seconds }, 'credentials were handed over')
}

/** Checks the ports before accounts are claimed: a failed start would take them from the running service. */
async function assertPortsFree({ host, port, metrics }: Config): Promise<void> {
  await concerning('PORT, HOST', assertFree(host, port))
  if (metrics.port) await concerning('METRICS_PORT, HOST', assertFree(host, metrics.port))
}

interface AccountsParts extends Pick<GatewayOptions, 'config' | 'logger' | 'print'> {
  readonly storage: Storage
}

/** Opens the accounts of users, who sign in by codes of the configured sender. */
function openAccounts(
  { config, storage, logger, print }: AccountsParts,
  opened: AsyncDisposableStack,
) {
  const sender = createSender(config.otpSender, { production: config.production, print })
  opened.defer(() => sender.close())
  const { otp, codeLength, callsPerUser } = config.limits
  const usual = sender.channel === 'console' ? consoleOtpLimits : defaultOtpLimits
  return new Accounts({
    ...storage,
    sender,
    issuer: config.baseUrls[0],
    limits: { ...usual, ...otp },
    callLimit: callsPerUser,
    ...(codeLength && { codeLength }),
    logger,
  })
}

interface BeginParts extends Pick<GatewayOptions, 'config' | 'logger'> {
  readonly storage: Storage
  readonly core: Core
  readonly services: Services
  readonly nodes: Nodes
  readonly bus: Bus
}

/** Starts maintenance and jobs, connects the accounts and resumes webhooks. */
async function begin(parts: BeginParts, opened: AsyncDisposableStack): Promise<void> {
  const { config, storage, core, services, nodes, bus, logger } = parts
  const { db, jobs, media, metrics } = storage
  const { updates, ownership, roster } = core
  everyHour(jobs, {
    db,
    updates,
    limits: config.retention,
    media,
    eraser: services.eraser,
    logger,
  })
  everyHalfMinute(jobs, { db, logger })
  jobs.start()
  opened.defer(rearm(jobs, recurring, logger))
  ownership.watch()
  await warnOfMemory(db, logger)
  const claiming = { ...core, isPlacedHere: nodes.isPlacedHere }
  const started = await claimUnowned(claiming)
  if (started.length > 0)
    logger.info({ credentials: started.length }, 'credentials are coming back')
  const behind = await roster.start()
  if (behind > 0) logger.info({ keys: behind }, 'webhooks have something to deliver')
  opened.defer(
    followNodes({
      ...claiming,
      nodes,
      owned: () => core.supervisor.owned(),
      logger,
      released: (look) => bus.on('released', look),
      claimed: () => roster.start(),
    }),
  )
  opened.defer(watchActors(core, { db, metrics, config, logger }))
}

/** Rejects with the system's error if the service cannot listen on the port. */
async function assertFree(host: string, port: number): Promise<void> {
  const server = createServer()
  server.listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
