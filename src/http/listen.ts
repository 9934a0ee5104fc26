/** Listens: the public port with every route, and a private one for metrics. */

import { botPaths } from '../bot-api/openapi.ts'
import type { Storage } from '../composition/storage.ts'
import type { Config } from '../config/config.ts'
import { proxyCheck } from '../config/proxies.ts'
import type { Logger } from '../observability/log.ts'
import { VERSION } from '../process/version.ts'
import { drained, limitConnections, withReserve } from './connections.ts'
import { filePaths } from './files.ts'
import { metricsRoute } from './metrics.ts'
import { describeRoutes } from './openapi.ts'
import type { Route } from './routes.ts'
import { createServer } from './server.ts'

export interface ListenOptions extends Pick<Storage, 'metrics' | 'journal'> {
  readonly config: Config
  readonly logger: Logger
  readonly routes: readonly Route[]
  /** Aborted when the service is about to stop: it still answers, and closes each connection after its answer. */
  readonly leaving: AbortSignal
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
  for (const register of options.routes) await register(app)
  const end = drained(app)
  const address = await app.listen({ host: config.host, port: config.port })
  const closeMetrics = await listenForMetrics(options)
  const close = async () => {
    await end()
    await closeMetrics()
  }
  return { close, address }
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
