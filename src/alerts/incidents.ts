/** Incidents in Postgres: one for all accounts of a user that went out for the same reason. */

import {
  type IncidentEvent,
  type IncidentState,
  nextState,
  QUIET_MS,
} from '../../machines/incident/machine.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Database, Queryable } from '../database/database.ts'
import { forgetNotifications, tellOfEnds, tellOfTrouble } from './outbox.ts'
import { USUAL_MINUTES } from './settings.ts'

const KEPT_MS = 90 * 86_400_000

export interface Incident {
  readonly id: number
  readonly rule: string
  /** The code of the reason for which its accounts went out, or their state where there was none. */
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
    await leave(tx, now, before(QUIET_MS))
    await join(tx, now)
    await count(tx, now)
    const resolved = await advance(tx, now, before(QUIET_MS))
    await tellOfTrouble(tx, now)
    await tellOfEnds(tx, resolved, now)
    await tx.query('delete from incident where resolved_at < $1', [before(KEPT_MS)])
    await forgetNotifications(tx, now)
  })
}

/** An account that works is no part of an incident any more, once it has worked for a while: it may be out again at once. */
async function leave(tx: Queryable, now: Date, quietSince: Date): Promise<void> {
  await tx.query(
    `update incident_account m set left_at = case when o.out then null else $1::timestamptz end
       from (select a.credential_id, c.id is not null as out
               from incident_account a left join credential c on c.id = a.credential_id
                and c.troubled_since is not null and c.deleting_at is null
                and c.deactivated_at is null) o
      where o.credential_id = m.credential_id and o.out = (m.left_at is not null)`,
    [now],
  )
  await tx.query('delete from incident_account where left_at <= $1', [quietSince])
}

/** An account stays in the incident that it came to, whatever its reason becomes: one fault has many faces. */
async function join(tx: Queryable, now: Date): Promise<void> {
  await tx.query(
    `with troubled as (
       select c.id, c.user_id, coalesce(c.reason, c.state) as subject
         from credential c left join alert_setting s on s.user_id = c.user_id
        where c.troubled_since <= $1::timestamptz - interval '1 minute'
          and c.troubled_since <= $1::timestamptz - make_interval(mins => coalesce(s.minutes, $2))
          and c.deleting_at is null and c.deactivated_at is null
          and not exists (select from incident_account m where m.credential_id = c.id)
     ), joined as (
       insert into incident (user_id, rule, subject, state, affected, opened_at)
       select distinct user_id, 'account_out', subject, 'open', 0, $1::timestamptz from troubled
       on conflict (user_id, rule, subject) where resolved_at is null
       do update set affected = incident.affected
       returning id, user_id, subject
     )
     insert into incident_account (credential_id, incident_id)
     select t.id, j.id from troubled t join joined j using (user_id, subject)`,
    [now, USUAL_MINUTES],
  )
}

/** An incident whose accounts all work keeps the time since when. */
async function count(tx: Queryable, now: Date): Promise<void> {
  await tx.query(
    `update incident i
        set affected = n.present,
            absent_since = case when n.present = 0 then coalesce(i.absent_since, $1) end
       from (select i.id, count(m.credential_id) filter (where m.left_at is null)::int as present
               from incident i left join incident_account m on m.incident_id = i.id
              where i.resolved_at is null group by i.id) n
      where i.id = n.id
        and (i.affected <> n.present or (n.present = 0) <> (i.absent_since is not null))`,
    [now],
  )
}

/** Resolves what has stayed away, and reopens what was silenced until now. Returns the resolved ones that are to be told. */
async function advance(tx: Queryable, now: Date, awaySince: Date): Promise<number[]> {
  const due = await tx.query<{ id: number; state: IncidentState; away: boolean }>(
    `select id, state, coalesce(absent_since <= $2, false) as away from incident
      where resolved_at is null
        and (absent_since <= $2 or state = 'silenced' and silenced_until <= $1)
      order by id for update`,
    [now, awaySince],
  )
  const resolved: number[] = []
  for (const { id, state, away } of due) {
    const next = nextState(state, { type: away ? 'cause.gone' : 'silence.ended' })
    await tx.query(
      `update incident set state = $2, silenced_until = null,
              resolved_at = case when $2 = 'resolved' then $3::timestamptz end
        where id = $1`,
      [id, next, now],
    )
    if (next === 'resolved' && state !== 'silenced') resolved.push(id)
  }
  return resolved
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
