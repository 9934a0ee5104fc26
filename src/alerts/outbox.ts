/** The outbox of alerts: one row for each notification, tried until it is sent or a day is over. */
import type { Queryable } from '../database/database.ts'
import { type Rule, SERVICE } from './rules.ts'

export const CHANNELS = ['webhook', 'chat', 'email'] as const
export type Channel = (typeof CHANNELS)[number]

export const ALERT_EVENTS = ['opened', 'grown', 'resolved', 'test'] as const
type AlertEvent = (typeof ALERT_EVENTS)[number]

export const NOTIFICATION_STATES = ['waiting', 'sent', 'lost'] as const
type NotificationState = (typeof NOTIFICATION_STATES)[number]

/** Why an attempt failed; the detail is the text of the server that refused it. */
export const LOSSES = [
  'not_set',
  'mail_not_set_up',
  'key_gone',
  'webhook_failed',
  'chat_failed',
  'mail_failed',
  'internal',
] as const
export type Loss = (typeof LOSSES)[number]

/** The shortest interval between two notifications of a growing incident. */
const TOLD_AGAIN = '30 minutes'
const TRIED_FOR_MS = 86_400_000
const KEPT_MS = 30 * 86_400_000
/** Longer than any attempt: after this time the node that claimed it has ended. */
const CLAIMED_MS = 90_000
const FIRST_WAIT_MS = 15_000
const LONGEST_WAIT_MS = 3_600_000

export interface Notification {
  readonly id: number
  readonly incident_id: number | null
  readonly channel: Channel
  readonly event: AlertEvent
  readonly affected: number
  readonly state: NotificationState
  readonly attempts: number
  readonly code: Loss | null
  readonly detail: string | null
  readonly created_at: Date
  readonly next_at: Date
  readonly ended_at: Date | null
}

const columns =
  'id, incident_id, channel, event, affected, state, attempts, code, detail, created_at, next_at, ended_at'

/** SQL: the settings `s` belong to a user whom the incident `i` concerns. */
const concerned = (operators: string) =>
  `(s.user_id = i.user_id or i.user_id = ${SERVICE} and s.user_id = any(${operators}::bigint[]))`

/**
 * SQL: what the user of the settings `s` was last told of the incident `i`. Each operator sees another number of an
 * incident of the service, so it is read from their own notifications.
 */
const toldOf = `
  select i.told_at as at, i.told_affected as affected where i.user_id = s.user_id
   union all
  (select n.created_at, n.affected from alert_notification n
    where i.user_id = ${SERVICE} and n.incident_id = i.id and n.user_id = s.user_id
    order by n.id desc limit 1)`

/** SQL: the incident of this user for the same problem as the incident `i` of the service. */
export const ownOf = (user: string) => `
  from incident o
 where i.user_id = ${SERVICE} and ${user} and o.user_id <> ${SERVICE}
   and o.rule = i.rule and o.subject = i.subject and o.resolved_at is null`

/**
 * SQL: how many accounts, keys or nodes the incident `i` concerns, as this user sees it: what is their own has an incident
 * of its own, and does not count twice.
 */
export const affectedFor = (user: string) =>
  `greatest(0, i.affected - coalesce((select sum(o.affected) ${ownOf(user)}), 0))::int`

/** SQL: whether the user of this row is suspended: they are told afterwards of what is still so. */
const isSuspended = (row: string) =>
  `exists (select from app_user u where u.id = ${row}.user_id and u.suspended_at is not null)`

/** Adds notifications for open incidents without one, and for incidents that have grown since the last one. */
export async function tellOfTrouble(
  tx: Queryable,
  now: Date,
  operators: readonly number[],
): Promise<void> {
  await tx.query(
    `with due as (
       select i.id, s.user_id, seen.affected, told.at is null as is_new, s.channels
         from incident i join alert_setting s on ${concerned('$2')}
        cross join lateral (select ${affectedFor('o.user_id = s.user_id')} as affected) seen
         left join lateral (${toldOf}) told on true
        where not ${isSuspended('s')} and i.state = 'open' and seen.affected > 0 and s.channels <> '{}'
          and (told.at is null
               or seen.affected > told.affected and told.at <= $1::timestamptz - interval '${TOLD_AGAIN}')
     ), told as (
       update incident i set told_at = $1, told_affected = i.affected from due where i.id = due.id
     )
     insert into alert_notification (user_id, incident_id, channel, event, affected, created_at, next_at)
     select user_id, id, unnest(channels), case when is_new then 'opened' else 'grown' end, affected, $1, $1
       from due`,
    [now, operators],
  )
}

/** Adds notifications of the end of incidents, for those who were told of their beginning. */
export async function tellOfEnds(
  tx: Queryable,
  incidentIds: readonly number[],
  now: Date,
  operators: readonly number[],
): Promise<void> {
  if (incidentIds.length === 0) return
  await tx.query(
    `insert into alert_notification (user_id, incident_id, channel, event, created_at, next_at)
     select s.user_id, i.id, unnest(s.channels), 'resolved', $2, $2
       from incident i join alert_setting s on ${concerned('$3')}
       join lateral (${toldOf}) told on told.at is not null
      where i.id = any($1)`,
    [incidentIds, now, operators],
  )
}

/** Limits tests, because settings may name the address or the chat of another person. */
const TESTS = 5
const TESTS_WITHIN_MS = 300_000

