/** The updates that wait for a key: their number, by hour too, the time of the oldest, and those that it missed. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { UpdateLog } from '../../actors/ports/ports.ts'
import type { Filter } from '../../machines/model/update-kinds.ts'
import { openRuns, type Progress } from '../../machines/webhook/progress.ts'
import type { Database } from '../database/database.ts'
import { countPending } from '../updates/pending.ts'
import { columnsOf, isOneOf, type Segment, segments } from '../updates/wanted.ts'

/** The updates that wait for a key, and those that it missed. */
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

interface Waiting {
  readonly oldestAt: Date | undefined
  /** Hours in which something came that still waits, oldest first. */
  readonly hours: readonly { readonly at: Date; readonly updates: number }[]
}

interface KeyRow {
  readonly credential_id: number
  readonly cursor: number
  readonly filter: Filter
  readonly next_update_id: number
  readonly webhook_progress: Progress | null
}

interface HourRow {
  readonly at: Date
  readonly oldest: Date
  readonly updates: number
}

export async function waitingByHour(db: Database, apiKeyId: number): Promise<Waiting> {
  const [key] = await db.query<KeyRow>(
    `select k.credential_id, k.cursor, k.filter, k.webhook_progress, l.next_update_id
       from api_key k join credential_log l on l.credential_id = k.credential_id
      where k.id = $1 and k.revoked_at is null`,
    [apiKeyId],
  )
  if (!key) return { oldestAt: undefined, hours: [] }
  const parts = partsOf(key)
  const hours = await db.query<HourRow>(
    `select date_trunc('hour', u.at, 'UTC') as at, min(u.at) as oldest, count(*) as updates
       from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::jsonb[], $7::bigint[])
              as part (start, past, kinds, others, chat)
       join update_log u on u.credential_id = $1 and u.update_id >= part.start
        and u.update_id < part.past and ${isOneOf('u', 'part.kinds', 'part.others')}
        and (part.chat is null or u.chat_id = part.chat)
        and u.api_key_id is distinct from $2
      group by 1 order by 1`,
    [key.credential_id, apiKeyId, ...columnsOf(parts), parts.map(({ chat }) => chat)],
  )
  return { oldestAt: hours[0]?.oldest, hours }
}

interface Part extends Segment {
  /** Of this chat alone; null for all of them. */
  readonly chat: string | null
}

/** A webhook is ahead of its cursor where a chat fails and others go on: of what it read, only the open runs wait. */
function partsOf({ cursor, filter, next_update_id: next, webhook_progress: progress }: KeyRow) {
  const runs = progress ? openRuns(progress) : []
  const head = progress?.head ?? cursor
  const partsIn = (first: number, past: number, chat: string | null = null): Part[] =>
    segments(filter, first, past).map((segment) => ({ ...segment, chat }))
  return [
    ...runs.flatMap(([first, last]) => partsIn(first, last + 1)),
    ...(progress?.long ?? []).flatMap(([lane, from, to]) => partsIn(from, to + 1, chatOf(lane))),
    ...partsIn(head + 1, next),
  ]
}

/** The lane of a chat's messages has its id for a name; other lanes are never long in practice. */
const chatOf = (lane: string) => (/^-?\d+$/.test(lane) ? lane : null)
