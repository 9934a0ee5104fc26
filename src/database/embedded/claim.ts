/** Ownership of a running server: a lock in it, held by one connection as long as we live. */
import pg from 'pg'

/** Any constant will do; this one spells "chapar". */
const lockKey = 0x636861706172

/** The SQLSTATE class of a server that is starting, stopping or recovering. */
const intervention = '57P'

export interface Claim {
  readonly client: pg.Client
  /** Settles when the connection ends, for any reason. */
  readonly lost: Promise<void>
  release(): Promise<void>
}

/** The server is not taking connections yet, or not any more. */
export class NotListening extends Error {
  override readonly name = 'NotListening'
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'chapar owner',
    connectionTimeoutMillis: 2_000,
    query_timeout: 5_000,
  })
  client.on('error', () => {
    // The connection ends next, and the owner reacts to that.
  })
  try {
    await client.connect()
    return client
  } catch (cause) {
    if (cause instanceof pg.DatabaseError && !cause.code?.startsWith(intervention)) throw cause
    throw new NotListening('PostgreSQL does not accept connections', { cause })
  }
}

/** Undefined when another process owns the server. The lock ends with its holder's connection. */
export async function claimServer(url: string): Promise<Claim | undefined> {
  const client = await connect(url)
  const lost = new Promise<void>((resolve) => client.once('end', () => resolve()))
  try {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as mine', [lockKey])
    if (rows[0]?.mine) return { client, lost, release: () => client.end() }
  } catch (cause) {
    await client.end()
    throw new NotListening('PostgreSQL closed the connection', { cause })
  }
  await client.end()
  return undefined
}
