/** Every route of the service, with what it needs. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyPluginOptions } from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import type { BulkChange } from '../bulk/runner.ts'
import type { Alerts } from '../composition/alerts.ts'
import type { Core } from '../composition/core.ts'
import type { Services } from '../composition/services.ts'
import type { Storage } from '../composition/storage.ts'
import type { Config } from '../config/config.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { admitShares } from './access.ts'
import { authenticate } from './authenticate.ts'
import { botRoutes } from './bot/routes.ts'
import { fileRoutes } from './files.ts'
import { healthRoutes, metricsRoute, type Readiness } from './health.ts'
import { alertSettingsRoutes } from './management/alert-settings.ts'
import { alertRoutes } from './management/alerts.ts'
import { apiKeyRoutes, backlogRoute } from './management/api-keys.ts'
import { auditRoutes } from './management/audit.ts'
import { authRoutes } from './management/auth.ts'
import { bulkRoutes } from './management/bulk.ts'
import { callExchangeRoutes } from './management/call-exchanges.ts'
import { credentialChangesRoute, credentialListRoutes } from './management/credential-list.ts'
import { credentialRoutes, credentialTestRoute } from './management/credentials.ts'
import { diagnosisRoutes } from './management/diagnosis.ts'
import { EventStreams } from './management/event-stream.ts'
import { linkPageAnswerRoutes, linkPageRoutes } from './management/link-pages.ts'
import { linkRoutes, platformRoutes } from './management/links.ts'
import { machineRoutes } from './management/machines.ts'
import { privacyRoutes } from './management/privacy.ts'
import { resendRoutes } from './management/resends.ts'
import { shareRoutes } from './management/shares.ts'
import { staffRoutes } from './management/staff.ts'
import { timelineRoutes } from './management/timeline.ts'
import { tokenRoutes } from './management/tokens.ts'
import { logRoutes, usageRoutes } from './management/usage.ts'
import { userRoutes, userSessionRoutes } from './management/user.ts'
import { viewRoutes } from './management/views.ts'
import { webhookSettingsRoutes } from './management/webhook-settings.ts'
import { webhookLogRoutes, webhookRoutes } from './management/webhooks.ts'
import { type NodesSource, nodeOrderRoutes, nodesRoute, operatorRoutes } from './nodes/operating.ts'
import { panelDirectory, panelRoutes, panelSessionRoutes } from './panel.ts'
import { sandboxRoutes } from './sandbox/routes.ts'

interface RoutesOptions {
  readonly config: Config
  readonly storage: Storage
  readonly accounts: Accounts
  readonly core: Core
  readonly services: Services
  readonly sandbox: Sandbox | undefined
  readonly readiness: Readiness
  readonly nodes: NodesSource['nodes']
  readonly alerts: Alerts
  /** An action on many accounts waits to be carried out. */
  readonly bulkChanged: (change: BulkChange) => void
  /** Aborted when the service stops: streams of events end then. */
  readonly draining: AbortSignal
}

/** Registers one plugin. */
export type Route = (app: FastifyInstance) => PromiseLike<unknown>

const route =
  <Options extends FastifyPluginOptions>(
    plugin: FastifyPluginAsyncTypebox<Options>,
    options: Options,
  ): Route =>
  (app) =>
    app.register(plugin, options)

