/** Rules for incidents other than accounts that are out. Each rule finds the users and how many of their accounts, keys or nodes are affected. */
import type { Logger } from '../../actors/ports/ports.ts'
import type { Database, Queryable } from '../database/database.ts'
import { wantedBy } from '../updates/wanted.ts'

/** In the order in which the panel lists them. */
export const RULES = [
  'account_out',
  'account_deaf',
  'reconnect_loop',
  'webhook_failing',
  'backlog_old',
  'updates_cut',
  'node_lost',
  'disk_full',
] as const
export type Rule = (typeof RULES)[number]

/** The rules whose incidents hold accounts. */
export const BY_ACCOUNT: readonly Rule[] = ['account_out', 'account_deaf']

/** The rules about nodes; only the service itself has incidents of them. */
export const OF_NODES: readonly Rule[] = ['node_lost', 'disk_full']

/** A bot that is behind for less makes no incident. */
export const USUAL_BACKLOG_MINUTES = 15

/** Incidents of the service itself belong to no user; operators see them. */
export const SERVICE = 0

interface Found {
  readonly user_id: number
  readonly rule: Rule
  readonly subject: string
  readonly affected: number
}

/** SQL: whether the key `k` may receive at this time; nothing is delivered to one that may not. */
export const mayReceiveAt = (now: string) => `k.revoked_at is null
  and coalesce(k.expires_at > ${now}, true) and 'bot:receive' = any(k.scopes)`

const ofReceiving = (now: string) =>
  `${mayReceiveAt(now)} and c.deleting_at is null and c.deactivated_at is null`

/** Unread updates in which one that a key wants is sought: a key that wants few may have any number of others before it. */
const LOOKED = 10_000

/** Whether the key `k` has polled within a day. */
export const polledWithinDay = (now: string) => `k.polled_at > ${now} - interval '1 day'`

/** Whether the key `k` polls; what waits for a webhook is a matter of the webhook. */
export const polls = (now: string) => `${polledWithinDay(now)}
  and not exists (select from webhook w where w.api_key_id = k.id and w.sealed is not null)`

/**
 * Since when the key `k` is behind; no row if it is not, or not for as long as its user allows. Only keys that poll count as
 * consumers.
 */
export const behindSince = (now: string) => `
  select first.at from credential c
    left join alert_setting s on s.user_id = k.user_id
    cross join lateral (
      select u.at
        from (select * from update_log
               where credential_id = k.credential_id and update_id > k.cursor
               order by update_id limit ${LOOKED}) u
       where ${wantedBy}
       order by u.update_id limit 1) first
   where c.id = k.credential_id and ${polls(now)} and ${ofReceiving(now)}
     and first.at <= ${now} - make_interval(mins => coalesce(s.backlog_minutes, ${USUAL_BACKLOG_MINUTES}))`

/** SQL for the accounts or keys that a rule finds; `$1` is the time. */
export const MEMBERS: Readonly<Partial<Record<Rule, string>>> = {
  reconnect_loop: `
    select c.user_id, c.id as credential_id, null::bigint as api_key_id, c.last_drop_at as since from credential c
     where c.drops >= 5
       and (c.last_drop_at > $1::timestamptz - interval '15 minutes' or c.troubled_since is not null)
       and c.deleting_at is null and c.deactivated_at is null`,
  webhook_failing: `
    select k.user_id, k.credential_id, k.id as api_key_id, w.failing_since as since
      from webhook w join api_key k on k.id = w.api_key_id join credential c on c.id = k.credential_id
     where w.failing_since <= $1::timestamptz - interval '5 minutes' and w.sealed is not null and ${ofReceiving('$1::timestamptz')}`,
  backlog_old: `
    select k.user_id, k.credential_id, k.id as api_key_id, late.at as since
      from api_key k cross join lateral (${behindSince('$1::timestamptz')}) late`,
  updates_cut: `
    select k.user_id, k.credential_id, k.id as api_key_id, k.dropped_at as since
      from api_key k join credential c on c.id = k.credential_id
     where k.dropped_at > $1::timestamptz - interval '1 hour' and ${ofReceiving('$1::timestamptz')}`,
}

/** Troubles of the service, which belong to no user. */
const ofService: Readonly<Partial<Record<Rule, string>>> = {
  // A crashed node has restarted under the same name.
  node_lost: `
    select ${SERVICE}::bigint as user_id, n.name as subject, 1 as affected from node n
     where n.state = 'gone' and n.ended_at > $1::timestamptz - interval '1 day'
       and not exists (select from node b where b.name = n.name and b.ended_at is null)
     group by n.name`,
  disk_full: `
    select ${SERVICE}::bigint as user_id, node as subject, 1 as affected from node_trouble
     where rule = 'disk_full' and at > $1::timestamptz - interval '3 minutes'`,
}

/** If a rule has only one incident for each owner, the rule's name is the subject. */
const statements: readonly (readonly [Rule, string])[] = [
  ...Object.entries(MEMBERS).map(
    ([rule, members]) =>
      [
        rule as Rule,
        `select user_id, '${rule}' as subject, count(*)::int as affected from (${members}) m group by user_id`,
      ] as const,
  ),
  ...Object.entries(ofService).map(([rule, text]) => [rule as Rule, text] as const),
]

export interface Judged {
  readonly found: readonly Found[]
  /** The rules that could be judged; the incidents of others stay as they are. */
  readonly rules: readonly Rule[]
}

/** A rule that fails does not keep the others from being judged. */
export async function judge(db: Queryable, now: Date, logger: Logger): Promise<Judged> {
  const found: Found[] = []
  const rules: Rule[] = []
  for (const [rule, statement] of statements) {
    try {
      const rows = await db.query<Omit<Found, 'rule'>>(statement, [now])
      found.push(...rows.map((row) => ({ ...row, rule })))
      rules.push(rule)
    } catch (err) {
      logger.warn({ err, rule }, 'a rule of alerts was not judged')
    }
  }
  return { found, rules }
}

/** A node reports every minute whether its disk is nearly full. A node that stops reporting counts as not full. */
export async function noteDisk(db: Database, node: string, isFull: boolean): Promise<void> {
  if (isFull) {
    await db.query(
      `insert into node_trouble (node, rule, at) values ($1, 'disk_full', now())
       on conflict (node, rule) do update set at = now()`,
      [node],
    )
  } else {
    await db.query(`delete from node_trouble where node = $1 and rule = 'disk_full'`, [node])
  }
}
