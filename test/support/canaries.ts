/** Looks for words that must not stand in a database, in every column of every table. */
import { openDatabase } from '../../src/database/database.ts'
import { quietLogger } from './logger.ts'

interface Finding {
  readonly table: string
  readonly canary: string
  readonly row: string
}

/** As it is, in hexadecimal as bytes are shown, and in base64. */
const spellings = (canary: string) => [
  canary,
  Buffer.from(canary).toString('hex'),
  Buffer.from(canary).toString('base64').replace(/=+$/, '').slice(0, -1),
]

export async function canariesIn(
  databaseUrl: string,
  canaries: readonly string[],
): Promise<Finding[]> {
  const database = openDatabase({ url: databaseUrl, logger: quietLogger })
  try {
    // The parts of a partitioned table are tables themselves; the queue is in a schema of its own.
    const tables = await database.query<{ table: string }>(
      `select format('%I.%I', n.nspname, c.relname) as "table" from pg_class c
         join pg_namespace n on n.oid = c.relnamespace
        where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')`,
    )
    const found: Finding[] = []
    for (const { table } of tables) {
      for (const canary of canaries) {
        const patterns = spellings(canary).map((each) => `%${each.replace(/[%_\\]/g, '\\$&')}%`)
        const rows = await database.query<{ row: string }>(
          `select t::text as row from ${table} t where t::text ilike any ($1) limit 3`,
          [patterns],
        )
        found.push(...rows.map(({ row }) => ({ table, canary, row })))
      }
    }
    return found
  } finally {
    await database.close()
  }
}
