/** Incidents in Postgres: one for all accounts of a user that went out for the same reason. */

import type { Logger } from '../../actors/ports/ports.ts'
import {
  type IncidentEvent,
  type IncidentState,
  nextState,
  QUIET_MS,
} from '../../machines/incident/machine.ts'
import { failed } from '../../machines/model/failure.ts'
import { noteChange } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'
import { affectedFor, forgetNotifications, ownOf, tellOfEnds, tellOfTrouble } from './outbox.ts'
import { BY_ACCOUNT, type Judged, judge, OF_NODES, type Rule, SERVICE } from './rules.ts'
import { USUAL_MINUTES } from './settings.ts'

const KEPT_MS = 90 * 86_400_000

export interface Incident {
  readonly id: number
  readonly user_id: number
  readonly rule: Rule
  /** The code of the reason for which its accounts went out, or their state where there was none; a node; or the rule. */
  readonly subject: string
  readonly state: IncidentState
  /** How many accounts, keys or nodes it concerns now. */
  readonly affected: number
  readonly opened_at: Date
  readonly silenced_until: Date | null
  readonly resolved_at: Date | null
}

/** SQL: the incident `i` as these owners see it. */
const columnsFor = (owners: string) =>
  `i.id, i.user_id, i.rule, i.subject, i.state, ${affectedFor(`o.user_id = any(${owners})`)} as affected,
   i.opened_at, i.silenced_until, i.resolved_at`

/**
 * SQL: the incident `i` is theirs, or the service's with more than what their own incident holds or held, or they were told
 * of it.
 */
const seenBy = (owners: string) =>
  `i.user_id = any(${owners})
   and (coalesce(i.sole_user_id <> all(${owners}), true)
        and not exists (select ${ownOf(`o.user_id = any(${owners})`)} and o.affected >= i.affected)
        or exists (select from alert_notification n where n.incident_id = i.id and n.user_id = any(${owners})))`

interface Judging {
  readonly now: Date
  /** The users who see to the service itself. */
  readonly operators: readonly number[]
  readonly logger: Logger
}

