/** The HTTP side of the service: every route with what it needs, and the ports it listens on. */
import type { FastifyInstance } from 'fastify'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { CallServices } from '../bot-api/method.ts'
import { botPaths } from '../bot-api/openapi.ts'
import { profileOf, profileStore } from '../bot-api/profile.ts'
import type { Config } from '../config/config.ts'
import { proxyCheck } from '../config/proxies.ts'
import type { Core } from '../core.ts'
import { ReceiveSettingsDesk } from '../credentials/receive-settings.ts'
import type { RecordSource } from '../credentials/records.ts'
import type { Database } from '../database/database.ts'
import { createDiagnoses } from '../diagnosis/create.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { droppedUpdates, messagesSkipped, pendingUpdates } from '../keys/backlog.ts'
import { KeyService } from '../keys/service.ts'
import { LinkPages } from '../links/pages.ts'
import { Downloads } from '../media/downloads.ts'
import type { OpenedMedia } from '../media/open.ts'
import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { RequestJournal } from '../observability/request-journal.ts'
import type { Eraser } from '../privacy/erase.ts'
import { exportUser } from '../privacy/export.ts'
import { VERSION } from '../process/version.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { carryBack } from '../webhooks/reply-call.ts'
import { authenticate } from './authenticate.ts'
import { botRoutes } from './bot/routes.ts'
import { drained, limitConnections, withReserve } from './connections.ts'
import { filePaths, fileRoutes } from './files.ts'
import type { Readiness } from './health.ts'
import { healthRoutes } from './health.ts'
import { apiKeyRoutes } from './management/api-keys.ts'
import { authRoutes } from './management/auth.ts'
import { backlogRoute } from './management/backlog.ts'
import { credentialChangesRoute } from './management/credential-changes.ts'
import { credentialListRoutes } from './management/credential-list.ts'
import { credentialTestRoute } from './management/credential-test.ts'
import { credentialRoutes } from './management/credentials.ts'
import { diagnosisRoutes } from './management/diagnosis.ts'
import { EventStreams } from './management/event-stream.ts'
import { linkPageAnswerRoutes } from './management/link-page-answers.ts'
import { linkPageRoutes } from './management/link-pages.ts'
import { linkRoutes } from './management/links.ts'
import { logRoutes } from './management/logs.ts'
import { machineRoutes } from './management/machines.ts'
import { platformRoutes } from './management/platforms.ts'
import { privacyRoutes } from './management/privacy.ts'
import { timelineRoutes } from './management/timeline.ts'
import { tokenRoutes } from './management/tokens.ts'
import { usageRoutes } from './management/usage.ts'
import { userRoutes } from './management/user.ts'
import { webhookLogRoutes } from './management/webhook-logs.ts'
import { webhookSettingsRoutes } from './management/webhook-settings.ts'
import { webhookRoutes } from './management/webhooks.ts'
import { metricsRoute } from './metrics.ts'
import { describeRoutes } from './openapi.ts'
import { panelDirectory, panelRoutes } from './panel.ts'
import { panelSessionRoutes } from './panel-session.ts'
import { sandboxRoutes } from './sandbox/routes.ts'
import { createServer } from './server.ts'

export interface ListenOptions {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  readonly journal: RequestJournal
  readonly readiness: Readiness
  readonly accounts: Accounts
  readonly core: Core
  readonly db: Database
  readonly sandbox: Sandbox | undefined
  readonly media: OpenedMedia
  readonly eraser: Eraser
  readonly jobs: Pick<Jobs, 'trouble'>
  /** Aborted when the service is to be left: it answers still, and keeps no connection for another request. */
  readonly leaving: AbortSignal
  /** Aborted when the service goes down. */
  readonly draining: AbortSignal
}

export async function listen(options: ListenOptions) {
  const { config, logger, metrics, journal } = options
  const app = await createServer({
    log: logger,
    requestLog: { journal, metrics },
    trustProxy: config.trustProxy,
    limits: { maxConnections: withReserve(config.limits.connections) },
  })
  const isProxy = proxyCheck(config.trustProxy)
  limitConnections(app, { limits: config.limits.connections, isProxy, log: logger, metrics })
  const openapi = await describeRoutes(app, { version: VERSION, addresses: config.baseUrls })
  openapi.extraPaths({ ...botPaths(), ...filePaths })
  app.addHook('onSend', async (_, reply) => {
    if (options.leaving.aborted) reply.header('connection', 'close')
  })
  await registerRoutes(app, options)
  const end = drained(app)
  const address = await app.listen({ host: config.host, port: config.port })
  const closeMetrics = await listenForMetrics(options)
  const close = async () => {
    await end()
    await closeMetrics()
  }
  return { close, address }
}

