/** Deletes rows in steps that are short of any time limit, so that it may be cut off and begun again. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { type PersonalTable, personalTables } from './tables.ts'

const AT_ONCE = 5_000

/** The parts that hold the rows of a table: those of a partitioned one, or itself. */
const parts = `
  select part::regclass::text as part from (select relid from pg_partition_tree($1::regclass)
    where isleaf union select $1::regclass where not exists (
      select from pg_partition_tree($1::regclass))) as leaves (part)`

export async function wipeTable(db: Database, table: PersonalTable, id: number): Promise<void> {
  for (const { part } of await db.query<{ part: string }>(parts, [table.name])) {
    for (let removed = AT_ONCE; removed === AT_ONCE; ) {
      const gone = await db.query(
        `delete from ${part} where ctid = any (array(
           select ctid from ${part} where ${table.where} limit ${AT_ONCE})) returning 1`,
        [id],
      )
      removed = gone.length
    }
  }
}

/** Other nodes know a sign-in for five seconds. */
const ROUNDS = 5
const ROUND_MS = 2_000

/** Rows that were written between two deletions are found by looking once more. False: they keep coming. */
export async function inRounds(wipe: () => Promise<void>): Promise<boolean> {
  for (let round = 1; ; round++) {
    try {
      await wipe()
      return true
    } catch (cause) {
      if (!isReferenced(cause)) throw cause
      if (round === ROUNDS) return false
      await pause(ROUND_MS)
    }
  }
}

const isReferenced = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === '23503'

/** What came from the network or names somebody there: there is no key left that could ask for it. */
export async function wipeAccount(db: Database, credentialId: number): Promise<void> {
  for (const table of personalTables) {
    if (table.endsWithAccount) await wipeTable(db, table, credentialId)
  }
  await db.query('update credential_log set checkpoint = null where credential_id = $1', [
    credentialId,
  ])
}

/** Accounts whose deletion left something behind: of versions that kept it, and what was written at the last moment. */
const leftovers = `
  select id from credential c where deactivated_at is not null and (
    ${personalTables
      .filter(({ endsWithAccount }) => endsWithAccount)
      .map(({ name }) => `exists (select from ${name} where credential_id = c.id) or`)
      .join('\n    ')}
    exists (select from credential_log where credential_id = c.id and checkpoint is not null))`

export async function wipeDeletedAccounts(db: Database): Promise<void> {
  for (const { id } of await db.query<{ id: number }>(leftovers)) await wipeAccount(db, id)
}
