/** Tells a statement that failed of the values it was given from one that failed of the database. */
import pg from 'pg'

/** SQLSTATE: data exceptions, and limits that no row gets past. */
const states = /^(22|54)/

/** Undefined for what is no answer of the database at all. */
export function failedOfItsValues(error: unknown): boolean | undefined {
  return error instanceof pg.DatabaseError ? states.test(error.code ?? '') : undefined
}