async function registerRoutes(app: FastifyInstance, options: ListenOptions): Promise<void> {
  const { accounts, core, db, config, sandbox, readiness, metrics, media } = options
  const { baseUrls, panelUrls } = config
  const user = { authenticate: authenticate(accounts, { pat: true }) }
  const now = () => core.clock.now()
  const source: RecordSource = {
    db,
    flush: () => core.store.flush(),
    accountId: (credentialId, native) =>
      core.translator.idOf(credentialId, native, core.supervisor.factsOf(credentialId)),
    identity: (row) => core.store.identityOf(row),
  }
  const { gate } = core
  const keyService = new KeyService({
    db,
    store: core.keyStore,
    live: (id) => core.keys.awake(id),
    downOf: (id) => core.keys.downOf(id),
    gate,
    limits: config.limits.keys,
    wake: (id) => core.roster.wake(id),
    whyOut: (credentialId) => core.supervisor.whyOut(credentialId),
    now,
  })
  const { supervisor: credentials, timeline, links, platformOf } = core
  const streams = new EventStreams(config.limits.eventStreamsPerUser)

  const missing = () => [options.jobs.trouble()].filter((trouble) => trouble !== null)
  await app.register(healthRoutes, { readiness, missing })
  await app.register(metricsRoute, { metrics, token: config.metrics.token })
  await app.register(authRoutes, { accounts })
  await app.register(panelSessionRoutes, { accounts, baseUrls, panelUrls })
  await app.register(panelRoutes, { directory: panelDirectory })
  await app.register(userRoutes, { accounts })
  await app.register(tokenRoutes, { accounts })
  const stored = {
    db,
    phone: async (userId: number) => (await accounts.user(userId)).phone,
    identity: source.identity,
    flush: () => flushAll(options),
  }
  const exported = (userId: number) => exportUser(stored, userId)
  await app.register(privacyRoutes, { accounts, eraser: options.eraser, exportUser: exported })
  await app.register(platformRoutes, { ...user, platforms: core.platforms })
  await app.register(linkRoutes, { ...user, links, source, now })
  const pages = new LinkPages(db)
  await app.register(linkPageRoutes, {
    ...user,
    links,
    pages,
    addresses: baseUrls,
    panels: panelUrls,
    now,
  })
  await app.register(linkPageAnswerRoutes, { links, pages, now })
  await app.register(credentialListRoutes, { ...user, source })
  const settings = new ReceiveSettingsDesk({ db, credentials })
  await app.register(credentialRoutes, { ...user, source, settings, credentials })
  await app.register(credentialTestRoute, { ...user, source, credentials, now })
  await app.register(timelineRoutes, {
    ...user,
    source,
    timeline,
    node: config.node,
    draining: options.draining,
    streams,
  })
  await app.register(credentialChangesRoute, {
    ...user,
    source,
    timeline,
    ownerOf: (credentialId) => credentials.factsOf(credentialId)?.userId,
    draining: options.draining,
    streams,
  })
  await app.register(machineRoutes, user)
  await app.register(apiKeyRoutes, { ...user, keyService, source, now })
  const downloads = downloadsFrom(options)
  const world = callWorld(options, downloads)
  const diagnoses = createDiagnoses({ ...options, keyService, source, profile: world.profile })
  await app.register(diagnosisRoutes, { ...user, keyService, diagnoses })
  const { webhooks, keys } = core
  await app.register(webhookRoutes, {
    ...user,
    keyService,
    db,
    secrets: webhooks.secrets,
    keys,
    now,
  })
  const { port, calls } = webhooks
  await app.register(webhookSettingsRoutes, { ...user, keyService, keys, port, ...calls })
  const flush = () => webhooks.flush()
  await app.register(webhookLogRoutes, { ...user, database: db, flush })
  await app.register(backlogRoute, { ...user, keyService, db, flush })
  await app.register(logRoutes, { ...user, database: db })
  await app.register(usageRoutes, { ...user, database: db })
  if (sandbox) await app.register(sandboxRoutes, { ...user, sandbox })
  const uploads = { media: media.service, uploadBytes: media.limits.uploadBytes }
  const carrier = { credentials, platformOf, world }
  await app.register(botRoutes, { gate, ...carrier, uploads })
  core.onReplyCall((key, call, traceId) => carryBack(key, call, traceId, { ...carrier, uploads }))
  await app.register(fileRoutes, { gate, downloads })
}

/** What buffers hold of anybody is in the tables then. */
export async function flushAll({ core, journal }: Pick<ListenOptions, 'core' | 'journal'>) {
  await Promise.all([core.store.flush(), core.keyStore.flush(), core.webhooks.flush()])
  await journal.flush()
}

function downloadsFrom({ core, media }: ListenOptions): Downloads {
  return new Downloads({
    rows: media.paths,
    service: media.service,
    limit: media.limits.downloadBytes,
    download: async (credentialId, native, offset, signal) =>
      (await core.supervisor.find(credentialId)).effects.download(native, offset, signal),
  })
}

function callWorld({ core, db, journal, media }: ListenOptions, paths: Downloads): CallServices {
  return {
    profile: async (credentialId) =>
      profileOf(await core.store.identity(credentialId), (native) =>
        core.translator.idOf(credentialId, native, core.supervisor.factsOf(credentialId)),
      ),
    profileStore: profileStore(db),
    media: media.service,
    paths,
    fileIds: core.fileIds,
    pendingUpdates: (key: ApiKeyActor) => pendingUpdates(db, core.updates, key),
    dropped: (apiKeyId) => droppedUpdates(db, apiKeyId),
    whyOut: (credentialId) => core.supervisor.whyOut(credentialId),
    skipped: (apiKeyId) => messagesSkipped(db, apiKeyId),
    webhooks: core.webhooks.calls,
    delivered: ({ facts: { userId, credentialId, apiKeyId } }, updatesDelivered) => {
      if (updatesDelivered > 0) {
        journal.count({ userId, credentialId, apiKeyId }, { updatesDelivered })
      }
    },
  }
}

/** Figures on a port of their own need no token: the public does not reach it. */
async function listenForMetrics(options: ListenOptions): Promise<() => Promise<void>> {
  const { config, logger, metrics, journal } = options
  if (config.metrics.port === undefined) return async () => undefined
  const app = await createServer({
    log: logger,
    requestLog: { journal, metrics },
    trustProxy: false,
  })
  await app.register(metricsRoute, { metrics, isPrivate: true })
  await app.listen({ host: config.host, port: config.metrics.port })
  return () => app.close()
}
