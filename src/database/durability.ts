/** Checks a given database: that it keeps its commits, that its settings are fit for our statements, and connections keep theirs. */
import pg from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import type { Logger } from '../../actors/ports/ports.ts'
import { concerning } from '../process/fatal-errors.ts'

/** Settings of the role and of the database override those of the server. */
const ask = `select name, setting from pg_settings
  where name in ('synchronous_commit', 'fsync', 'full_page_writes') and setting = 'off' order by name`

/** The oldest version with all features that the service uses. */
const OLDEST = 14
const askVersion = `select current_setting('server_version_num')::int as version`

const patience = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 }

/** What a connection of ours asks for: as a parameter, and by `options`, as the job queues do. */
const askedFor = { statement_timeout: 4_999 }
const askedByOptions = '-c lock_timeout=4998'
const askKept = `select current_setting('statement_timeout') = '4999ms'
  and current_setting('lock_timeout') = '4998ms' as kept`

const pooled = 'a pooler that keeps no settings of connections is in between'
const direct = 'name the server itself'
/** SQLSTATE: how poolers refuse settings, as a protocol that is violated or a feature that is missing. */
const refusesSettings = new Set(['08P01', '0A000'])

/**
 * Settings of a role, of the database or of the server, as our statements take them for granted. Text is stored as UTF-8.
 * A stricter isolation makes statements fail that would have waited, and other styles make dates and lists unreadable. To
 * PostgreSQL `read uncommitted` is `read committed`.
 */
const askUnfit = `select name, setting from pg_settings
  where (name, setting) in (('array_nulls', 'off'), ('standard_conforming_strings', 'off'))
     or name = 'server_encoding' and setting <> 'UTF8'
     or name = 'default_transaction_isolation' and setting not like 'read %'
     or name = 'DateStyle' and setting not like 'ISO%'
  order by name`
const remedies: Readonly<Record<string, string>> = {
  server_encoding: 'create the database with encoding UTF8',
  default_transaction_isolation:
    "alter role … set default_transaction_isolation = 'read committed'",
  DateStyle: "alter role … set datestyle = 'ISO'",
}

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
  const parts = parseIntoClientConfig(url)
  const options = `${parts.options ?? ''} ${askedByOptions}`
  const client = new pg.Client({ ...parts, ...patience, ...askedFor, options })
  // The next statement on this connection fails with the same error.
  client.on('error', () => undefined)
  await client.connect().catch(explainRefusal)
  try {
    await assertNewEnough(client)
    await assertSettings(client)
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

function explainRefusal(cause: unknown): never {
  if (!(cause instanceof pg.DatabaseError) || !refusesSettings.has(cause.code ?? '')) throw cause
  throw new Error(`${pooled} (${cause.message}): ${direct}`, { cause })
}

async function assertSettings(client: pg.Client): Promise<void> {
  const { rows: kept } = await client.query<{ kept: boolean }>(askKept)
  if (!kept[0]?.kept) throw new Error(`${pooled}: ${direct}`)
  const { rows } = await client.query<{ name: string; setting: string }>(askUnfit)
  const [unfit] = rows
  if (!unfit) return
  const { name, setting } = unfit
  throw new Error(
    `PostgreSQL runs with ${name} ${setting}: ${remedies[name] ?? `alter role … set ${name} = on`}`,
  )
}
