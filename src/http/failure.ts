/** How a failed request looks on the wire: one envelope, one status and prefix per failure code. */
import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { OwnershipLost, RequestFailed } from '../../machines/model/failure.ts'
import type { Failure, FailureCode } from '../../machines/model/protocol.ts'
import type { FailureReason, Params } from '../../machines/model/reason.ts'
import { databaseFailure, isUnavailable } from '../database/failures.ts'
import { isPoll, ownerLost } from '../nodes/owners.ts'
import { forwardingOf } from '../nodes/peers.ts'
import { securityHeaders } from './headers.ts'
import { type FieldProblem, problemsOf } from './validation.ts'

const wire: Record<FailureCode, readonly [status: number, prefix: string]> = {
  bad_request: [400, 'Bad Request'],
  unauthorized: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  not_found: [404, 'Not Found'],
  conflict: [409, 'Conflict'],
  rate_limited: [429, 'Too Many Requests'],
  internal: [500, 'Internal Server Error'],
  bad_gateway: [502, 'Bad Gateway'],
  unavailable: [503, 'Service Unavailable'],
  timeout: [504, 'Gateway Timeout'],
}

/** Failures of the HTTP layer itself: their status has a text of its own. */
const plain: Record<number, string> = {
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  412: 'Precondition Failed',
  413: 'Request Entity Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
  505: 'HTTP Version Not Supported',
}

interface FailureBody {
  readonly ok: false
  readonly error_code: number
  readonly description: string
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number }
  readonly code?: FailureReason
  readonly params?: Params
  readonly errors?: readonly FieldProblem[]
}

/** The status and body of a failure. */
export function failureBody(failure: Failure): FailureBody {
  const [status, prefix] = wire[failure.code]
  const retry = failure.retryAfterSeconds
  const parameters = {
    ...(retry !== undefined && { retry_after: retry }),
    ...(failure.migrateToChatId !== undefined && { migrate_to_chat_id: failure.migrateToChatId }),
  }
  return {
    ok: false,
    error_code: status,
    description: describe(failure, prefix),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  }
}

/** The body of a failure that is known by its status alone. */
export function plainFailure(status: number): FailureBody {
  const description = plain[status]
  if (description) return { ok: false, error_code: status, description }
  return failureBody({ code: 'bad_request', description: "can't parse the request" })
}

/** An answer for a connection that has no request to reply to. */
export function rawAnswer(status: number, requestId: string): string {
  const body = JSON.stringify(plainFailure(status))
  const headers = {
    ...securityHeaders,
    date: new Date().toUTCString(),
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}

/** A poll that took this long was held, so it had not reached the wrong node. */
const HELD_MS = 500

/** An application without a request log does not know. */
const wasHeld = ({ audit }: FastifyRequest): boolean =>
  audit !== undefined && performance.now() - audit.startedAt > HELD_MS

/** Fastify's error handler: the only place where an error becomes an answer. */
export function replyWithFailure(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  // The node that forwarded the request looks for the owner again.
  if (error instanceof OwnershipLost && forwardingOf(request.raw)) return reply.code(421).send()
  // Its next poll goes to the owner. A library waits for seconds after any failure.
  if (error instanceof OwnershipLost && isPoll(request.url) && wasHeld(request)) {
    return reply.code(200).send({ ok: true, result: [] })
  }
  if (error instanceof OwnershipLost && ownerLost(request.raw))
    return answeredElsewhere(request, reply)
  const body = bodyOf(error, request, reply)
  if (body.parameters?.retry_after !== undefined) {
    reply.header('retry-after', body.parameters.retry_after)
  }
  return reply.code(body.error_code).send(body)
}

/** The node that answers the request records it. An application without a request log has nothing to mark. */
function answeredElsewhere({ audit }: FastifyRequest, reply: FastifyReply): void {
  if (audit) audit.isRecorded = true
  reply.hijack()
}

/** An error after the client has left is no defect. */
const hasLeft = ({ name, code }: FastifyError, { raw }: FastifyReply): boolean =>
  raw.destroyed && (name === 'AbortError' || partings.has(code))

const partings = new Set(['ABORT_ERR', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'])

function bodyOf(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FailureBody {
  if (error instanceof RequestFailed) return refused(unconfirmed(error.failure, request), request)
  if (error.validation) return invalid(problemsOf(error.validation))
  if (isUnavailable(error)) return refused(databaseFailure(error), request)
  const status = error.statusCode ?? 500
  // The answer does not show whether a file outside the served folders exists.
  if (status === 403 || status === 404) return failureBody({ code: 'not_found', description: '' })
  if (plain[status] || (status >= 400 && status < 500)) return plainFailure(status)
  if (status === 503)
    return failureBody({ code: 'unavailable', description: '', retryAfterSeconds: 1 })
  // The client left before this answer; the request log has it as 499.
  if (hasLeft(error, reply)) request.log.debug({ err: error }, 'the client left')
  else request.log.error({ err: error }, 'request failed')
  return failureBody({ code: 'internal', description: '' })
}

const UNREPEATABLE = new Set(['POST', 'DELETE'])

/**
 * Not 503 with a time to try again: a `POST` whose connection to the database was cut may have made something, and a second
 * one would make another; a second `DELETE` finds nothing. Calls of bots say so themselves, where it matters.
 */
function unconfirmed(failure: Failure, { method, routeOptions }: FastifyRequest): Failure {
  const isSure = failure.code !== 'unavailable' || failure.certain !== false
  if (isSure || !UNREPEATABLE.has(method) || routeOptions.url?.startsWith('/bot')) return failure
  const description = 'the database did not answer in time; it may have been done'
  return { code: 'timeout', description, reason: 'write_unconfirmed', certain: false }
}

/** The bot API has the reference's envelope; everywhere else a failure also has its code, its values and its field. */
function refused(failure: Failure, { routeOptions, audit }: FastifyRequest): FailureBody {
  const { reason, params, field } = failure
  // An application without a request log cannot record it.
  if (audit) Object.assign(audit, { reason, params })
  const body = failureBody(failure)
  if (routeOptions.url?.startsWith('/bot')) return body
  const why = {
    ...(reason !== undefined && { code: reason }),
    ...(params !== undefined && { params }),
  }
  if (!field) return { ...body, ...why }
  return { ...body, ...why, errors: [{ field: field.name, reason: field.problem, ...why }] }
}

/** Names the first offending field in words and lists all of them. */
function invalid(problems: readonly FieldProblem[]): FailureBody {
  const [first] = problems
  if (!first) {
    const description = "can't parse the request body: a JSON object is expected"
    return failureBody({ code: 'bad_request', description })
  }
  const { field, reason, ...why } = first
  const description = `field "${field}" ${reason}`
  return { ...failureBody({ code: 'bad_request', description }), ...why, errors: problems }
}

function describe({ code, description, retryAfterSeconds }: Failure, prefix: string): string {
  if (code === 'rate_limited' && !description) return `${prefix}: retry after ${retryAfterSeconds}`
  if (!description || description.startsWith(prefix)) return description || prefix
  return `${prefix}: ${lowerFirst(description)}`
}

/** The reference's rule: the first letter is lowered unless the second is upper-case or an underscore. */
function lowerFirst(text: string): string {
  return /^.[A-Z_]/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1)
}
