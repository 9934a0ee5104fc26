/** Records every bot and management request, and times all of them, without touching a secret. */
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AbortListener } from '../../actors/host/actor.ts'
import type { Keeps, KeyFacts } from '../../actors/ports/ports.ts'
import type { FailureReason, Params } from '../../machines/model/reason.ts'
import type { Arguments } from '../bot-api/arguments.ts'
import type { CallLog } from '../exchanges/calls.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { RequestJournal } from '../observability/request-journal.ts'

/** The logger of one request. Its child logger is made with the first line, because most requests write none. */
export class RequestLogger implements FastifyBaseLogger {
  readonly #logger: FastifyBaseLogger
  /** Of its bindings only this is kept, since many requests wait long. */
  readonly #reqId: unknown

  constructor(logger: FastifyBaseLogger, { reqId }: { readonly reqId?: unknown }) {
    this.#logger = logger
    this.#reqId = reqId
  }

  get level(): string {
    return this.#logger.level
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line)
  }

  error(...line: unknown[]): void {
    this.#write('error', line)
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line)
  }

  info(...line: unknown[]): void {
    this.#write('info', line)
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line)
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line)
  }

  silent(): void {
    // This level is not written.
  }

  child(...given: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#own().child(...given)
  }

  #own(): FastifyBaseLogger {
    return this.#logger.child({ reqId: this.#reqId })
  }

  #write(level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace', line: unknown[]): void {
    const own = this.#own()
    Reflect.apply(own[level], own, line)
  }
}

/** Facts about a request that only the code serving it knows. */
interface RequestAudit {
  userId?: number | undefined
  apiKeyId?: number | undefined
  credentialId?: number | undefined
  /** A bot method in the reference's spelling; left out for an unknown one, and by the management API. */
  method?: string | undefined
  /** Both are taken from a failed answer unless they are set. */
  errorCode?: number | undefined
  description?: string | undefined
  /** Why the request failed, and the values that belong to it. */
  reason?: FailureReason | undefined
  params?: Params | undefined
  /** Set by code that reads a body without a content length, or that bypasses Fastify's reply. */
  requestBytes?: number | undefined
  responseBytes?: number | undefined
  /** Parameters and answer of a call, if the key keeps them: of failed calls, or of all. */
  args?: Arguments | (() => Arguments) | undefined
  keeps?: Keeps | undefined
  answer?: string | undefined
  /** Noted at the start, because a closed connection has no address. */
  readonly ip: string
  /** By the clock of `performance`. */
  readonly startedAt: number
  isRecorded: boolean
  /** The line does not show where the request came from. */
  isAnonymous?: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    audit: RequestAudit
    /** Called once the connection closes; set by a handler that waits long before it answers. */
    left: AbortListener | undefined
  }
  interface FastifyContextConfig {
    /** `false` keeps a route out of the request log: operations, documentation. */
    audit?: boolean
  }
}

export interface RequestLogOptions {
  readonly journal: Pick<RequestJournal, 'record'>
  readonly metrics: Pick<Metrics, 'answered' | 'botCalled'>
  /** Absent: nothing is kept of parameters and answers. */
  readonly callLog?: Pick<CallLog, 'add'> | undefined
}

/** The name in the log of calls with an unknown method. */
const UNKNOWN_METHOD = 'unknown method'

/** Not a status of HTTP but a common one of logs: the client went away before the answer. */
const CLIENT_CLOSED = 499

/** Only what each call has: the others take memory while a poll is held. */
const newAudit = (ip: string): RequestAudit => ({
  userId: undefined,
  apiKeyId: undefined,
  credentialId: undefined,
  method: undefined,
  ip,
  startedAt: performance.now(),
  isRecorded: false,
})

/** The answer closes, which is enough. */
const ignored = () => undefined

