/** The composition root: builds the service stage by stage, and stops it in reverse order. */

import cluster from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '../actors/ports/platform.ts'
import { Accounts } from './accounts/accounts.ts'
import { consoleOtpLimits, defaultOtpLimits } from './accounts/limits.ts'
import { createSender } from './accounts/senders/create.ts'
import { type BulkChange, BulkRunner } from './bulk/runner.ts'
import { openAlerts } from './composition/alerts.ts'
import { type Core, createCore } from './composition/core.ts'
import { openNetworks } from './composition/networks.ts'
import {
  figuresOf,
  giveAccountsAway,
  moveAccounts,
  openNodes,
  signOutLeft,
} from './composition/nodes.ts'
import { createServices, type Services } from './composition/services.ts'
import { nameOfDatabase, openStorage, type Storage } from './composition/storage.ts'
import type { Config } from './config/config.ts'
import { claimUnowned, followNodes, warnOfFiles, warnOfMemory } from './credentials/ownership.ts'
import { createReadiness, type Readiness } from './http/health.ts'
import { RequestForwarder } from './http/nodes/forwarding.ts'
import { routesOf } from './http/routes.ts'
import { assertFree, listen, StartupServer } from './http/server.ts'
import { rearm, webhookReminders } from './jobs/jobs.ts'
import { everyHalfMinute, everyHour, watchActors } from './maintenance.ts'
import type { OpenedMedia } from './media/open.ts'
import type { Bus } from './nodes/bus.ts'
import type { Nodes } from './nodes/nodes.ts'
import { Owners } from './nodes/owners.ts'
import type { Logger } from './observability/logger.ts'
import { concerning, concerningDatabase } from './process/fatal-errors.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import type { CallCount, GuessCount } from './security/rate-limits.ts'
import { executeReplyCall } from './webhooks/reply-call.ts'

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
  /** May come while requests are kept already. */
  readonly databaseUrl: string | Promise<string>
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

/**
 * Resolves once this node has its accounts; requests are answered before. If a stage fails, closes the stages before it in
 * reverse order.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const hurry = new AbortController()
  const opening = concerningDatabase(
    nameOfDatabase(options.config),
    open(options, opened, hurry.signal),
  )
  // A start that failed waits for no load balancer.
  const { address, core, media, sandbox } = await opening.catch((cause) => {
    hurry.abort()
    throw cause
  })
  const toClose = opened.move()
  const stop: Gateway['stop'] = ({ atOnce = false } = {}) => {
    if (atOnce) hurry.abort()
    return toClose.disposeAsync()
  }
  return { core, media, sandbox, address, stop }
}

async function open(options: GatewayOptions, opened: AsyncDisposableStack, hurry: AbortSignal) {
  const { config, logger, print } = options
  const startupServer = await openPorts(options, opened)
  const databaseUrl = await options.databaseUrl
  const storage = await openStorage({ ...options, databaseUrl }, opened)
  const ofNodes = { ...options, databaseUrl, storage }
  const { peers, nodes, bus, limits } = await openNodes(ofNodes, opened)
  const ofAccounts = { config, storage, calls: limits.calls, bus, logger, print }
  const accounts = openAccounts(ofAccounts, opened)
  const networks = { config, storage, logger, bus, more: options.platforms ?? [] }
  const { sandbox, platforms } = await openNetworks(networks, opened)

  const ofCore = { config, storage, accounts, platforms, nodes, limits, bus, logger }
  const { core, services } = openCore(ofCore, opened)

  opened.defer(await accounts.start())
  startChores({ config, storage, core, services, bus, logger }, opened)
  const forwarder = openForwarder({ config, storage, core, nodes, logger }, opened)
  const readiness = openReadiness({ storage, nodes, logger })
  const accountsAreTaken = readiness.notReady('the accounts are being taken over')
  const leaving = new AbortController()
  const draining = new AbortController()
  const bulk = openBulk({ storage, core, services, nodes, bus, logger })
  const parts = {
    config,
    storage,
    accounts,
    core,
    services,
    sandbox,
    readiness,
    nodes,
    bulkChanged: bulk.changed,
    alerts: openAlerts({ config, storage, core, services, nodes, logger }, opened),
  }
  nodes.tellFigures(figuresOf({ core, forwarder }, opened))
  const routes = routesOf({ ...parts, draining: draining.signal })
  const serving = {
    ...parts,
    startupServer,
    logger,
    bus,
    peers,
    forwarder,
    routes,
    leaving,
    draining,
    hurry,
  }
  const address = await serve(serving, opened)
  // Requests are answered from here on; a call for an account that is not claimed yet has it claimed.
  await takeAccounts({ config, storage, core, nodes, bus, logger }, opened)
  opened.defer(moveAccounts(serving, config.rebalanceAfterMs))
  opened.defer(signOutLeft(serving))
  bulk.start()
  // Before accounts are given away: it would ask for them again.
  opened.defer(() => bulk.stop())
  accountsAreTaken()
  return { address, core, media: storage.media, sandbox }
}

interface CoreParts extends Pick<GatewayOptions, 'config' | 'logger'> {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly platforms: ReadonlyMap<string, Platform>
  readonly nodes: Nodes
  readonly limits: { readonly wrongKeys: GuessCount }
  readonly bus: Bus
}

/** Builds the core and its services, which also carry out the calls in answers of webhooks. */
function openCore(parts: CoreParts, opened: AsyncDisposableStack) {
  const { storage, logger, accounts, ...rest } = parts
  const { bus } = parts
  const { suspensions } = accounts
  const reminders = webhookReminders(storage.jobs, logger)
  const core = createCore({ ...storage, ...rest, suspensions, reminders, logger })
  opened.defer(() => core.stop())
  const remind = (apiKeyId: number) => core.webhookWaker.remind(apiKeyId)
  reminders.onDue((apiKeyId) => {
    if (!remind(apiKeyId)) bus.tell('due', apiKeyId)
  })
  bus.on('due', (apiKeyId) => void remind(Number(apiKeyId)))
  const services = createServices({ ...parts, core })
  const { execution, uploads } = services
  core.replyCalls.executeBy(async (apiKeyId, call, traceId) =>
    executeReplyCall(await core.keys.find(apiKeyId), call, traceId, { ...execution, uploads }),
  )
  return { core, services }
}

