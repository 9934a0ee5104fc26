/** The HTTP server: limits, ids, headers, the log, and one envelope for everything that fails. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { failed } from '../../actors/errors.ts'
import { answerClientError, followAnswers } from './client-error.ts'
import { failureBody, plainFailure, replyWithFailure } from './failure.ts'
import { requestIds, securityHeaders, setSecurityHeaders } from './headers.ts'
import { parseJsonBodies } from './json-body.ts'
import { collectPaths } from './known-paths.ts'
import { refuseNul } from './nul.ts'
import { refuseHugeNumbers } from './numbers.ts'
import { answerForNode, refuseUnclearLines } from './request-line.ts'
import { type RequestLogOptions, recordRequests } from './request-log.ts'
import { validators } from './validators.ts'

export interface ServerOptions {
  readonly log: FastifyBaseLogger
  readonly requestLog: RequestLogOptions
  readonly trustProxy: string[] | false
  readonly limits?: Partial<typeof usualLimits>
}

const usualLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  /** The answer that reaches it says that the connection ends, so nobody's next request is lost. */
  maxRequestsPerSocket: 1_000,
}

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const limits = { ...usualLimits, ...options.limits }
  const { headersTimeout, connectionsCheckingInterval } = limits
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: options.trustProxy,
    bodyLimit: 262_144,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: 72_000,
    maxRequestsPerSocket: limits.maxRequestsPerSocket,
    connectionTimeout: 0,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    http: {
      headersTimeout,
      connectionsCheckingInterval,
      maxHeaderSize: 16_384,
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

  app.removeContentTypeParser('text/plain')
  parseJsonBodies(app)
  const verbsOf = collectPaths(app)
  app.setValidatorCompiler(validators())
  setSecurityHeaders(app)
  recordRequests(app, options.requestLog)
  followAnswers(app)
  refuseUnclearLines(app)
  answerForNode(app)
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