/** Call it before all other hooks except that of the headers, so that refused requests are recorded too. */
export function recordRequests(app: FastifyInstance, options: RequestLogOptions) {
  const { journal, metrics, callLog } = options
  app.decorateRequest('audit')
  app.decorateRequest('left', undefined)

  app.addHook('onRequest', (request, reply, done) => {
    // A closed connection has no address, although the type says otherwise.
    request.audit = newAudit(request.ip ?? '')
    // The only listener of its kind: many thousands of answers may be waited for. Fastify's onResponse would take two more
    // for each, and is silent about a client that left.
    reply.raw.on('close', () => {
      end(request, reply)
      request.left?.handleEvent()
    })
    // Node.js tells of bytes after the end of an answer, which must not end the process.
    reply.raw.on('error', ignored)
    done()
  })

  app.addHook('preSerialization', (request, reply, payload, done) => {
    if (reply.statusCode >= 400) noteFailure(request.audit, payload)
    done(null, payload)
  })

  function end(request: FastifyRequest, reply: FastifyReply) {
    const { audit, is404 } = request
    if (audit.isRecorded) return
    audit.isRecorded = true
    const status = statusAtClose(reply)
    const durationMs = performance.now() - audit.startedAt
    const { url = 'unmatched', config } = request.routeOptions
    const route = is404 ? 'unmatched' : url
    metrics.answered(request.method, route, status, durationMs / 1_000)
    if (audit.method !== undefined) metrics.botCalled(audit.method, durationMs / 1_000)
    if (is404 || config.audit === false) return
    const at = Date.now()
    if (callLog && audit.args) keepCall(callLog, request, { at, isGood: status < 400 })
    journal.record({
      at,
      requestId: request.id,
      userId: audit.userId ?? null,
      apiKeyId: audit.apiKeyId ?? null,
      credentialId: audit.credentialId ?? null,
      method: audit.method ?? labelOf(request.method, route),
      status,
      errorCode: audit.errorCode ?? (status < 400 ? null : status),
      description: audit.description ?? null,
      reason: audit.reason ?? null,
      params: audit.params ?? null,
      durationMs,
      requestBytes: audit.requestBytes ?? length(request.headers['content-length']),
      responseBytes: audit.responseBytes ?? length(reply.getHeader('content-length')),
      ip: audit.isAnonymous ? '' : audit.ip,
      userAgent: audit.isAnonymous ? null : (request.headers['user-agent'] ?? null),
    })
  }
}

/** A bot method that does not exist is a call of a bot, too; its name may be anything, so it is not stored. */
const labelOf = (verb: string, route: string) =>
  route === '/bot:token/*' ? UNKNOWN_METHOD : `${verb} ${route}`

function keepCall(
  callLog: Pick<CallLog, 'add'>,
  { id: requestId, audit }: FastifyRequest,
  { at, isGood }: { readonly at: number; readonly isGood: boolean },
): void {
  const { args, keeps, userId, apiKeyId, answer } = audit
  if (!args || (isGood && keeps !== 'all') || userId === undefined || apiKeyId === undefined) return
  const given = typeof args === 'function' ? args() : args
  callLog.add({ at, userId, apiKeyId, requestId, args: given, answer })
}

/** An event stream was answered with success, and ends when its reader leaves. */
const statusAtClose = ({ sent, raw }: FastifyReply) =>
  sent && raw.headersSent ? raw.statusCode : CLIENT_CLOSED

function noteFailure(audit: RequestAudit, payload: unknown): void {
  if (typeof payload !== 'object' || payload === null) return
  const { error_code, description } = payload as { error_code?: unknown; description?: unknown }
  if (typeof error_code === 'number') audit.errorCode ??= error_code
  if (typeof description === 'string') audit.description ??= description
  if (audit.args) audit.answer = JSON.stringify(payload)
}

/** The key of a call, with its owner. */
export const ofKey =
  ({ audit }: FastifyRequest) =>
  ({ apiKeyId, userId, credentialId }: KeyFacts): void => {
    audit.apiKeyId = apiKeyId
    audit.userId = userId
    audit.credentialId = credentialId
  }

/** The number in a header; undefined if it is missing or invalid. */
function length(header: number | string | string[] | undefined): number {
  const bytes = Number(header ?? 0)
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0
}
