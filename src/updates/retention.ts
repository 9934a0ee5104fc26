/** Deletes old updates from the log, and counts for each key how many of them it has not read. */
import { DEFAULT_KINDS, OTHER_KIND } from '../../machines/model/update-kinds.ts'
import type { Database, Queryable } from '../database/database.ts'
import { BLOCK } from './pending.ts'
import { isOneOf, nameOf } from './wanted.ts'

const AT_ONCE = 5_000
/** Credentials that one statement looks at. */
const CREDENTIALS_AT_ONCE = 10_000
/** Keys that one statement counts. */
const KEYS_AT_ONCE = 2_000

interface RetentionLimits {
  readonly days: number
  /** Newest updates kept of each credential. */
  readonly updates: number
}

interface Due {
  readonly credential_id: number
  readonly keep_from: number
}

/**
 * Resolves with the number of deleted updates. Works in small steps, so that others do not wait; `removed` gets the
 * newest deleted id after each step. A failure for one credential does not stop the others.
 */
export async function retainUpdates(
  db: Database,
  limits: RetentionLimits,
  removed: (credentialId: number, updateId: number) => void,
  onFailure = (_credentialId: number, cause: unknown): void => {
    throw cause
  },
): Promise<number> {
  let total = 0
  for await (const { credential_id, keep_from } of due(db, limits)) {
    for (;;) {
      const step = await removeSome(db, credential_id, keep_from, limits.days).catch((cause) => {
        onFailure(credential_id, cause)
        return { count: 0, last: 0 }
      })
      if (step.count > 0) removed(credential_id, step.last)
      total += step.count
      if (step.count < AT_ONCE) break
    }
  }
  return total
}

/** The logs whose oldest update is due. All others cost one index lookup and no transaction. */
async function* due(db: Database, { days, updates }: RetentionLimits): AsyncGenerator<Due> {
  for (let after = 0; ; ) {
    const looked = await db.query<Due & { is_due: boolean }>(
      `select l.credential_id, l.next_update_id - $2 as keep_from, exists (
           select from (
             select update_id, at from update_log u
              where u.credential_id = l.credential_id order by update_id limit 1) oldest
            where update_id < l.next_update_id - $2
               or at < now() - make_interval(days => $3)) as is_due
         from credential_log l where credential_id > $1
        order by credential_id limit ${CREDENTIALS_AT_ONCE}`,
      [after, updates, days],
    )
    for (const log of looked) if (log.is_due) yield log
    const last = looked.at(-1)
    if (!last || looked.length < CREDENTIALS_AT_ONCE) return
    after = last.credential_id
  }
}

async function removeSome(
  db: Database,
  credentialId: number,
  keepFrom: number,
  days: number,
): Promise<{ count: number; last: number }> {
  return db.transaction(async (tx) => {
    // Ids and times rise together: if the oldest updates are young enough, so are all others.
    const [cut] = await tx.query<{ last: number | null }>(
      `select max(update_id) as last from (
         select update_id, at from update_log
          where credential_id = $1 order by update_id limit ${AT_ONCE}) oldest
        where update_id < $2 or at < now() - make_interval(days => $3)`,
      [credentialId, keepFrom, days],
    )
    if (cut?.last == null) return { count: 0, last: 0 }
    await tellKeys(tx, credentialId, cut.last)
    const gone = await tx.query(
      'delete from update_log where credential_id = $1 and update_id <= $2 returning 1',
      [credentialId, cut.last],
    )
    await tx.query(`delete from update_block where credential_id = $1 and block <= $2 / ${BLOCK}`, [
      credentialId,
      cut.last,
    ])
    return { count: gone.length, last: cut.last }
  })
}

/** Counts the dropped updates of each key, which its owner can see. Keys go in groups: no statement takes long. */
async function tellKeys(tx: Queryable, credentialId: number, last: number): Promise<void> {
  for (let after = 0; ; ) {
    const keys = await tx.query<{ id: number }>(
      `select id from api_key k
        where k.credential_id = $1 and k.revoked_at is null and k.cursor < $2 and k.id > $3
        order by id limit ${KEYS_AT_ONCE}`,
      [credentialId, last, after],
    )
    if (keys.length > 0) await tx.query(tell, [credentialId, last, keys.map(({ id }) => id)])
    const end = keys.at(-1)
    if (!end || keys.length < KEYS_AT_ONCE) return
    after = end.id
  }
}

/**
 * Looks at each update once, not once for each key: a key has missed, in each part of the log that it has not read
 * (`unread`: a webhook is ahead of its cursor where a chat fails and others go on; what long lanes have missed it counts itself,
 * when it reads them or tries an update) and that one of its filters holds for (`segment`), the updates of each kind (`listed`,
 * found by binary search) that the filter names, less those that it caused itself.
 */
const tell = `
  with gone as materialized (
    select update_id, kind, api_key_id, case when kind = ${OTHER_KIND} then ${nameOf('u')} end as name
      from update_log u where credential_id = $1 and update_id <= $2
  ), listed as materialized (
    select kind, name, array_agg(update_id order by update_id) as ids from gone group by kind, name
  ), unread as materialized (
    select id, greatest(cursor, coalesce((webhook_progress->>'head')::bigint, 0)) as past, $2 as last
      from api_key where id = any($3)
     union all
    select id, greatest(cursor, (runs->>(2 * n))::bigint - 1), least($2, (runs->>(2 * n + 1))::bigint)
      from api_key,
           lateral (select coalesce(webhook_progress->'apart', webhook_progress->'open') as runs) progress,
           generate_series(0, jsonb_array_length(runs) / 2 - 1) n
     where id = any($3)
  ), segment as materialized (
    select id, greatest(past, start - 1) as past, least(last, until - 1) as last, kinds, others
      from unread join (
        select k.id, e.start, e.kinds, e.others,
               lead(e.start, 1, $2 + 1) over (partition by k.id order by e.start) as until
          from api_key k, lateral (
            select 0::bigint as start, ${DEFAULT_KINDS}::bigint as kinds, null::jsonb as others
             union all
            select (entry->>'from')::bigint, coalesce((entry->>'kinds')::bigint, ${DEFAULT_KINDS}),
                   entry->'others'
              from jsonb_array_elements(k.filter) entry) e
         where k.id = any($3)) part using (id)
     where greatest(past, start - 1) < least(last, until - 1)
  ), missed as (
    select s.id, width_bucket(s.last, l.ids) - width_bucket(s.past, l.ids) as updates
      from segment s join listed l on ${isOneOf('l', 's.kinds', 's.others', 'l.name')}
     union all
    select s.id, -1 from segment s
      join gone g on g.api_key_id = s.id and g.update_id > s.past and g.update_id <= s.last
                     and ${isOneOf('g', 's.kinds', 's.others', 'g.name')}
  )
  update api_key k set dropped_updates = k.dropped_updates + d.unread, dropped_at = now()
    from (select id, sum(updates) as unread from missed group by id) d
   where k.id = d.id and d.unread > 0`
