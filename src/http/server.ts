/** The HTTP server: limits, headers, one envelope for every failure; it listens on a public port and a private one. */

import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
} from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import { describeBotApi } from '../bot-api/openapi.ts'
import type { Storage } from '../composition/storage.ts'
import type { Config } from '../config/config.ts'
import { LISTEN_BACKLOG } from '../config/limits.ts'
import { isPoll } from '../nodes/owners.ts'
import { forwardingOf } from '../nodes/peers.ts'
import type { Logger } from '../observability/logger.ts'
import { addressCheck } from '../security/addresses.ts'
import { noteChanges } from './changes.ts'
import { drained, limitConnections, limitHandlers, REPLACED, withReserve } from './connections.ts'
import { ok } from './envelope.ts'
import { failureBody, plainFailure, replyWithFailure } from './failure.ts'
import { filePaths } from './files.ts'
import { requestIds, securityHeaders, setSecurityHeaders, VERSION } from './headers.ts'
import { metricsRoute } from './health.ts'
import {
  answerClientError,
  answerForNode,
  drainLeftovers,
  followAnswers,
  forgetTypeOfNothing,
  parseJsonBodies,
  refuseUnclearLines,
  usualLeftovers,
} from './malformed-requests.ts'
import { BodyCopy } from './nodes/body-copy.ts'
import { answer, ForwardedCall, reply } from './nodes/call.ts'
import { believe, type RequestForwarder } from './nodes/forwarding.ts'
import { type NodesSource, nodesRoute } from './nodes/operating.ts'
import { refuseForStaff, shownTo } from './on-behalf.ts'
import { describeRoutes } from './openapi.ts'
import { RequestLogger, type RequestLogOptions, recordRequests } from './request-log.ts'
import type { Route } from './routes.ts'
import { refuseHugeNumbers, refuseUnstorableText, serializers, validators } from './validation.ts'

/** Listens: the public port with every route, and a private one for operators. */
interface ListenOptions extends Pick<Storage, 'metrics' | 'journal' | 'callLog'> {
  readonly config: Config
  readonly logger: Logger
  readonly nodes: NodesSource['nodes']
  readonly db: Storage['db']
  readonly routes: readonly Route[]
  readonly forwarder: Pick<RequestForwarder, 'serveOn'>
  /** Listens already, on the public port. */
  readonly startupServer?: StartupServer
  /** Aborted when the service is about to stop: it still answers, and closes each connection after its answer. */
  readonly leaving: AbortSignal
}

export async function listen(options: ListenOptions) {
  const { config, logger, metrics, journal } = options
  const isProxy = addressCheck(config.trustProxy)
  const app = await createServer({
    logger,
    requestLog: { journal, metrics, callLog: options.callLog },
    trustProxy: config.trustProxy,
    limits: { maxConnections: withReserve(config.limits.connections) },
    forwarder: options.forwarder,
    ...(options.startupServer && { startupServer: options.startupServer }),
  })
  limitConnections(app, { limits: config.limits.connections, isProxy, logger, metrics })
  await describeRoutes(app, {
    version: VERSION,
    addresses: config.baseUrls,
    panels: config.panelUrls,
    beyondRoutes() {
      const { paths, schemas } = describeBotApi()
      return { paths: { ...paths, ...filePaths }, schemas }
    },
  })
  app.addHook('onSend', (_, reply, payload, done) => {
    if (options.leaving.aborted) reply.header('connection', 'close')
    done(null, payload)
  })
  noteChanges(app, options.db)
  for (const register of options.routes) await register(app)
  const end = drained(app)
  const address = await app.listen({
    host: config.host,
    port: config.port,
    backlog: LISTEN_BACKLOG,
  })
  logger.info(`Server listening at ${address}`)
  const closeMetrics = await listenForMetrics(options)
  const close = async () => {
    await end()
    await closeMetrics()
  }
  return { close, address }
}

/** Of every route, so that none shows the staff, or whom an account is shared with, what it should not. */
function guardUsersFromStaff(app: FastifyInstance): void {
  app.addHook('preHandler', (request, _, done) => {
    if (request.user?.acting) refuseForStaff(request)
    done()
  })
  app.addHook('preSerialization', ({ user }, _, answer, done) => {
    done(null, shownTo(user, answer))
  })
}

/** Figures on a port of their own need no token: the public does not reach it. */
async function listenForMetrics(options: ListenOptions): Promise<() => Promise<void>> {
  const { config, logger, metrics, journal, nodes, db } = options
  if (config.metrics.port === undefined) return async () => undefined
  const app = await createServer({
    logger,
    requestLog: { journal, metrics },
    trustProxy: false,
  })
  await app.register(metricsRoute, { metrics, isPrivate: true })
  await app.register(nodesRoute, { nodes, db, isPrivate: true })
  const address = await app.listen({ host: config.host, port: config.metrics.port })
  logger.info(`Server listening at ${address}`)
  return () => app.close()
}

