/** Deletes old updates from the log, and counts for each key how many of them it has not read. */
import { OTHER_KIND } from '../../machines/model/update-kinds.ts'
import type { Database, Queryable } from '../database/database.ts'
import { BLOCK } from './pending.ts'
import { isOneOf, kindsAt, othersAt, wantedBy } from './wanted.ts'

const AT_ONCE = 5_000
/** Credentials that one statement looks at. */
const CREDENTIALS_AT_ONCE = 10_000
/** Keys with changing filters that one statement counts. */
const KEYS_AT_ONCE = 200

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

/** Counts the dropped updates of each key, which its owner can see. */
async function tellKeys(tx: Queryable, credentialId: number, last: number): Promise<void> {
  await tx.query(tellSteady, [credentialId, last])
  const changing = await tx.query<{ id: number }>(
    `select k.id from api_key k where ${behind} and ${changesWithin} order by k.id`,
    [credentialId, last],
  )
  for (let from = 0; from < changing.length; from += KEYS_AT_ONCE) {
    const ids = changing.slice(from, from + KEYS_AT_ONCE).map(({ id }) => id)
    await tx.query(tellChanging, [credentialId, last, ids])
  }
}

/** Keys that have not read all of the updates to be deleted. */
const behind = 'k.credential_id = $1 and k.revoked_at is null and k.cursor < $2'

/** The filter changes within the updates to be deleted, which happens once for each change of a filter. */
const changesWithin = `exists (
  select from jsonb_array_elements(k.filter) entry
   where (entry->>'from')::bigint <= $2 and (entry->>'from')::bigint > (
     select min(update_id) from update_log where credential_id = $1))`

/**
 * Counts once for each filter, not once for each key: a key has missed the updates that its filter wants, less those
 * before its cursor (found by binary search), less those that it caused itself.
 */
const tellSteady = `
  with gone as materialized (
    select update_id, kind, api_key_id, case when kind = ${OTHER_KIND} then payload end as payload
      from update_log where credential_id = $1 and update_id <= $2
  ), reader as materialized (
    select k.id, k.cursor, ${kindsAt('$2')} as kinds, ${othersAt('$2')} as others from api_key k
     where ${behind} and not ${changesWithin}
  ), wanted as materialized (
    select f.kinds, f.others, coalesce(
             array_agg(g.update_id order by g.update_id) filter (where g.update_id is not null),
             '{}') as ids
      from (select distinct kinds, others from reader) f
      left join gone g on ${isOneOf('g', 'f.kinds', 'f.others')}
     group by f.kinds, f.others
  ), own as (
    select r.id, count(*) as updates from reader r
      join gone g on g.api_key_id = r.id and g.update_id > r.cursor
                     and ${isOneOf('g', 'r.kinds', 'r.others')}
     group by r.id
  )
  update api_key k set dropped_updates = k.dropped_updates + d.unread, dropped_at = now()
    from (
      select r.id, cardinality(w.ids) - width_bucket(r.cursor, w.ids) - coalesce(o.updates, 0)
               as unread
        from reader r
        join wanted w on w.kinds = r.kinds and w.others is not distinct from r.others
        left join own o using (id)) d
   where k.id = d.id and d.unread > 0`

const tellChanging = `
  update api_key k set dropped_updates = k.dropped_updates + d.unread, dropped_at = now()
    from (
      select k.id, count(*) as unread
        from api_key k join update_log u
          on u.credential_id = k.credential_id and u.update_id > k.cursor
             and u.update_id <= $2 and ${wantedBy}
       where k.credential_id = $1 and k.id = any($3)
       group by k.id) d
   where k.id = d.id`
