/** The HTTP server: limits, ids, headers, the log, and one envelope for everything that fails. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import { answerClientError, followAnswers } from './client-error.ts'
import { failureBody, plainFailure, replyWithFailure } from './failure.ts'
import { limitHandlers } from './handler-limit.ts'
import { requestIds, securityHeaders, setSecurityHeaders } from './headers.ts'
import { forgetTypeOfNothing, parseJsonBodies } from './json-body.ts'
import { collectPaths } from './known-paths.ts'
import { drainLeftovers } from './leftover.ts'
import { refuseNul } from './nul.ts'
import { refuseHugeNumbers } from './numbers.ts'
import { answerForNode, refuseUnclearLines } from './request-line.ts'
import { type RequestLogOptions, recordRequests } from './request-log.ts'
import { RequestLogger } from './request-logger.ts'
import { validators } from './validators.ts'

export interface ServerOptions {
  readonly log: FastifyBaseLogger
  readonly requestLog: RequestLogOptions
  readonly trustProxy: string[] | false
  readonly limits?: Partial<typeof usualLimits>
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
  /** What is read of a body after its answer: as much as the usual upload, which may be refused when little has come. */
  leftoverBytes: 64 * 2 ** 20,
  leftoverTimeout: 10_000,
  maxHeaderSize: 16_384,
  bodyLimit: 262_144,
  /** The answer that reaches it says that the connection ends, so nobody's next request is lost. */
  maxRequestsPerSocket: 1_000,
}

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const limits = { ...usualLimits, ...options.limits }
  const { headersTimeout, connectionsCheckingInterval } = limits
  const app = Fastify({
    loggerInstance: options.log,
    childLoggerFactory: (log, bindings) => new RequestLogger(log, bindings),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: options.trustProxy,
    bodyLimit: limits.bodyLimit,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: options.trustProxy ? limits.proxyKeepAlive : limits.keepAlive,
    maxRequestsPerSocket: limits.maxRequestsPerSocket,
    connectionTimeout: 0,
    // While thousands of accounts begin on a busy machine, reading a few files takes long: that is no reason to end.
    pluginTimeout: 0,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    http: {
      headersTimeout,
      connectionsCheckingInterval,
      maxHeaderSize: limits.maxHeaderSize,
      requireHostHeader: false,
    },
    clientErrorHandler: answerClientError(options.log, limits.requestTimeout),
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => {
      // Answered before Node has looked at the rest, which may turn out to be no request.
      reply.headers({ ...securityHeaders, 'x-request-id': request.id, connection: 'close' })
      replyWithFailure(error, request, reply as never)
    },
    ...requestIds,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.server.maxConnections = limits.maxConnections
  limitHandlers(app, limits.handlerTimeout)
  app.removeContentTypeParser('text/plain')
  parseJsonBodies(app)
  const verbsOf = collectPaths(app)
  app.setValidatorCompiler(validators())
  setSecurityHeaders(app)
  recordRequests(app, options.requestLog)
  followAnswers(app)
  drainLeftovers(app, limits)
  refuseUnclearLines(app)
  answerForNode(app)
  forgetTypeOfNothing(app)
  app.addHook('preHandler', refuseHugeNumbers)
  app.addHook('preValidation', refuseNul)
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
