/** Resends to a webhook: counts the updates beforehand, and shows the progress. */
import { failed } from '../../machines/model/failure.ts'
import type { Filter } from '../../machines/model/update-kinds.ts'
import {
  common,
  openRuns,
  type Progress,
  type Runs,
  without,
} from '../../machines/webhook/progress.ts'
import type { Database } from '../database/database.ts'
import { countWanted } from '../updates/pending.ts'
import type { Resend } from './store.ts'

/** Which updates are to be sent again; `until` and `to` are the last ones. */
export interface ResendChoice {
  readonly from: number | undefined
  readonly to: number | undefined
  readonly since: Date | undefined
  readonly until: Date | undefined
  /** Only those whose newest attempt failed. */
  readonly failed: boolean
}

interface Chosen {
  readonly runs: Runs
  /** There are more failed ones: these are the newest. */
  readonly isCut: boolean
}

interface KeyRow {
  readonly credentialId: number
  readonly userId: number
  readonly cursor: number
  readonly filter: Filter
  readonly next: number
  readonly progress: Progress | null
  readonly resend: Resend | null
}

/** Failed updates in one resend: each may be a run of its own, and all runs are written with every progress. */
const FAILED = 1_000

async function keyRow(db: Database, apiKeyId: number): Promise<KeyRow> {
  const [row] = await db.query<KeyRow>(
    `select k.credential_id as "credentialId", c.user_id as "userId", k.cursor, k.filter,
            l.next_update_id as next, k.webhook_progress as progress, w.resend
       from api_key k join credential c on c.id = k.credential_id
       join credential_log l on l.credential_id = k.credential_id
       left join webhook w on w.api_key_id = k.id
      where k.id = $1`,
    [apiKeyId],
  )
  if (!row) throw failed('not_found')
  return row
}

const countIn = (db: Database, apiKeyId: number, row: KeyRow, runs: Runs) =>
  countWanted(db, { ...row, apiKeyId }, runs)

/** The chosen updates, cut at what the log still has. */
export async function chooseRuns(
  db: Database,
  apiKeyId: number,
  choice: ResendChoice,
): Promise<Chosen> {
  const { credentialId, userId } = await keyRow(db, apiKeyId)
  const { from, to, since, until } = choice
  const [bounds] = await db.query<{ first: number | null; last: number | null }>(
    `select
       (select update_id from update_log where credential_id = $1 and update_id >= $2
          and ($3::timestamptz is null or at >= $3) order by update_id limit 1) as first,
       (select update_id from update_log where credential_id = $1 and update_id <= $4
          and ($5::timestamptz is null or at <= $5) order by update_id desc limit 1) as last`,
    [credentialId, from ?? 0, since ?? null, to ?? Number.MAX_SAFE_INTEGER, until ?? null],
  )
  const { first, last } = bounds ?? {}
  if (first == null || last == null || first > last) return { runs: [], isCut: false }
  if (!choice.failed) return { runs: [[first, last]], isCut: false }
  const found = await db.query<{ update_id: number }>(
    `select d.update_id from webhook_delivery d
      where d.user_id = $1 and d.api_key_id = $2 and d.error is not null
        and d.update_id between $3 and $4
        and not exists (
          select from webhook_delivery s
           where s.user_id = d.user_id and s.update_id = d.update_id and s.api_key_id = d.api_key_id
             and s.error is null and (s.at, s.id) > (d.at, d.id))
      group by d.update_id order by d.update_id desc limit $5`,
    [userId, apiKeyId, first, last, FAILED + 1],
  )
  const ids = found.slice(0, FAILED).map(({ update_id }) => update_id)
  return {
    runs: ids.toReversed().map((id) => [id, id] as const),
    isCut: found.length > FAILED,
  }
}

/** How many updates the key would get by these runs, and how many of them it would have got before. */
export async function countResend(db: Database, apiKeyId: number, runs: Runs) {
  const row = await keyRow(db, apiKeyId)
  const { progress, cursor } = row
  const sent = common(runs, [[1, progress?.head ?? cursor]])
  const [updates, delivered] = await Promise.all([
    countIn(db, apiKeyId, row, runs),
    countIn(db, apiKeyId, row, progress ? without(sent, openRuns(progress)) : sent),
  ])
  return { updates, delivered }
}

interface ResendStanding {
  readonly resend: Resend | undefined
  readonly updates: number
  /** Not delivered yet. */
  readonly remaining: number
  /** Updates that wait apart from the resend. */
  readonly others: number
}

/** How far the last resend has got. */
export async function resendStanding(db: Database, apiKeyId: number): Promise<ResendStanding> {
  const row = await keyRow(db, apiKeyId)
  const { resend, progress } = row
  if (!resend) return { resend: undefined, updates: 0, remaining: 0, others: 0 }
  const open = progress ? openRuns(progress) : []
  const count = (runs: Runs) => countIn(db, apiKeyId, row, runs)
  const [updates, remaining, others] = await Promise.all([
    count(resend.runs),
    count(resend.left ?? common(resend.runs, open)),
    count(without(open, resend.added)),
  ])
  const long = (progress?.long ?? []).reduce((sum, [, , , waiting]) => sum + waiting, 0)
  return { resend, updates, remaining, others: others + long }
}
