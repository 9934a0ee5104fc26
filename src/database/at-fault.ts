/** Why a statement failed: of the values it was given, of another one, or of the database. */
import pg from 'pg'

/** SQLSTATE: data exceptions, and limits that no row gets past. */
const states = /^(22|54)/

/** Undefined for what is no answer of the database at all. */
export function failedOfItsValues(error: unknown): boolean | undefined {
  return error instanceof pg.DatabaseError ? states.test(error.code ?? '') : undefined
}

/** An integer was given twice, or a native id has another one: violations of the tables that map them. */
export function isIdentityConflict(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  const isMapped = error.table === 'chat_identity' || error.table === 'message_identity'
  return isMapped && (error.code === '23505' || error.code === '23502')
}

/**
 * Runs it again after such a conflict, once. PostgreSQL arbitrates by one unique index of a table: two who store the
 * same new pair in one moment meet at the other index, and the second try finds the pair stored. A real conflict stays.
 */
export async function despiteRace<Result>(store: () => Promise<Result>): Promise<Result> {
  try {
    return await store()
  } catch (error) {
    if (!isIdentityConflict(error)) throw error
    return store()
  }
}

/** Deadlock, and a lock that was waited for too long. */
const blocked = ['40P01', '55P03']

/** It had to give way to another statement: a moment later it may go through. */
export function wasBlocked(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return blocked.includes(error.code ?? '')
  return error instanceof Error && wasBlocked(error.cause)
}