/** Adds a test of a channel, which is attempted once. Undefined if there were too many tests at all nodes together. */
export async function tellForTest(
  db: Queryable,
  userId: number,
  channel: Channel,
  now: Date,
): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(
    `insert into alert_notification (user_id, channel, event, created_at, next_at)
     select $1, $2, 'test', $3::timestamptz, $3
      where (select count(*) from alert_notification
              where user_id = $1 and event = 'test' and created_at > $4) < ${TESTS}
     returning id`,
    [userId, channel, now, new Date(now.getTime() - TESTS_WITHIN_MS)],
  )
  return row?.id
}

/** A notification with the incident that it tells of. */
export interface Due extends Notification {
  readonly user_id: number
  /** Attempts with the same number may be one message. */
  readonly call: number
  /** The owner of the incident. */
  readonly owner_id: number | null
  readonly rule: Rule | null
  readonly subject: string | null
  readonly opened_at: Date | null
  readonly resolved_at: Date | null
}

/**
 * Claims due notifications for this node. Notifications of one incident and channel keep their order. A notification by
 * chat is left to the node that owns the account.
 */
export function claimDue(
  db: Queryable,
  { now, incarnation, limit }: { now: Date; incarnation: number | null; limit: number },
): Promise<Due[]> {
  return db.query<Due>(
    `with due as (
       select n.id, n.incident_id
         from alert_notification n left join alert_setting s on s.user_id = n.user_id
        where n.state = 'waiting' and n.next_at <= $1 and not ${isSuspended('n')}
          and not exists (
            select from alert_notification b
             where b.incident_id = n.incident_id and b.channel = n.channel and b.id < n.id
               and b.state = 'waiting')
          and (n.channel <> 'chat' or not exists (
            select from api_key k join credential_log l on l.credential_id = k.credential_id
             where k.id = s.api_key_id and l.owner is not null and l.owner is distinct from $2))
        order by n.next_at limit $3
          for update of n skip locked
     )
     update alert_notification n
        set attempts = n.attempts + 1, next_at = $1::timestamptz + interval '${CLAIMED_MS} milliseconds'
       from due left join incident i on i.id = due.incident_id
      where n.id = due.id
     returning ${columns.replaceAll(/\w+/g, 'n.$&')}, n.user_id, n.call, i.user_id as owner_id, i.rule, i.subject, i.opened_at, i.resolved_at`,
    [now, incarnation, limit],
  )
}

export interface FailedAttempt {
  readonly code: Loss
  readonly detail: string | null
  /** Another try would fail too. */
  readonly isFinal: boolean
  /** It may have arrived all the same, so the next try must be recognized as the same. */
  readonly isOpen?: boolean
}

const waitOf = (attempts: number) =>
  Math.min(FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_WAIT_MS)

/** Writes how an attempt ended: sent, to be tried again, or lost. Resolves with the state. */
export async function settleNotification(
  db: Queryable,
  due: Due,
  failure: FailedAttempt | undefined,
  now: Date,
): Promise<NotificationState> {
  const end = due.created_at.getTime() + TRIED_FOR_MS
  const isLost = failure && (failure.isFinal || due.event === 'test' || now.getTime() >= end)
  const state = failure ? (isLost ? 'lost' : 'waiting') : 'sent'
  // The last attempt is made when a day is over.
  const next = new Date(Math.min(now.getTime() + waitOf(due.attempts), end))
  await db.query(
    `update alert_notification
        set state = $2, code = $3, detail = $4, call = call + $8,
            next_at = case when $2 = 'waiting' then $5 else next_at end,
            ended_at = case when $2 <> 'waiting' then $6::timestamptz end
      where id = $1 and state = 'waiting' and ($2 = 'sent' or attempts = $7)`,
    [
      ...[due.id, state, failure?.code ?? null, failure?.detail ?? null, next, now, due.attempts],
      failure && !failure.isOpen ? 1 : 0,
    ],
  )
  return state
}

/** Takes an interrupted attempt back, so that the next node makes it. */
export async function returnNotification(db: Queryable, due: Due, now: Date): Promise<void> {
  await db.query(
    `update alert_notification set attempts = attempts - 1, next_at = $2
      where id = $1 and state = 'waiting' and attempts = $3`,
    [due.id, now, due.attempts],
  )
}

interface Asked {
  readonly state: NotificationState | undefined
  readonly before: number | undefined
  readonly limit: number
}

/** Newest first, below the id `before`. */
export function listNotifications(
  db: Queryable,
  userId: number,
  { state, before, limit }: Asked,
): Promise<Notification[]> {
  return db.query<Notification>(
    `select ${columns} from alert_notification
      where user_id = $1 and ($2::text is null or state = $2) and ($3::bigint is null or id < $3)
      order by id desc limit $4`,
    [userId, state ?? null, before ?? null, limit],
  )
}

export async function findNotification(
  db: Queryable,
  userId: number,
  id: number,
): Promise<Notification | undefined> {
  const [found] = await db.query<Notification>(
    `select ${columns} from alert_notification where id = $1 and user_id = $2`,
    [id, userId],
  )
  return found
}

/** Notifications for a channel that its user has switched off are dropped. */
export async function dropChannels(
  tx: Queryable,
  userId: number,
  kept: readonly Channel[],
): Promise<void> {
  await tx.query(
    `delete from alert_notification
      where user_id = $1 and state = 'waiting' and channel <> all($2::text[])`,
    [userId, kept],
  )
}

/** While an incident of the service lasts, its notifications say who was told of it. */
export async function forgetNotifications(tx: Queryable, now: Date): Promise<void> {
  await tx.query(
    `delete from alert_notification n where ended_at < $1
        and not exists (select from incident i
                         where i.id = n.incident_id and i.user_id = ${SERVICE} and i.resolved_at is null)`,
    [new Date(now.getTime() - KEPT_MS)],
  )
}