export function routesOf(options: RoutesOptions): Route[] {
  const { config, storage, accounts, core, services, sandbox, draining, alerts } = options
  const { baseUrls, panelUrls, retention } = config
  const { db, vault, callLog } = storage
  const { supervisor: credentials, timeline, ownerOf, links, gate, keys, webhooks } = core
  const { source, keyService, downloads, pages, settings, diagnoses, eraser, exportUser } = services
  const { execution, uploads, passFile, downloadBytes, relinks, staff } = services
  const now = () => core.clock.now()
  const user = { authenticate: authenticate(accounts, { pat: true, staff }) }
  const streams = eventStreams(options)
  const events = { ...user, source, timeline, draining, streams }
  const { flush } = webhooks
  const ofPanel = { addresses: baseUrls, panels: panelUrls }
  const ofKeys = { ...user, keyService, keys }
  return [
    async (app) => admitShares(app, services.heldShares, accounts.suspensions),
    ...routesOfOperation(options),
    route(authRoutes, { accounts }),
    route(panelSessionRoutes, { accounts, baseUrls, panelUrls }),
    route(panelRoutes, { directory: panelDirectory }),
    route(userRoutes, { accounts, staff }),
    route(userSessionRoutes, { accounts }),
    route(tokenRoutes, { accounts }),
    route(privacyRoutes, { accounts, eraser, exportUser }),

    route(platformRoutes, { ...user, platforms: core.platforms }),
    route(linkRoutes, { ...user, links, source, now }),
    route(linkPageRoutes, { ...user, links, pages, ...ofPanel, now }),
    route(linkPageAnswerRoutes, { links, pages, relinks, accounts, now }),

    route(credentialListRoutes, { ...user, source }),
    route(viewRoutes, { ...user, views: services.views }),
    route(bulkRoutes, { ...user, source, relinks, ...ofPanel, changed: options.bulkChanged }),
    route(credentialRoutes, { ...user, source, settings, credentials }),
    route(credentialTestRoute, { ...user, source, credentials, now }),
    route(timelineRoutes, { ...events, node: config.node }),
    route(credentialChangesRoute, { ...events, ownerOf }),
    route(shareRoutes, { ...user, accounts, source, shares: services.shares }),
    route(machineRoutes, user),
    route(alertRoutes, { ...user, db, staff, source, now }),
    route(auditRoutes, { ...user, db, staff }),
    route(alertSettingsRoutes, { ...user, db, alerts, keyService, now }),

    route(callExchangeRoutes, { ...user, keyService, db, vault, callLog, retention, flush }),
    route(apiKeyRoutes, { ...user, keyService, source, now }),
    route(diagnosisRoutes, { ...user, keyService, diagnoses }),
    route(webhookRoutes, { ...ofKeys, db, vault, flush, secrets: webhooks.secrets, now }),
    route(resendRoutes, { ...ofKeys, db, flush }),
    route(webhookSettingsRoutes, { ...ofKeys, port: webhooks.port, ...webhooks.calls }),
    route(webhookLogRoutes, { ...user, database: db, flush }),
    route(backlogRoute, { ...user, keyService, db, flush }),
    route(logRoutes, { ...user, database: db, vault, callLog }),
    route(usageRoutes, { ...user, database: db }),

    ...(sandbox ? [route(sandboxRoutes, { ...user, sandbox })] : []),

    route(botRoutes, { gate, ...execution, uploads }),
    route(fileRoutes, { gate, downloads, passFile, downloadBytes }),
  ]
}

/** Those of a user who is suspended end at once. */
function eventStreams({ config, accounts }: RoutesOptions): EventStreams {
  const streams = new EventStreams(config.limits.eventStreamsPerUser)
  accounts.suspensions.onChange((userId, isSuspended) => {
    if (isSuspended) streams.endOf(userId)
  })
  return streams
}

/** For probes, monitoring and operators. */
function routesOfOperation(options: RoutesOptions): Route[] {
  const { config, storage, accounts, readiness, nodes, services } = options
  const { db, jobs, metrics } = storage
  const { suspensions } = accounts
  const user = { authenticate: authenticate(accounts, { pat: true }) }
  return [
    route(healthRoutes, { readiness, missing: () => [jobs.trouble() ?? []].flat() }),
    route(metricsRoute, { metrics, token: config.metrics.token }),
    route(nodesRoute, { nodes, db, token: config.metrics.token }),
    route(nodeOrderRoutes, { db, token: config.operatorToken }),
    route(operatorRoutes, { ...user, nodes, db, staff: services.staff }),
    route(staffRoutes, { ...user, staff: services.staff, users: services.users, suspensions }),
  ]
}
