/** Tells a database that cannot be reached, where trying again may help, from a failed statement. */

import pg from 'pg'
import type { Failure } from '../../machines/model/protocol.ts'
import type { FailureReason } from '../../machines/model/reason.ts'

/** SQLSTATE: connection exceptions, a server that takes no writes, operator intervention, resources, our time limits. */
const states = /^(08|25006|53|57P0[1235]|57014|55P03|25P0[34])/
const system = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])
/** pg's own errors carry no code. */
const messages =
  /^(Connection terminated|timeout exceeded when|Query read timeout|Client (has|was) .*not queryable)/

export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return states.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  const { code, syscall } = error as NodeJS.ErrnoException
  // MikroORM throws errors of its own, with the fields of pg's.
  if (code !== undefined && states.test(code)) return true
  if (code !== undefined && system.has(code)) return true
  // A server that is down has removed its socket.
  if (code === 'ENOENT' && syscall === 'connect') return true
  return messages.test(error.message) || isUnavailable(error.cause)
}

/** What a caller is told while the database cannot serve, and that a second may be enough. */
export function databaseFailure(error: unknown): Failure {
  const [reason, description] = whyUnavailable(error)
  return { code: 'unavailable', reason, description, retryAfterSeconds: 1 }
}

/** What is known of why the database cannot serve now. */
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
