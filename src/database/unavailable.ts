/** Tells a database that cannot be reached, where trying again may help, from a failed statement. */
import pg from 'pg'

/** SQLSTATE: connection exceptions, operator intervention, resources, and our own time limits. */
const states = /^(08|53|57P0[1-3]|57014|55P03|25P0[34])/
const system = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'])
/** pg's own errors carry no code. */
const messages =
  /^(Connection terminated|timeout exceeded when|Query read timeout|Client (has|was) .*not queryable)/

export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return states.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined && system.has(code)) return true
  return messages.test(error.message) || isUnavailable(error.cause)
}
