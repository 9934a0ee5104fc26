/** The HTTP side of the service: every route with what it needs, and the ports it listens on. */
import type { FastifyInstance } from 'fastify'
import type { ApiKeyActor } from '../../actors/api-key.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { CallWorld } from '../bot-api/method.ts'
import { botPaths } from '../bot-api/openapi.ts'
import { profileOf } from '../bot-api/profile.ts'
import type { Config } from '../config.ts'
import type { Core } from '../core.ts'
import type { RecordSource } from '../credentials/records.ts'
import type { Database } from '../database/database.ts'
import { droppedUpdates, pendingUpdates } from '../keys/backlog.ts'
import { KeyDesk } from '../keys/desk.ts'
import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { RequestJournal } from '../observability/request-journal.ts'
import type { Sandbox } from '../platforms/sandbox/sandbox.ts'
import { VERSION } from '../version.ts'
import { authenticate } from './authenticate.ts'
import { botRoutes } from './bot/routes.ts'
import { healthRoutes } from './health.ts'
import { apiKeyRoutes } from './management/api-keys.ts'
import { authRoutes } from './management/auth.ts'
import { credentialTestRoute } from './management/credential-test.ts'
import { credentialRoutes } from './management/credentials.ts'
import { linkRoutes } from './management/links.ts'
import { logRoutes } from './management/logs.ts'
import { platformRoutes } from './management/platforms.ts'
import { timelineRoutes } from './management/timeline.ts'
import { tokenRoutes } from './management/tokens.ts'
import { usageRoutes } from './management/usage.ts'
import { userRoutes } from './management/user.ts'
import { metricsRoute } from './metrics.ts'
import { describeRoutes } from './openapi.ts'
import type { Readiness } from './readiness.ts'
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
  /** Aborted when the service goes down. */
  readonly draining: AbortSignal
}

const SWEEP_MS = 50

export async function listen(options: ListenOptions) {
  const { config, logger, metrics, journal } = options
  const app = await createServer({
    log: logger,
    requestLog: { journal, metrics },
    trustProxy: config.trustProxy,
  })
  const openapi = await describeRoutes(app, { version: VERSION, addresses: config.baseUrls })
  openapi.extraPaths(botPaths())
  app.addHook('onSend', async (_, reply) => {
    if (options.draining.aborted) reply.header('connection', 'close')
  })
  await registerRoutes(app, options)
  const address = await app.listen({ host: config.host, port: config.port })
  const closeMetrics = await listenForMetrics(options)
  const close = async () => {
    // A connection that is idle only after its last answer would hold the server open for its keep-alive time.
    const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS)
    await app.close().finally(() => clearInterval(sweep))
    await closeMetrics()
  }
  return { close, address }
}

async function registerRoutes(app: FastifyInstance, options: ListenOptions): Promise<void> {
  const { accounts, core, db, config, sandbox, readiness, metrics } = options
  const user = { authenticate: authenticate(accounts, { pat: true }) }
  const source: RecordSource = {
    db,
    flush: () => core.store.flush(),
    accountId: (credentialId, native) => core.translator.idOf(credentialId, native),
  }
  const { gate } = core
  const desk = new KeyDesk({ db, store: core.keyStore, live: (id) => core.keys.awake(id), gate })
  const { supervisor: credentials, store, timeline, links, platformOf } = core

  await app.register(healthRoutes, { readiness })
  await app.register(metricsRoute, { metrics, token: config.metrics.token })
  await app.register(authRoutes, { accounts })
  await app.register(userRoutes, { accounts })
  await app.register(tokenRoutes, { accounts })
  await app.register(platformRoutes, { ...user, platforms: core.platforms })
  await app.register(linkRoutes, { ...user, links, source })
  await app.register(credentialRoutes, { ...user, source, store, credentials })
  await app.register(credentialTestRoute, { ...user, source, credentials })
  await app.register(timelineRoutes, {
    ...user,
    source,
    timeline,
    node: config.node,
    draining: options.draining,
  })
  await app.register(apiKeyRoutes, { ...user, desk, source })
  await app.register(logRoutes, { ...user, database: db })
  await app.register(usageRoutes, { ...user, database: db })
  if (sandbox) await app.register(sandboxRoutes, { ...user, sandbox })
  await app.register(botRoutes, { gate, credentials, platformOf, world: callWorld(options) })
}

function callWorld({ core, db, journal }: ListenOptions): CallWorld {
  return {
    profile: (credentialId) =>
      profileOf(db, credentialId, (native) => core.translator.idOf(credentialId, native)),
    pendingUpdates: (key: ApiKeyActor) => pendingUpdates(db, core.log, key),
    dropped: (apiKeyId) => droppedUpdates(db, apiKeyId),
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