/** Call it before any route is registered. The list is empty for a path that does not exist. */
function collectPaths(app: FastifyInstance): (path: string) => string[] {
  const verbs = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    // A path under a wildcard may not exist; only bot calls accept any path there.
    if (url.includes('*') && !/^\/(file\/)?bot/.test(url)) return
    const pattern = `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace('*', '.*')}$`
    verbs.set(pattern, new Set([...(verbs.get(pattern) ?? []), ...[method].flat()]))
  })
  let known: readonly (readonly [pattern: RegExp, verbs: ReadonlySet<string>])[] | undefined
  return (path) => {
    known ??= [...verbs].map(([pattern, taken]) => [new RegExp(pattern), taken])
    const matching = known.filter(([pattern]) => pattern.test(path))
    return [...new Set(matching.flatMap(([, taken]) => [...taken]))].sort()
  }
}

export interface ServerOptions {
  readonly logger: FastifyBaseLogger
  readonly requestLog: RequestLogOptions
  readonly trustProxy: string[] | false
  readonly limits?: Partial<typeof usualLimits>
  /** Sees each request before the routes do; absent: all are answered here. */
  readonly forwarder?: Pick<RequestForwarder, 'serveOn'>
  /** Absent: the server listens from the call of `listen` on. */
  readonly startupServer?: StartupServer
}

export const usualLimits = {
  headersTimeout: 10_000,
  /** For a whole request; uploads may go on for as long as they keep coming. */
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  /** A proxy keeps its connections, and must not find one closed that it is about to use. */
  proxyKeepAlive: 72_000,
  keepAlive: 5_000,
  /** Ten thousand polls wait at once, and others come and go. */
  maxConnections: 15_000,
  /** For an answer of the management API. */
  handlerTimeout: 60_000,
  /** Of a body, after its answer: an upload of usual size may be refused early. */
  ...usualLeftovers,
  maxHeaderSize: 16_384,
  bodyLimit: 262_144,
  /** The last answer says that the connection ends, so that no next request is lost. */
  maxRequestsPerSocket: 1_000,
}

function httpServer(
  serve: RequestListener,
  { forwarder, trustProxy, startupServer }: ServerOptions,
  limits: typeof usualLimits,
): Server {
  const attach = (server: Server) => {
    followAnswers(server)
    if (forwarder) forwarder.serveOn(server, serve)
    else server.on('request', serve)
  }
  // A name may stand for two addresses: the second one has a server of its own.
  const listening = startupServer?.give(attach)
  if (listening) return listening
  const server = plainServer(limits, trustProxy)
  attach(server)
  return server
}

function plainServer(limits: typeof usualLimits, trustProxy: ServerOptions['trustProxy']): Server {
  const { headersTimeout, connectionsCheckingInterval, maxHeaderSize } = limits
  const options = { headersTimeout, connectionsCheckingInterval, maxHeaderSize }
  const server = createHttpServer({ ...options, requireHostHeader: false })
  const { requestTimeout, maxRequestsPerSocket } = limits
  const keepAliveTimeout = trustProxy ? limits.proxyKeepAlive : limits.keepAlive
  return Object.assign(server, { requestTimeout, maxRequestsPerSocket, keepAliveTimeout })
}

const starting = failed('unavailable', 'the service is starting', {
  reason: 'starting',
  retryAfterSeconds: 1,
})

/** However short calls are held: who polls asks again at once, and the start would be busy with that. */
const SHORTEST_POLL_MS = 1_000

/** Listens from the first moment of a start: answers health checks, and keeps other requests until the routes are there. */
export class StartupServer {
  readonly #server: Server
  readonly #holdMs: number
  readonly #kept = new Map<ServerResponse, NodeJS.Timeout>()
  readonly #sockets = new Set<Socket>()
  readonly #refuse: (error: ConnectionError, socket: Socket) => void
  #isGiven = false

  /** Rejects with the system's error if it cannot listen. */
  static async open(
    { host, port, trustProxy, timing }: Pick<Config, 'host' | 'port' | 'trustProxy' | 'timing'>,
    logger: FastifyBaseLogger,
  ): Promise<StartupServer> {
    const server = plainServer(usualLimits, trustProxy)
    const startupServer = new StartupServer(server, timing.holdFor, logger)
    server.listen({ host, port, backlog: LISTEN_BACKLOG })
    await once(server, 'listening')
    return startupServer
  }

