/** Brings the schema up to date; of several nodes starting at once, one does it. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { HeldBack, WaitingMigration } from './migrator.ts'

/** Any constant will do, as long as every version of the service uses the same. */
const lockKey = 0x6d696772

/** How long a node waits for another one's migrations. */
const lockWait = '5min'

const folder = join(import.meta.dirname, 'migrations')

/** A newer version has taken away what this one uses: it would fail, or spoil what is there. */
class DatabaseIsNewer extends Error {
  override readonly name = 'DatabaseIsNewer'

  constructor(minimum: string) {
    super(
      `this database is for versions of the service that know the migration ${minimum}, and this one does not: ` +
        'run a newer version, or restore a backup from before it',
    )
  }
}

/** The ids of one cell. Beyond 2⁵³ a number is not exact in JSON, which leaves 9,000 cells. */
const IDS_OF_A_CELL = 1_000_000_000_000

/** The sequences of ids that must differ between cells: ids of users, and ids in the paths of requests. */
const sequences = [
  'app_user_id_seq',
  'user_session_id_seq',
  'personal_token_id_seq',
  'credential_id_seq',
  'api_key_number',
  'sandbox_person_id',
] as const

const cellOf = (id: string) => Math.floor(Number(id) / IDS_OF_A_CELL)

class ForeignCell extends Error {
  override readonly name = 'ForeignCell'

  constructor(found: number, cell: number) {
    super(
      `this database gives out ids of cell ${found}, and CELL is ${cell}: ` +
        `set CELL to ${found}, or use another database`,
    )
  }
}

/** The names come from the files: importing them would load the whole migrator for nothing. */
const knownNames = (): string[] =>
  readdirSync(folder)
    .filter((file) => /^\d{4}-.*\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort()

/** The newest migration that this version knows. */
export const newestKnown = (): string => knownNames().at(-1) ?? ''

async function isUpToDate(client: pg.Client): Promise<boolean> {
  const known = await client.query(`select from pg_tables
    where schemaname = current_schema and tablename = 'migration'`)
  if (known.rowCount === 0) return false
  const { rows } = await client.query<{ name: string }>('select name from migration order by name')
  const done = rows.map(({ name }) => name)
  const names = knownNames()
  const unknown = done.filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    const minimum = await client.query<{ migration: string }>(MINIMUM)
    assertKnown(minimum.rows[0]?.migration)
  }
  return names.every((name) => done.includes(name))
}

/** The migration that a version has to know to use this database. */
export const MINIMUM = 'select migration from schema_minimum'

/** Throws if this version does not know the `minimum`: what it uses was taken away. */
export function assertKnown(minimum: string | undefined): void {
  if (minimum !== undefined && minimum > newestKnown()) throw new DatabaseIsNewer(minimum)
}

/** Returns the names of the migrations that were run. */
export async function migrate(url: string, heldBack?: HeldBack): Promise<string[]> {
  const lock = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  lock.on('error', () => {
    // Migrations go on without the lock: each commits with its own record, so none is run twice.
  })
  await lock.connect()
  try {
    if (await isUpToDate(lock)) return []
    await lock.query(`set lock_timeout = '${lockWait}'`)
    await lock.query('select pg_advisory_lock($1)', [lockKey])
    const { runPending } = await import('./migrator.ts')
    return await runPending(url, undefined, heldBack)
  } finally {
    await lock.end()
  }
}

const LOOK_AGAIN_MS = 1_000

interface Contracting {
  /** One run of what waits; resolves with what was run. */
  run(heldBack: HeldBack): Promise<readonly string[]>
  /** How long to wait for nodes of earlier versions to end. */
  readonly waitMs: number
  done(migration: string): void
}

/** Runs what waits until no node holds anything back, or the time is over. Resolves with what is held back still. */
export async function contract({
  run,
  waitMs,
  done,
}: Contracting): Promise<readonly WaitingMigration[]> {
  const until = performance.now() + waitMs
  for (;;) {
    const waiting: WaitingMigration[] = []
    for (const migration of await run((one) => waiting.push(one))) done(migration)
    const left = until - performance.now()
    if (waiting.length === 0 || left <= 0) return waiting
    await pause(Math.min(left, LOOK_AGAIN_MS))
  }
}

/**
 * Lets ids begin at `cell` × 10¹², so that no other cell gives out the same: a user who moves keeps them. Rejects with
 * `ForeignCell` if the database gives out those of another one.
 */
export async function enterCell(url: string, cell: number): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {
    // The statement that finds the connection lost rejects.
  })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    const { rows } = await client.query<{ sequence: string; last: string }>(
      sequences
        .map((it) => `select '${it}' as sequence, last_value as last from ${it}`)
        .join(' union all '),
    )
    const foreign = rows.find(({ last }) => ![0, cell].includes(cellOf(last)))
    if (foreign) throw new ForeignCell(cellOf(foreign.last), cell)
    for (const { sequence, last } of rows.filter(({ last }) => cellOf(last) !== cell)) {
      await client.query('select setval($1, $2)', [sequence, cell * IDS_OF_A_CELL + Number(last)])
    }
    await client.query('commit')
  } finally {
    await client.end()
  }
}
