/** The updates that wait for a key: their number by hour, and the time of the oldest. */
import type { Filter } from '../../machines/model/update-kinds.ts'
import { openRuns, type Progress } from '../../machines/webhook/progress.ts'
import type { Database } from '../database/database.ts'
import { segments } from '../updates/segments.ts'

export interface Waiting {
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
       from unnest($3::bigint[], $4::bigint[], $5::int[]) as part (start, past, kinds)
       join update_log u on u.credential_id = $1 and u.update_id >= part.start
        and u.update_id < part.past and (1 << u.kind) & part.kinds <> 0
        and u.api_key_id is distinct from $2
      group by 1 order by 1`,
    [
      key.credential_id,
      apiKeyId,
      parts.map(({ from }) => from),
      parts.map(({ until }) => until),
      parts.map(({ kinds }) => kinds),
    ],
  )
  return { oldestAt: hours[0]?.oldest, hours }
}

/** A webhook is ahead of its cursor where a chat fails and others go on: of what it read, only the open runs wait. */
function partsOf({ cursor, filter, next_update_id: next, webhook_progress: progress }: KeyRow) {
  const runs = progress ? openRuns(progress) : []
  const head = progress?.head ?? cursor
  return [
    ...runs.flatMap(([first, last]) => segments(filter, first, last + 1)),
    ...segments(filter, head + 1, next),
  ]
}