interface ServeParts extends Pick<GatewayOptions, 'config' | 'logger'> {
  readonly startupServer: StartupServer | undefined
  readonly storage: Storage
  readonly core: Core
  readonly nodes: Nodes
  readonly bus: Bus
  readonly peers: Awaited<ReturnType<typeof openNodes>>['peers']
  readonly forwarder: RequestForwarder
  readonly readiness: Readiness
  readonly routes: ReturnType<typeof routesOf>
  readonly leaving: AbortController
  readonly draining: AbortController
  readonly hurry: AbortSignal
}

/** Listens; resolves with the address. The end gives the accounts away while requests are still answered. */
async function serve(parts: ServeParts, opened: AsyncDisposableStack): Promise<string> {
  const { config, logger, storage, core, nodes, bus, peers, forwarder, readiness, routes } = parts
  const { startupServer, leaving, draining, hurry } = parts
  const { close, address } = await listen({
    config,
    logger,
    ...storage,
    nodes,
    routes,
    forwarder,
    ...(startupServer && { startupServer }),
    leaving: leaving.signal,
  })
  peers?.serve(forwarder.receive)
  opened.defer(async () => {
    readiness.drain()
    await giveAccountsAway({ core, nodes, forwarder, bus, logger, storage }, hurry)
    leaving.abort()
    // Until the load balancer notices, requests still come and are answered.
    await pause(config.drainMs, undefined, { signal: hurry }).catch(() => undefined)
    draining.abort()
    core.endPolls()
    await close()
  })
  return address
}

/**
 * Before accounts are claimed, because a start that fails on its port would take them from the running service. Of processes
 * that share a port each listens later: those that have started answer meanwhile.
 */
async function openPorts(
  { config, logger }: Pick<GatewayOptions, 'config' | 'logger'>,
  opened: AsyncDisposableStack,
): Promise<StartupServer | undefined> {
  const { host, metrics } = config
  if (metrics.port) await concerning('METRICS_PORT, HOST', assertFree(host, metrics.port))
  // The process that starts them has looked. A look by one of them would take connections from those that have started.
  if (cluster.isWorker) return undefined
  const server = await concerning('PORT, HOST', StartupServer.open(config, logger))
  opened.defer(() => server.close())
  return server
}

interface AccountsParts extends Pick<GatewayOptions, 'config' | 'logger' | 'print'> {
  readonly storage: Storage
  readonly calls: CallCount
  readonly bus: Bus
}

/** Opens the accounts of users, who sign in by codes of the configured sender. */
function openAccounts(
  { config, storage, calls, bus, logger, print }: AccountsParts,
  opened: AsyncDisposableStack,
) {
  const sender = createSender(config.otpSender, { production: config.production, print })
  opened.defer(() => sender.close())
  const { otp, codeLength } = config.limits
  const usual = sender.channel === 'console' ? consoleOtpLimits : defaultOtpLimits
  return new Accounts({
    ...storage,
    sender,
    issuer: config.baseUrls[0],
    limits: { ...usual, ...otp },
    calls,
    bus,
    ...(codeLength && { codeLength }),
    logger,
  })
}