  private constructor(server: Server, holdMs: number, logger: FastifyBaseLogger) {
    this.#refuse = answerClientError(logger, usualLimits.requestTimeout).bind({ server })
    this.#server = server.on('request', this.#keep).on('connection', this.#note)
    server.on('clientError', this.#refuse).on(REPLACED, this.#forgetSocket)
    answerForNode({ server })
    this.#holdMs = holdMs
  }

  /** The server. From its call of `listen` on, requests go where `attach` leads them. Undefined from the second call on. */
  give(attach: (server: Server) => void): Server | undefined {
    if (this.#isGiven) return undefined
    this.#isGiven = true
    // Fastify brings one of its own.
    const server = this.#server.off('clientError', this.#refuse)
    const alreadyHeard = new Set(server.listeners('connection'))
    const listen = () => {
      server.off('request', this.#keep).off('connection', this.#note)
      server.off(REPLACED, this.#forgetSocket)
      attach(server)
      // Listeners that count connections get the existing ones.
      for (const hear of server.listeners('connection')) {
        if (!alreadyHeard.has(hear)) for (const socket of this.#sockets) hear.call(server, socket)
      }
      this.#sockets.clear()
      for (const response of this.#kept.keys()) {
        this.#forget(response)
        server.emit('request', response.req, response)
      }
      queueMicrotask(() => server.emit('listening'))
      return server
    }
    return Object.assign(server, { listen })
  }

  /** For a failed start. A server that was handed over is closed by its new owner. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  readonly #note = (socket: Socket): void => {
    this.#sockets.add(socket)
    socket.once('close', () => this.#forgetSocket(socket))
  }

  readonly #forgetSocket = (socket: Socket): void => {
    this.#sockets.delete(socket)
  }

  readonly #keep = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = '' } = request
    if (url === '/health/live') reply(response, 200, JSON.stringify(ok({ status: 'live' })))
    else if (url === '/health/ready') answer(response, starting.failure)
    else {
      // Its body comes meanwhile, and another node may have to answer it.
      BodyCopy.of(request, response)
      const give = () => {
        this.#forget(response)
        new ForwardedCall(request, response).giveUp(starting)
      }
      const holdMs = isPoll(url) ? Math.max(this.#holdMs, SHORTEST_POLL_MS) : this.#holdMs
      this.#kept.set(response, setTimeout(give, holdMs))
      response.once('close', () => this.#forget(response))
    }
  }

  #forget(response: ServerResponse): void {
    clearTimeout(this.#kept.get(response))
    this.#kept.delete(response)
  }
}

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const limits = { ...usualLimits, ...options.limits }
  const app = Fastify({
    // With a logger of its own, Fastify would follow each answer to its end, which the request log does.
    childLoggerFactory: (_, bindings) => new RequestLogger(options.logger, bindings),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: options.trustProxy,
    bodyLimit: limits.bodyLimit,
    // While thousands of accounts start on a busy machine, reading a few files may take long, which is no failure.
    pluginTimeout: 0,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    serverFactory: (serve) => httpServer(serve, options, limits),
    clientErrorHandler: answerClientError(options.logger, limits.requestTimeout),
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => {
      // Answered before Node has looked at the rest, which may turn out to be no request.
      reply.headers({ ...securityHeaders, 'x-request-id': request.id, connection: 'close' })
      replyWithFailure(error, request, reply as never)
    },
    ...requestIds,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.server.maxConnections = limits.maxConnections
  const isProxy = addressCheck(options.trustProxy)
  app.addHook('onRequest', (request, _, done) => {
    const forwarding = forwardingOf(request.raw)
    if (forwarding) believe(request, forwarding, isProxy)
    done()
  })
  limitHandlers(app, limits.handlerTimeout)
  app.removeContentTypeParser('text/plain')
  parseJsonBodies(app)
  const verbsOf = collectPaths(app)
  app.setValidatorCompiler(validators())
  app.setSerializerCompiler(serializers())
  setSecurityHeaders(app)
  recordRequests(app, options.requestLog)
  drainLeftovers(app, limits)
  refuseUnclearLines(app)
  // The server of the start has done it already.
  if (!options.startupServer) answerForNode(app)
  forgetTypeOfNothing(app)
  app.addHook('preHandler', refuseHugeNumbers)
  guardUsersFromStaff(app)
  app.addHook('preValidation', refuseUnstorableText)
  app.setErrorHandler(replyWithFailure)
  app.setNotFoundHandler(async (request, reply) => {
    const verbs = verbsOf(request.url.split('?')[0] ?? '')
    if (verbs.length > 0) {
      return reply.code(405).header('allow', verbs.join(', ')).send(plainFailure(405))
    }
    return reply.code(404).send(failureBody(failed('not_found').failure))
  })
  return app
}

/** Rejects with the system's error if the service cannot listen on the port. */
export async function assertFree(host: string, port: number): Promise<void> {
  const server = createTcpServer((socket) => socket.destroy())
  server.listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
