/** API keys in Postgres: what their actors begin with, and their cursors, written at most 100 ms late. */
import type {
  Keeps,
  KeyFacts,
  KeyPosition,
  KeyStore,
  Logger,
  Owned,
  OwnedKey,
} from '../../actors/ports/ports.ts'
import type { Scope } from '../../machines/api-key/events.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Filter } from '../../machines/model/update-kinds.ts'
import type { WebhookFacts } from '../../machines/webhook/terms.ts'
import { type Fenced, fencedRows, ownedRows } from '../credentials/fence.ts'
import type { Database } from '../database/database.ts'
import {
  arrayLiteral,
  Latest,
  type SharedStatements,
  sharedLookup,
  textArray,
} from '../database/write-behind.ts'
import { restrictionOf } from '../security/addresses.ts'
import { type WebhookRow, webhookColumns } from '../webhooks/store.ts'

const CURSOR_LAG_MS = 100
const USE_LAG_MS = 1_000
const LOADS_AT_ONCE = 200

interface Row extends WebhookRow {
  readonly id: number
  readonly user_id: number
  readonly credential_id: number
  readonly epoch: number
  readonly scopes: Scope[]
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly cursor: number
  readonly filter: Filter
  readonly secret_hash: Buffer
  readonly old_secret_hash: Buffer | null
  readonly old_secret_until: Date | null
  readonly keeps_calls: Keeps
  readonly allowed_ips: string[]
}

/** Opens the webhook of a key, of which the row holds a sealed part. */
type WebhookOf = (apiKeyId: number, row: WebhookRow) => Promise<WebhookFacts | undefined>

interface Position {
  readonly cursor: number
  readonly key: OwnedKey
  /** Undefined where the table has it. */
  readonly filter: Filter | undefined
  /** In milliseconds. */
  readonly polledAt: number | undefined
}

type Filtered = Position & { readonly filter: Filter }

const MOST_FLUSHES = 5

export class PostgresKeyStore implements KeyStore {
  readonly #webhookOf: WebhookOf | undefined
  readonly #positions: Latest<number, Position>
  readonly #uses: Latest<number, number>
  readonly #loads: SharedStatements<number, Row | undefined>

