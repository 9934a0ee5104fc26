/** Checks that a given database keeps its commits, because the promise of the update log depends on it. */
import pg from 'pg'
import type { Logger } from '../../actors/ports/ports.ts'
import { concerning } from '../process/fatal-errors.ts'

/** Settings of the role and of the database override those of the server. */
const ask = `select name, setting from pg_settings
  where name in ('synchronous_commit', 'fsync', 'full_page_writes') and setting = 'off' order by name`

/** The oldest version with all features that the service uses. */
const OLDEST = 14
const askVersion = `select current_setting('server_version_num')::int as version`

const patience = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 }

interface DurabilityOptions {
  readonly url: string
  /** A trial of the service may run on a database that can lose commits. */
  readonly production: boolean
  readonly logger: Logger
}

/** Rejects with the name of the setting that may lose commits, or with another reason why the database is unfit. */
export function assertDurable(options: DurabilityOptions): Promise<void> {
  return concerning('DATABASE_URL', judge(options))
}

async function judge({ url, production, logger }: DurabilityOptions): Promise<void> {
  const client = new pg.Client({ connectionString: url, ...patience })
  // The next statement on this connection fails with the same error.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await assertNewEnough(client)
    const { rows } = await client.query<{ name: string }>(ask)
    const names = rows.map(({ name }) => name)
    if (names.length === 0) return
    const risk = `PostgreSQL runs with ${names.join(' and ')} off, a commit may be lost`
    // If it is off, a crash of the database loses acknowledged updates.
    if (production || names.includes('synchronous_commit')) throw new Error(risk)
    logger.warn({ settings: names }, risk)
  } finally {
    await client.end()
  }
}

async function assertNewEnough(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>(askVersion)
  const major = Math.floor((rows[0]?.version ?? 0) / 10_000)
  if (major < OLDEST) throw new Error(`PostgreSQL ${OLDEST} or newer is needed, this is ${major}`)
}
