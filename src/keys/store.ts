/** API keys in Postgres: what their actors begin with, and their cursors, written at most 100 ms late. */
import type { KeyFacts, KeyStore } from '../../actors/ports.ts'
import type { Scope } from '../../machines/api-key-events.ts'
import type { Filter } from '../../machines/update-kinds.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'

const CURSOR_LAG_MS = 100

interface Row {
  readonly id: number
  readonly user_id: number
  readonly credential_id: number
  readonly scopes: Scope[]
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly cursor: number
  readonly filter: Filter
  readonly secret_hash: Buffer
  readonly old_secret_hash: Buffer | null
  readonly old_secret_until: Date | null
}

interface Position {
  readonly cursor: number
  readonly filter: Filter
}

export class PostgresKeyStore implements KeyStore {
  readonly #db: Database
  readonly #log: Log
  #positions = new Map<number, Position>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(db: Database, log: Log) {
    this.#db = db
    this.#log = log
  }

  async load(apiKeyId: number): Promise<KeyFacts | undefined> {
    // A position that is written while the row is read is in neither of them afterwards.
    const before = this.#positions.get(apiKeyId)
    const [row] = await this.#db.query<Row>(
      {
        name: 'key-load',
        text: `select id, user_id, credential_id, scopes, expires_at, revoked_at, cursor, filter,
                      secret_hash, old_secret_hash, old_secret_until
                 from api_key where id = $1`,
      },
      [apiKeyId],
    )
    if (!row) return undefined
    const { cursor, filter } = this.#positions.get(apiKeyId) ?? before ?? row
    return {
      apiKeyId: row.id,
      userId: row.user_id,
      credentialId: row.credential_id,
      terms: { scopes: row.scopes, expiresAt: row.expires_at?.getTime() },
      revoked: row.revoked_at !== null,
      cursor,
      filter,
      secrets: [
        { hash: row.secret_hash, until: undefined },
        ...(row.old_secret_hash && row.old_secret_until
          ? [{ hash: row.old_secret_hash, until: row.old_secret_until.getTime() }]
          : []),
      ],
    }
  }

  saveCursor(apiKeyId: number, cursor: number, filter: Filter): void {
    this.#positions.set(apiKeyId, { cursor, filter })
    this.#timer ??= setTimeout(() => void this.flush(), CURSOR_LAG_MS)
  }

  async flushCursor(apiKeyId: number): Promise<void> {
    if (this.#positions.has(apiKeyId)) await this.flush()
    else await this.#writing
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const positions = [...this.#positions]
    if (positions.length === 0) return
    try {
      await this.#db.query(
        {
          name: 'key-cursors',
          text: `update api_key k
                    set cursor = greatest(k.cursor, p.cursor), filter = p.filter::jsonb,
                        polled = true, last_used_at = now()
                   from unnest($1::bigint[], $2::bigint[], $3::text[]) as p (id, cursor, filter)
                  where k.id = p.id`,
        },
        [
          positions.map(([id]) => id),
          positions.map(([, { cursor }]) => cursor),
          positions.map(([, { filter }]) => JSON.stringify(filter)),
        ],
      )
      for (const [id, position] of positions) {
        if (this.#positions.get(id) === position) this.#positions.delete(id)
      }
    } catch (err) {
      this.#log.warn({ err, keys: positions.length }, 'cursors could not be written')
      this.#timer ??= setTimeout(() => void this.flush(), 1_000)
    }
  }
}