  /**
   * `fenced` is called with credentials that another node has claimed, `filtered` with those of keys whose filters were
   * stored.
   */
  constructor(
    db: Database,
    logger: Logger,
    webhookOf?: WebhookOf,
    fenced: Fenced = () => undefined,
    filtered: (credentialId: number) => void = () => undefined,
  ) {
    this.#webhookOf = webhookOf
    this.#positions = new Latest<number, Position>({
      everyMs: CURSOR_LAG_MS,
      write: async (positions) => {
        const lost = await writePositions(db, positions)
        if (lost.length > 0) fenced(lost)
        for (const [, { key, filter }] of positions) if (filter) filtered(key.credentialId)
      },
      rows: 'cursors',
      logger,
    })
    this.#uses = new Latest<number, number>({
      everyMs: USE_LAG_MS,
      write: (uses) => writeUses(db, uses),
      rows: 'uses of keys',
      logger,
    })
    // After a start, all bots reconnect at the same time.
    this.#loads = sharedLookup(
      LOADS_AT_ONCE,
      (ids) => keyRows(db, ids),
      ({ id }) => id,
    )
  }

  async load(apiKeyId: number): Promise<KeyFacts | undefined> {
    // A position that is written during the read would be missing both in the row and in the buffer.
    const before = this.#positions.get(apiKeyId)
    const row = await this.#loads.run(apiKeyId)
    if (!row) return undefined
    const { cursor, filter } = this.#newest(apiKeyId, before, row)
    const webhook = await this.#webhookOf?.(apiKeyId, row)
    return {
      apiKeyId: row.id,
      userId: row.user_id,
      credentialId: row.credential_id,
      epoch: row.epoch,
      terms: { scopes: sharedScopes(row.scopes), expiresAt: row.expires_at?.getTime() },
      revoked: row.revoked_at !== null,
      keepsCalls: row.keeps_calls,
      opensFrom: restrictionOf(row.allowed_ips),
      // A webhook's acknowledgements go to the table by themselves.
      cursor: webhook ? Math.max(cursor, row.cursor) : cursor,
      filter,
      webhook,
      secrets: [
        { hash: row.secret_hash.toString('base64'), until: undefined },
        ...(row.old_secret_hash && row.old_secret_until
          ? [
              {
                hash: row.old_secret_hash.toString('base64'),
                until: row.old_secret_until.getTime(),
              },
            ]
          : []),
      ],
    }
  }

  saveCursor(key: OwnedKey, { cursor, changedFilter, polledAt }: KeyPosition): void {
    const { apiKeyId } = key
    const unwritten = this.#positions.get(apiKeyId)
    const earlier = unwritten?.key.epoch === key.epoch ? unwritten.filter : undefined
    const filter = changedFilter ?? earlier
    this.#positions.set(apiKeyId, { cursor, key, filter, polledAt })
    // Other kinds of updates may have to be asked for: what happens before that is missed.
    if (changedFilter !== undefined) void this.#positions.flush()
  }

  async stored(apiKeyId: number): Promise<void> {
    // Another position of the key may take its place meanwhile, whether it was written or not.
    for (let flushes = 0; flushes < MOST_FLUSHES; flushes++) {
      const unwritten = this.#positions.get(apiKeyId)
      if (!unwritten) return
      await this.#positions.flush()
      if (this.#positions.get(apiKeyId) === unwritten) break
    }
    if (!this.#positions.get(apiKeyId)) return
    const description = 'the database does not answer'
    throw failed('unavailable', description, { reason: 'database_away', retryAfterSeconds: 1 })
  }

  /** A position from before the last claim still counts, but the table's filter is newer. */
  #newest(apiKeyId: number, before: Position | undefined, row: Row) {
    const noted = this.#positions.get(apiKeyId) ?? before
    if (!noted) return row
    if (noted.key.epoch !== row.epoch) {
      return { cursor: Math.max(noted.cursor, row.cursor), filter: row.filter }
    }
    return { cursor: noted.cursor, filter: noted.filter ?? before?.filter ?? row.filter }
  }

  noteUse(apiKeyId: number): void {
    this.#uses.set(apiKeyId, Date.now())
  }

  async flush(): Promise<void> {
    await Promise.all([this.#positions.flush(), this.#uses.flush()])
  }
}

const keyRows = (db: Database, ids: readonly number[]) =>
  db.query<Row>(
    {
      name: 'key-load',
      text: `select k.id, k.user_id, k.credential_id, c.epoch, k.scopes, k.expires_at, k.revoked_at,
                    k.cursor, k.filter, k.secret_hash, k.old_secret_hash, k.old_secret_until,
                    k.keeps_calls, k.allowed_ips,
                    ${webhookColumns}
               from api_key k join credential c on c.id = k.credential_id
               left join webhook w on w.api_key_id = k.id where k.id = any($1::bigint[])`,
    },
    [ids],
  )

/** There are a few scopes, and so a few lists of them; most keys have the same. */
const scopeLists = new Map<string, Scope[]>()

function sharedScopes(scopes: readonly Scope[]): Scope[] {
  const name = scopes.join(' ')
  const known = scopeLists.get(name) ?? [...scopes]
  scopeLists.set(name, known)
  return known
}

/** Rows are always locked in the order of their ids: two writers of the same rows wait instead of blocking each other. */
const lockKeys = 'select id from api_key where id = any($1) order by id for update'

async function writePositions(
  db: Database,
  positions: readonly (readonly [apiKeyId: number, position: Position])[],
): Promise<Owned[]> {
  await db.query(
    {
      name: 'key-cursors',
      text: `with locked as (${lockKeys})
             update api_key k
                set cursor = greatest(k.cursor, p.cursor),
                    polled_at = greatest(k.polled_at, to_timestamp(p.polled_at / 1000))
               from unnest($1::bigint[], $2::bigint[], $3::float8[]) as p (id, cursor, polled_at)
              where k.id = p.id and exists (select from locked where locked.id = k.id)`,
    },
    [
      arrayLiteral(positions.map(([id]) => id)),
      arrayLiteral(positions.map(([, { cursor }]) => cursor)),
      arrayLiteral(positions.map(([, { polledAt }]) => polledAt ?? null)),
    ],
  )
  const filtered = positions.map(([, position]) => position).filter(hasFilter)
  return filtered.length === 0 ? [] : writeFilters(db, filtered)
}

const hasFilter = (position: Position): position is Filtered => position.filter !== undefined

/** A cursor only grows, so any owner may write it; the filter of an earlier owner would undo that of the next one. */
async function writeFilters(db: Database, positions: readonly Filtered[]): Promise<Owned[]> {
  return db.query<Owned>(
    {
      name: 'key-filters',
      text: `with ${ownedRows('$2', '$3', 'share')}, locked as (
               select id from api_key
                where id = any($1) and credential_id in (select id from owned)
                order by id for update
             ), filtered as (
               update api_key k set filter = p.filter::jsonb
                 from unnest($1::bigint[], $4::text[]) as p (id, filter)
                where k.id = p.id and exists (select from locked where locked.id = k.id))
             ${fencedRows('$2', '$3')}`,
    },
    [
      arrayLiteral(positions.map(({ key }) => key.apiKeyId)),
      arrayLiteral(positions.map(({ key }) => key.credentialId)),
      arrayLiteral(positions.map(({ key }) => key.epoch)),
      textArray(positions.map(({ filter }) => JSON.stringify(filter))),
    ],
  )
}

async function writeUses(
  db: Database,
  uses: readonly (readonly [apiKeyId: number, at: number])[],
): Promise<void> {
  await db.query(
    {
      name: 'key-uses',
      text: `with locked as (${lockKeys})
             update api_key k set last_used_at = to_timestamp(u.at / 1000)
               from unnest($1::bigint[], $2::float8[]) as u (id, at)
              where k.id = u.id and exists (select from locked where locked.id = k.id)`,
    },
    [arrayLiteral(uses.map(([id]) => id)), arrayLiteral(uses.map(([, at]) => at))],
  )
}