interface ReadinessParts extends Pick<GatewayOptions, 'logger'> {
  readonly storage: Storage
  readonly nodes: Nodes
}

function openReadiness({ storage, nodes, logger }: ReadinessParts): Readiness {
  const readiness = createReadiness({ database: storage.db, logger })
  readiness.addCheck(() => storage.writes.trouble(), 'the database takes no writes')
  // Where no other node takes accounts, those that drain take them again.
  const drains = () => nodes.view().state === 'draining' && nodes.hasSuccessors()
  readiness.addCheck(() => (drains() ? 'the node drains' : null))
  return readiness
}

interface ForwarderParts extends Pick<GatewayOptions, 'config' | 'logger'> {
  readonly storage: Storage
  readonly core: Core
  readonly nodes: Nodes
}

function openForwarder(parts: ForwarderParts, opened: AsyncDisposableStack): RequestForwarder {
  const { config, storage, core, nodes, logger } = parts
  const forwarder = new RequestForwarder({
    nodes,
    owners: new Owners(storage.db, (apiKeyId) => core.keys.peek(apiKeyId)?.facts.credentialId),
    owns: core.actsFor,
    adopt: (sessionId, from) => core.links.adopt(sessionId, from),
    key: storage.vault.derive('node'),
    holdMs: config.timing.holdFor,
    metrics: storage.metrics,
    logger,
  })
  opened.defer(() => forwarder.close())
  return forwarder
}

interface BulkParts extends Pick<GatewayOptions, 'logger'> {
  readonly storage: Storage
  readonly core: Core
  readonly services: Services
  readonly nodes: Nodes
  readonly bus: Bus
}

/** Goes on with actions on many accounts that were interrupted, and carries out new ones. */
function openBulk({ storage, core, services, nodes, bus, logger }: BulkParts) {
  const runner = new BulkRunner({
    db: storage.db,
    logger,
    credentials: core.supervisor,
    incarnation: () => nodes.view().incarnation ?? null,
    makePage: (item, credentialId) => services.relinks.make(item, credentialId),
  })
  bus.on('bulk', (change) => runner.changed(change as BulkChange))
  return {
    start: () => runner.start(),
    changed: (change: BulkChange) => {
      runner.changed(change)
      bus.tell('bulk', { ...change })
    },
    stop: () => runner.stop(),
  }
}

interface ChoreParts extends Pick<GatewayOptions, 'config' | 'logger'> {
  readonly bus: Bus
  readonly storage: Storage
  readonly core: Core
  readonly services: Services
}

/** Starts maintenance and jobs, and watches over what this node owns. */
function startChores(parts: ChoreParts, opened: AsyncDisposableStack): void {
  const { config, storage, core, services, bus, logger } = parts
  const { db, jobs, media } = storage
  const removed = (credentialId: number, updateId: number) => {
    core.updates.removed(credentialId, updateId)
    bus.tell('removed', [credentialId, updateId])
  }
  bus.on('removed', (hint) => core.updates.removed(...(hint as [number, number])))
  everyHour(jobs, {
    db,
    updates: { removed },
    limits: config.retention,
    media,
    eraser: services.eraser,
    logger,
  })
  everyHalfMinute(jobs, { db, logger, staff: services.staff })
  jobs.start()
  opened.defer(rearm(jobs, recurring, logger))
  storage.writes.onRecovery(() => {
    const line = 'updates whose commit was not answered were not looked for yet'
    core.updates.lookAgain().catch((err) => logger.warn({ err }, line))
  })
  core.ownership.watch()
}

interface TakingParts extends Pick<GatewayOptions, 'config' | 'logger'> {
  readonly storage: Storage
  readonly core: Core
  readonly nodes: Nodes
  readonly bus: Bus
}

/** Claims and connects the accounts, and resumes webhooks. */
async function takeAccounts(parts: TakingParts, opened: AsyncDisposableStack): Promise<void> {
  const { config, storage, core, nodes, bus, logger } = parts
  const { db, metrics } = storage
  await Promise.all([warnOfMemory(db, logger), warnOfFiles(db, logger)])
  const claimed = async (ids: readonly number[]) => {
    const behind = await core.webhookWaker.wakeBehind(ids)
    if (behind > 0) logger.info({ keys: behind }, 'webhooks have something to deliver')
  }
  const claiming = { ...core, nodes, metrics, logger, claimed }
  await claimUnowned(claiming)
  opened.defer(
    followNodes({
      ...claiming,
      db,
      owned: () => core.supervisor.owned(),
      released: (look) => bus.on('released', look),
      announce: () => bus.tell('released', null),
    }),
  )
  opened.defer(watchActors(core, { db, metrics, config, logger }))
}
