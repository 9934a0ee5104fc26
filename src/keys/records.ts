/** API keys as the management API shows them, and how they are made, changed and rotated. */

import { type Static, Type } from 'typebox'
import { failed } from '../../actors/errors.ts'
import type { Scope } from '../../machines/api-key-events.ts'
import type { Filter } from '../../machines/update-kinds.ts'
import type { Database } from '../database/database.ts'
import { formatApiKey, hashSecret, newApiKeySecret } from '../security/keys.ts'
import { countPending } from '../updates/pending.ts'

const Time = Type.Union([Type.String(), Type.Null()])

export const ApiKeyRecord = Type.Object({
  api_key_id: Type.Integer(),
  name: Type.String(),
  credential_id: Type.Integer(),
  scopes: Type.Array(Type.String()),
  key_hint: Type.String(),
  receive_mode: Type.Union([Type.Literal('none'), Type.Literal('polling')]),
  webhook: Type.Null(),
  cursor: Type.Integer(),
  pending_update_count: Type.Integer(),
  dropped_update_count: Type.Integer(),
  dropped_at: Time,
  last_used_at: Time,
  created_at: Type.String(),
  expires_at: Time,
  revoked_at: Time,
})

export type ApiKeyRecord = Static<typeof ApiKeyRecord>

interface Row {
  readonly id: number
  readonly name: string
  readonly credential_id: number
  readonly scopes: Scope[]
  readonly key_hint: string
  readonly polled: boolean
  readonly cursor: number
  readonly filter: Filter
  readonly dropped_updates: number
  readonly dropped_at: Date | null
  readonly last_used_at: Date | null
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly next_update_id: number
}

const select = `select k.*, l.next_update_id from api_key k
  join credential_log l on l.credential_id = k.credential_id`

export async function listKeys(
  db: Database,
  userId: number,
  page: { readonly limit: number; readonly before: number | undefined },
): Promise<ApiKeyRecord[]> {
  const rows = await db.query<Row>(
    `${select} where k.user_id = $1 and ($3::bigint is null or k.id < $3)
      order by k.id desc limit $2`,
    [userId, page.limit, page.before ?? null],
  )
  const records: ApiKeyRecord[] = []
  for (const row of rows) records.push(await recordOf(db, row))
  return records
}

export async function findKey(
  db: Database,
  userId: number,
  apiKeyId: number,
): Promise<ApiKeyRecord | undefined> {
  const [row] = await db.query<Row>(`${select} where k.user_id = $1 and k.id = $2`, [
    userId,
    apiKeyId,
  ])
  return row && recordOf(db, row)
}

export interface NewKey {
  readonly userId: number
  readonly credentialId: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly expiresAt: string | undefined
}

/** Resolves with the id and the key itself, which is nowhere to be read again. Updates count from here on. */
export async function createKey(db: Database, key: NewKey): Promise<{ id: number; key: string }> {
  const secret = newApiKeySecret()
  const [row] = await db.query<{ id: number }>(
    `insert into api_key (user_id, credential_id, name, scopes, secret_hash, key_hint, expires_at,
                          cursor)
     select $1, $2, $3, $4, $5, $6, $7, l.next_update_id - 1
       from credential_log l join credential c on c.id = l.credential_id
      where l.credential_id = $2 and c.deactivated_at is null
        for share of c returning id`,
    [
      key.userId,
      key.credentialId,
      key.name,
      [...key.scopes],
      hashSecret(secret),
      hintOf(secret),
      key.expiresAt ?? null,
    ],
  )
  if (!row) throw failed('not_found')
  return { id: row.id, key: formatApiKey({ id: row.id, secret }) }
}

export interface KeyChange {
  readonly name: string | undefined
  readonly scopes: readonly string[] | undefined
  /** Null takes the expiry away. */
  readonly expiresAt: string | null | undefined
}

export async function changeKey(db: Database, apiKeyId: number, change: KeyChange): Promise<void> {
  await db.query(
    `update api_key set name = coalesce($2, name), scopes = coalesce($3, scopes),
            expires_at = case when $4 then $5::timestamptz else expires_at end where id = $1`,
    [
      apiKeyId,
      change.name ?? null,
      change.scopes ? [...change.scopes] : null,
      change.expiresAt !== undefined,
      change.expiresAt ?? null,
    ],
  )
}

/** A new secret; the old one opens the key for `overlapSeconds` more. */
export async function rotateKey(
  db: Database,
  apiKeyId: number,
  overlapSeconds: number,
): Promise<string> {
  const secret = newApiKeySecret()
  await db.query(
    `update api_key
        set old_secret_hash = case when $4 > 0 then secret_hash end,
            old_secret_until = case when $4 > 0 then now() + make_interval(secs => $4) end,
            secret_hash = $2, key_hint = $3 where id = $1`,
    [apiKeyId, hashSecret(secret), hintOf(secret), overlapSeconds],
  )
  return formatApiKey({ id: apiKeyId, secret })
}

/** False when it was revoked before. */
export async function revokeKey(db: Database, apiKeyId: number): Promise<boolean> {
  const rows = await db.query(
    'update api_key set revoked_at = now() where id = $1 and revoked_at is null returning id',
    [apiKeyId],
  )
  return rows.length > 0
}

const hintOf = (secret: string) => `…${secret.slice(-4)}`

async function recordOf(db: Database, row: Row): Promise<ApiKeyRecord> {
  const pending = await countPending(db, {
    credentialId: row.credential_id,
    apiKeyId: row.id,
    cursor: row.cursor,
    filter: row.filter,
    next: row.next_update_id,
  })
  return {
    api_key_id: row.id,
    name: row.name,
    credential_id: row.credential_id,
    scopes: row.scopes,
    key_hint: row.key_hint,
    receive_mode: row.polled ? 'polling' : 'none',
    webhook: null,
    cursor: row.cursor,
    pending_update_count: pending,
    dropped_update_count: row.dropped_updates,
    dropped_at: row.dropped_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }
}
