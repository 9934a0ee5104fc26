/** Why the database failed: it cannot be reached, the values are at fault, or another statement was in the way. */
import pg from 'pg'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import type { FailureReason } from '../../machines/model/reason.ts'

/**
 * SQLSTATE: connection exceptions, a server that takes no writes, operator intervention, resources, our time limits; a login
 * or a database that the server does not know now; its disk; and a statement that gave way to another one.
 */
const states = /^(08|25006|53|57P0[1-5]|57014|55P03|25P0[34]|28|3D000|58|40001|40P01)/
const system = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENOBUFS',
  'ENOTCONN',
  'EPROTO',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
])
/** Errors of a connection that does not come up: no descriptor, no port, no name, no socket of a server that is down. */
const connecting = new Set(['connect', 'getaddrinfo'])
/** Node's and OpenSSL's errors while TLS is agreed on, such as a certificate that is just being renewed. */
const tls = /^ERR_(SSL|TLS)_|CERT|_SIGNATURE$/
/** pg's own errors carry no code. Node says `write ENOMEM` of a socket, and of a file the reason in words. */
const messages =
  /^((read|write|shutdown) E[A-Z]+$|Connection terminated|timeout e(xceeded when|xpired$)|Query read timeout|Client (has|was) .*not queryable|Cannot use a pool after calling end|Received unexpected |There was an error establishing an SSL|The server does not support SSL)/

export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return states.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  const { code, syscall } = error as NodeJS.ErrnoException
  // MikroORM throws errors of its own, with the fields of pg's.
  if (code !== undefined && states.test(code)) return true
  if (code !== undefined && (system.has(code) || tls.test(code))) return true
  if (syscall !== undefined && connecting.has(syscall)) return true
  return messages.test(error.message) || isUnavailable(error.cause)
}

/** The database's own error, or that of the way to it, in an error that was thrown because the database is unavailable. */
export function faultOfDatabase(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof pg.DatabaseError) return isUnavailable(error) ? error : undefined
  const { cause } = error
  const isTold = error instanceof RequestFailed && error.failure.reason?.startsWith('database_')
  if (!isTold) return faultOfDatabase(cause)
  return cause instanceof Error ? cause : error
}

/** Errors before a statement is sent: there is no connection, and pg's words for the connections of its pool. */
const beforeSending =
  /^(timeout e(xceeded when|xpired$)|Client (has|was) .*not queryable|Connection terminated due to connection|Cannot use a pool|There was an error establishing|The server does not support)/
/** Errors of the agreement on TLS alone: others of OpenSSL also end a connection that is in use. */
const agreeing = /^ERR_TLS_|CERT|_SIGNATURE$/
/**
 * SQLSTATE of a server that crashes, and of a pooler that has lost its server: it may have committed before. Any other error
 * of a server undoes the statement.
 */
const lost = /^(57P02|08(?!00[14]))/

/** Whether a statement that commits by itself, or a commit, may have been carried out though it failed like this. */
export function mayBeDone(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return lost.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.some(mayBeDone)
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code !== undefined && states.test(code)) return lost.test(code)
  const isUnsent =
    connecting.has(syscall ?? '') || agreeing.test(code ?? '') || beforeSending.test(error.message)
  return !isUnsent && isUnavailable(error)
}

/** The failure for callers while the database is unavailable; a second may be enough. */
export function databaseFailure(error: unknown): Failure {
  const [reason, description] = whyUnavailable(error)
  return { code: 'unavailable', reason, description, retryAfterSeconds: 1 }
}

/** The known reason why the database is unavailable. */
function whyUnavailable(error: unknown): readonly [reason: FailureReason, description: string] {
  const code = codeOf(error)
  if (code === '53100') return ['database_full', 'the database has no room']
  if (code === '25006') return ['database_read_only', 'the database takes no writes']
  return ['database_away', 'the database does not answer']
}

/** The SQLSTATE, also of an error that is the cause of this one. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  return code !== undefined && states.test(code) ? code : codeOf(error.cause)
}

/** SQLSTATE: data exceptions, and limits that no row gets past. */
const ofValues = /^(22|54)/

/** Undefined for an error that the database did not send. */
export function failedOfItsValues(error: unknown): boolean | undefined {
  return error instanceof pg.DatabaseError ? ofValues.test(error.code ?? '') : undefined
}

/** An integer was given twice, or a native id has another one: violations of the tables that map them. */
export function isIdentityConflict(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  const isMapped = error.table === 'chat_identity' || error.table === 'message_identity'
  return isMapped && (error.code === '23505' || error.code === '23502')
}

/**
 * Runs it once more after such a conflict. ON CONFLICT checks only one unique index of a table, so two concurrent
 * inserts of the same new pair may collide on the other index. The second try then finds the stored pair. A real
 * conflict fails again.
 */
export async function despiteRace<Result>(store: () => Promise<Result>): Promise<Result> {
  try {
    return await store()
  } catch (error) {
    if (!isIdentityConflict(error)) throw error
    return store()
  }
}

const SLOW_MS = 500

/**
 * Reads on a second connection, too, if there is no answer after half a second: one that was cut off without a word would
 * be waited for until the limit of a statement. Fails once no read is left that could succeed.
 */
export function readTwice<Result>(read: () => Promise<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  let open = 1
  const fail = (cause: unknown) => {
    if (--open === 0) reject(cause)
  }
  const again = setTimeout(() => {
    open++
    read().then(resolve, fail)
  }, SLOW_MS)
  read()
    .then(resolve, fail)
    .finally(() => clearTimeout(again))
  return promise
}

const DEADLOCK = '40P01'
/** A timeout while waiting for a lock. */
const LOCK_TIMEOUT = '55P03'

function stateOf(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code
  return error instanceof Error ? stateOf(error.cause) : undefined
}

/** Whether two statements waited for each other: the other one goes on at once. */
export const wasDeadlock = (error: unknown): boolean => stateOf(error) === DEADLOCK

/** Whether another statement was in the way, so that another try may succeed. */
export const wasBlocked = (error: unknown): boolean =>
  wasDeadlock(error) || stateOf(error) === LOCK_TIMEOUT

/** SQLSTATE: timeouts of a lock and of a statement, and a statement that gave way to another one. */
const ofOneRow = /^(55P03|57014|40P01|40001)$/

/** Whether one row of the statement may be in the way of all others, while the database is there. */
export const mayBeOneRow = (error: unknown): boolean => ofOneRow.test(stateOf(error) ?? '')

/** SQLSTATE: what no row with these values gets past. A row without a partition (23514) is taken once there is one. */
const ofRows = /^(22|23(?!514)|54)/

/** Whether the same statement with the same rows would fail again. */
export const isRefused = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && ofRows.test(error.code ?? '')
