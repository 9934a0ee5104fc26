/** What waits for a key, and what it will never get. */
import type { ApiKeyActor } from '../../actors/api-key.ts'
import type { UpdateLog } from '../../actors/ports.ts'
import type { Database } from '../database/database.ts'
import { countPending } from '../updates/pending.ts'

export function pendingUpdates(db: Database, log: UpdateLog, key: ApiKeyActor): Promise<number> {
  const { apiKeyId, credentialId } = key.facts
  const { cursor, filter } = key.snapshot.context
  return countPending(db, { credentialId, apiKeyId, cursor, filter, next: log.next(credentialId) })
}

/** Updates that retention took unread, and when (Unix time in seconds). */
export async function droppedUpdates(
  db: Database,
  apiKeyId: number,
): Promise<{ updates: number; at: number } | undefined> {
  const [row] = await db.query<{ dropped_updates: number; dropped_at: Date | null }>(
    'select dropped_updates, dropped_at from api_key where id = $1',
    [apiKeyId],
  )
  if (!row?.dropped_at) return undefined
  return { updates: row.dropped_updates, at: Math.floor(row.dropped_at.getTime() / 1000) }
}
