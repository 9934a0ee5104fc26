/** API keys as the management API shows them. */

import type { Scope } from '../../machines/api-key/events.ts'
import type { Filter } from '../../machines/model/update-kinds.ts'
import type { Progress } from '../../machines/webhook/progress.ts'
import type { Database } from '../database/database.ts'
import type { ApiKeyRecord } from '../records/api-key.ts'
import { countPending } from '../updates/pending.ts'
import { type WebhookColumns, webhookObject, webhookRecord } from '../webhooks/record.ts'

/** The part of the record that is in the table. */
export type StoredApiKey = Omit<ApiKeyRecord, 'state'>

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
  readonly webhook_progress: Progress | null
  readonly webhook: WebhookColumns | null
}

const select = `select k.*, l.next_update_id, ${webhookObject} as webhook from api_key k
  join credential_log l on l.credential_id = k.credential_id
  left join webhook w on w.api_key_id = k.id and w.sealed is not null`

export async function listKeys(
  db: Database,
  userId: number,
  page: { readonly limit: number; readonly before: number | undefined },
): Promise<StoredApiKey[]> {
  const rows = await db.query<Row>(
    `${select} where k.user_id = $1 and ($3::bigint is null or k.id < $3)
      order by k.id desc limit $2`,
    [userId, page.limit, page.before ?? null],
  )
  const records: StoredApiKey[] = []
  for (const row of rows) records.push(await recordOf(db, row))
  return records
}

export async function findKey(
  db: Database,
  userId: number,
  apiKeyId: number,
): Promise<StoredApiKey | undefined> {
  const [row] = await db.query<Row>(`${select} where k.user_id = $1 and k.id = $2`, [
    userId,
    apiKeyId,
  ])
  return row && recordOf(db, row)
}

async function recordOf(db: Database, row: Row): Promise<StoredApiKey> {
  // A revoked key has no backlog and no deliveries.
  const isRevoked = row.revoked_at !== null
  const pending = isRevoked ? 0 : await pendingOf(db, row)
  const webhook = isRevoked ? null : row.webhook
  return {
    api_key_id: row.id,
    name: row.name,
    credential_id: row.credential_id,
    scopes: row.scopes,
    key_hint: row.key_hint,
    receive_mode: webhook ? 'webhook' : row.polled && !isRevoked ? 'polling' : 'none',
    webhook: webhook && webhookRecord(webhook, pending, row.filter),
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

async function pendingOf(db: Database, row: Row): Promise<number> {
  const { waiting, head } = row.webhook_progress ?? { waiting: 0, head: row.cursor }
  const unread = await countPending(db, {
    credentialId: row.credential_id,
    apiKeyId: row.id,
    cursor: head,
    filter: row.filter,
    next: row.next_update_id,
  })
  return waiting + unread
}
