/** The updates that wait for a key, and those that it missed. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { UpdateLog } from '../../actors/ports/ports.ts'
import type { Database } from '../database/database.ts'
import { countPending } from '../updates/pending.ts'

export async function pendingUpdates(
  db: Database,
  updates: UpdateLog,
  key: ApiKeyActor,
): Promise<number> {
  const { apiKeyId, credentialId } = key.facts
  const { cursor, filter, webhook } = key.snapshot.context
  const next = updates.next(credentialId)
  const question = { credentialId, apiKeyId, cursor, filter, next }
  const progress = key.delivery?.progress ?? webhook?.progress
  if (!progress || progress.head <= cursor) return countPending(db, question)
  // A webhook is ahead of its cursor where a chat fails and others go on.
  return progress.waiting + (await countPending(db, { ...question, cursor: progress.head }))
}

/** When messages of the key's account were last too many to be caught up with (Unix time in seconds). */
export async function messagesSkipped(db: Database, apiKeyId: number): Promise<number | undefined> {
  const [row] = await db.query<{ at: Date }>(
    `select t.at from api_key k
       join credential_transition t on t.credential_id = k.credential_id and t.at >= k.created_at
      where k.id = $1 and t.event = 'messages.skipped'
      order by t.id desc limit 1`,
    [apiKeyId],
  )
  return row && Math.floor(row.at.getTime() / 1000)
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
