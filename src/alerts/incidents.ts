/** Incidents in Postgres: one for all accounts of a user that are out for the same reason. */

import {
  type IncidentEvent,
  type IncidentState,
  nextState,
  QUIET_MS,
} from '../../machines/incident/machine.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Database, Queryable } from '../database/database.ts'

/** An account that is out for less than this makes no incident: networks fail for moments all day. */
const ACCOUNT_OUT_MS = 5 * 60_000
const KEPT_MS = 90 * 86_400_000

export interface Incident {
  readonly id: number
  readonly rule: string
  /** The code of the reason, or the state of accounts that are out without one. */
  readonly subject: string
  readonly state: IncidentState
  /** How many accounts are out now. */
  readonly affected: number
  readonly opened_at: Date
  readonly silenced_until: Date | null
  readonly resolved_at: Date | null
}

const columns = 'id, rule, subject, state, affected, opened_at, silenced_until, resolved_at'

/** Opens, renews and resolves the incidents of all users as of `now`. */
export async function evaluateIncidents(db: Database, now: Date): Promise<void> {
  const before = (ms: number) => new Date(now.getTime() - ms)
  await db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(7600)')
    await renew(tx, now, before(ACCOUNT_OUT_MS))
    await advance(tx, now, before(QUIET_MS))
    await tx.query('delete from incident where resolved_at < $1', [before(KEPT_MS)])
  })
}

/** Writes who is out; an incident whose cause is away keeps the time since when. */
async function renew(tx: Queryable, now: Date, outSince: Date): Promise<void> {
  await tx.query(
    `with found as (
       select user_id, coalesce(reason, state) as subject, count(*)::int as affected
         from credential
        where troubled_since <= $2 and deleting_at is null and deactivated_at is null
        group by 1, 2
     ), absent as (
       update incident i set affected = 0, absent_since = $1
        where resolved_at is null and absent_since is null and not exists (
          select from found f where f.user_id = i.user_id and f.subject = i.subject)
     )
     insert into incident (user_id, rule, subject, state, affected, opened_at)
     select user_id, 'account_out', subject, 'open', affected, $1 from found
     on conflict (user_id, rule, subject) where resolved_at is null
     do update set affected = excluded.affected, absent_since = null
     where incident.affected <> excluded.affected or incident.absent_since is not null`,
    [now, outSince],
  )
}

/** Resolves what has stayed away, and reopens what was silenced until now. */
async function advance(tx: Queryable, now: Date, awaySince: Date): Promise<void> {
  const due = await tx.query<{ id: number; state: IncidentState; away: boolean }>(
    `select id, state, coalesce(absent_since <= $2, false) as away from incident
      where resolved_at is null
        and (absent_since <= $2 or state = 'silenced' and silenced_until <= $1)
      order by id for update`,
    [now, awaySince],
  )
  for (const { id, state, away } of due) {
    const next = nextState(state, { type: away ? 'cause.gone' : 'silence.ended' })
    await tx.query(
      `update incident set state = $2, silenced_until = null,
              resolved_at = case when $2 = 'resolved' then $3::timestamptz end
        where id = $1`,
      [id, next, now],
    )
  }
}

/** Newest first, below the id `before`. */
export function listIncidents(
  db: Queryable,
  userId: number,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<Incident[]> {
  return db.query<Incident>(
    `select ${columns} from incident
      where user_id = $1 and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [userId, before ?? null, limit],
  )
}

/** Rejects with `not_found`, also for an incident of another user, and with `conflict` once it is resolved. */
export function changeIncident(
  db: Database,
  { userId, id }: { readonly userId: number; readonly id: number },
  event: IncidentEvent,
  silencedUntil: Date | null = null,
): Promise<Incident> {
  return db.transaction(async (tx) => {
    const [found] = await tx.query<Pick<Incident, 'state'>>(
      'select state from incident where id = $1 and user_id = $2 for update',
      [id, userId],
    )
    if (!found) throw failed('not_found')
    if (found.state === 'resolved') throw failed('conflict', 'the incident is resolved')
    const [changed] = await tx.query<Incident>(
      `update incident set state = $2, silenced_until = $3 where id = $1 returning ${columns}`,
      [id, nextState(found.state, event), silencedUntil],
    )
    if (!changed) throw failed('not_found')
    return changed
  })
}