/** Opens, renews and resolves the incidents of all users and of the service as of `now`. */
export async function evaluateIncidents(
  db: Database,
  { now, operators, logger }: Judging,
): Promise<void> {
  const before = (ms: number) => new Date(now.getTime() - ms)
  const judged = await judge(db, now, logger)
  await db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(7600)')
    await leave(tx, now, before(QUIET_MS))
    await join(tx, now)
    await renew(tx, now, judged, operators)
    const resolved = await advance(tx, now, before(QUIET_MS))
    await tellOfTrouble(tx, now, operators)
    await tellOfEnds(tx, resolved, now, operators)
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

/** An account stays in its first incident even if its reason changes, because one fault may show several reasons. */
async function join(tx: Queryable, now: Date): Promise<void> {
  await tx.query(
    `with troubled as (
       select c.id, c.user_id, coalesce(c.reason, c.state) as subject,
              case when c.machine_state like 'live.deaf%' then 'account_deaf' else 'account_out' end as rule
         from credential c left join alert_setting s on s.user_id = c.user_id
        where c.troubled_since <= $1::timestamptz - interval '1 minute'
          and c.troubled_since <= $1::timestamptz - make_interval(mins => coalesce(s.minutes, $2))
          and c.deleting_at is null and c.deactivated_at is null
          and not exists (select from incident_account m where m.credential_id = c.id)
     ), joined as (
       insert into incident (user_id, rule, subject, state, affected, opened_at)
       select distinct user_id, rule, subject, 'open', 0, $1::timestamptz from troubled
       on conflict (user_id, rule, subject) where resolved_at is null
       do update set affected = incident.affected
       returning id, user_id, rule, subject
     )
     insert into incident_account (credential_id, incident_id)
     select t.id, j.id from troubled t join joined j using (user_id, rule, subject)`,
    [now, USUAL_MINUTES],
  )
}

/**
 * Writes how many accounts are affected, and since when the cause has been away. The incidents of the service hold the
 * sums of all users; they exist only if there is an operator who is not the only user concerned.
 */
async function renew(
  tx: Queryable,
  now: Date,
  { found, rules }: Judged,
  operators: readonly number[],
): Promise<void> {
  await tx.query(
    `with own as (
       select i.user_id, i.rule, i.subject, count(*)::int as affected
         from incident_account m join incident i on i.id = m.incident_id
        where m.left_at is null and i.resolved_at is null group by 1, 2, 3
       union all
       select * from unnest($3::bigint[], $4::text[], $5::text[], $6::int[])
     ), found as (
       select *, null::bigint as sole_user_id from own
        where user_id <> ${SERVICE} or cardinality($7::bigint[]) > 0
       union all
       select ${SERVICE}, rule, subject, sum(affected)::int,
              case when count(distinct user_id) = 1 then min(user_id) end
         from own
        where user_id <> ${SERVICE} group by rule, subject
       having bool_or(exists (select from unnest($7::bigint[]) as o (id) where o.id <> user_id))
     ), absent as (
       update incident i set affected = 0, absent_since = $1
        where resolved_at is null and absent_since is null and rule = any($2) and not exists (
          select from found f
           where f.user_id = i.user_id and f.rule = i.rule and f.subject = i.subject)
     )
     insert into incident (user_id, rule, subject, state, affected, opened_at, sole_user_id)
     select user_id, rule, subject, 'open', affected, $1, sole_user_id from found
     on conflict (user_id, rule, subject) where resolved_at is null
     do update set affected = excluded.affected, absent_since = null,
                   sole_user_id = case when incident.sole_user_id = excluded.sole_user_id
                                       then excluded.sole_user_id end
     where incident.affected <> excluded.affected or incident.absent_since is not null
        or incident.sole_user_id is not null and incident.sole_user_id is distinct from excluded.sole_user_id`,
    [
      now,
      [...rules, ...BY_ACCOUNT],
      found.map(({ user_id }) => user_id),
      found.map(({ rule }) => rule),
      found.map(({ subject }) => subject),
      found.map(({ affected }) => affected),
      operators,
    ],
  )
}

/**
 * Resolves incidents whose cause stayed away, and reopens those whose silence has ended. Returns the resolved incidents
 * to notify of.
 */
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

interface ListedIncidents {
  /** Only resolved ones, or only those that are not. */
  readonly isResolved?: boolean | undefined
  readonly before: number | undefined
  readonly limit: number
}

/** Incidents of the owners, newest first, with an id below `before`. */
export function listIncidents(
  db: Queryable,
  owners: readonly number[],
  { isResolved, before, limit }: ListedIncidents,
): Promise<Incident[]> {
  return db.query<Incident>(
    `select ${columnsFor('$1')} from incident i
      where ${seenBy('$1')} and ($2::bigint is null or i.id < $2)
        and ($4::boolean is null or (i.state = 'resolved') = $4)
      order by i.id desc limit $3`,
    [owners, before ?? null, limit, isResolved ?? null],
  )
}

interface IncidentCounts {
  readonly open: number
  /** How many accounts and keys of the owners themselves, and nodes, they concern, by rule. */
  readonly by_rule: Partial<Record<Rule, number>>
}

/** Counts the incidents of the owners that are not resolved. */
export async function countIncidents(
  db: Queryable,
  owners: readonly number[],
): Promise<IncidentCounts> {
  const rows = await db.query<{ rule: Rule; count: number; affected: number | null }>(
    `select i.rule, count(*)::int as count,
            sum(i.affected) filter (where i.user_id <> ${SERVICE} or i.rule = any($2))::int as affected
       from incident i where ${seenBy('$1')} and i.state <> 'resolved' group by i.rule`,
    [owners, OF_NODES],
  )
  return {
    open: rows.reduce((sum, { count }) => sum + count, 0),
    by_rule: Object.fromEntries(
      rows.flatMap(({ rule, affected }) => (affected === null ? [] : [[rule, affected]])),
    ),
  }
}

/** Rejects with `not_found`, also for an incident of another user, and with `conflict` once it is resolved. */
export function changeIncident(
  db: Database,
  { owners, id }: { readonly owners: readonly number[]; readonly id: number },
  event: IncidentEvent,
  silencedUntil: Date | null = null,
): Promise<Incident> {
  return db.transaction(async (tx) => {
    const [found] = await tx.query<Pick<Incident, 'state'>>(
      'select state from incident where id = $1 and user_id = any($2) for update',
      [id, owners],
    )
    if (!found) throw failed('not_found')
    if (found.state === 'resolved') throw failed('conflict', 'the incident is resolved')
    const [changed] = await tx.query<Incident>(
      `update incident i set state = $2, silenced_until = $3 where i.id = $1
       returning ${columnsFor('$4')}`,
      [id, nextState(found.state, event), silencedUntil, owners],
    )
    if (!changed) throw failed('not_found')
    await noteChange(tx, { before: { state: found.state }, after: { state: changed.state } })
    return changed
  })
}
