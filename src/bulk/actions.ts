/** Actions on many accounts in PostgreSQL: the accounts are fixed when an action begins, and each gets an outcome. */

import { failed } from '../../machines/model/failure.ts'
import { useQuota, type WindowLimit } from '../accounts/limits.ts'
import { holdUser } from '../accounts/users.ts'
import { noteChange } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'

export const BULK_KINDS = ['restart', 'delete', 'relink'] as const
export type BulkKind = (typeof BULK_KINDS)[number]

type BulkState = 'running' | 'stopped' | 'finished'
export type ItemState = 'waiting' | 'done' | 'failed'

/** The largest number of running actions of one user, since each uses a share of the service. */
const MOST_OPEN = 10
/** Each of them keeps a row for each of its accounts. */
const begun: WindowLimit = { count: 200, seconds: 86_400 }
const DAYS_KEPT = 30

/** The filter that chose the accounts. Search words may name a person, so only the fact of a search is stored. */
export interface BulkFilter {
  readonly search?: boolean
  readonly states?: readonly string[] | undefined
  readonly platform?: string | undefined
  readonly actions?: readonly string[] | undefined
  readonly reasons?: readonly string[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly incident?: string | undefined
}

export interface BulkAction {
  readonly id: number
  readonly kind: BulkKind
  /** Null where the accounts were named one by one. */
  readonly filter: BulkFilter | null
  readonly state: BulkState
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly created_at: Date
  readonly ended_at: Date | null
}

export interface BulkItem {
  readonly position: number
  readonly credential_id: number
  readonly state: ItemState
  /** Why it failed. */
  readonly code: string | null
  readonly ended_at: Date | null
}

const columns = 'id, kind, filter, state, total, done, failed, created_at, ended_at'

interface NewAction {
  readonly userId: number
  readonly kind: BulkKind
  readonly filter: BulkFilter | null
  readonly credentialIds: readonly number[]
}

/** Rejects with `conflict` while too many actions of this user are unfinished, and with `rate_limited` after too many in a day. */
export async function beginAction(
  db: Database,
  { userId, kind, filter, credentialIds }: NewAction,
): Promise<BulkAction> {
  const begin = `with action as (
       insert into bulk_action (user_id, kind, filter, total)
       select $1, $2, $3, cardinality($4::bigint[])
        where (select count(*) from bulk_action where user_id = $1 and state = 'running') < ${MOST_OPEN}
       returning ${columns}
     ), items as (
       insert into bulk_item (action_id, position, credential_id)
       select action.id, i.position, i.id
         from action, unnest($4::bigint[]) with ordinality as i (id, position)
     )
     select ${columns} from action`
  return db.transaction(async (tx) => {
    await holdUser(tx, userId)
    await useQuota(tx, `bulk:user:${userId}`, begun, new Date())
    const values = [userId, kind, filter && JSON.stringify(filter), credentialIds]
    const [action] = await tx.query<BulkAction>(begin, values)
    if (!action) throw tooMany()
    const after = { kind, filter, accounts: credentialIds.length }
    await noteChange(tx, { target: ['bulk_action', action.id], after })
    return action
  })
}

function tooMany() {
  const why = { reason: 'actions_full', params: { count: MOST_OPEN } } as const
  return failed('conflict', `${MOST_OPEN} actions on accounts are under way already`, why)
}

interface Before {
  readonly before: number | undefined
  readonly limit: number
}

/** Newest first, below the id `before`. */
export function listActions(
  db: Queryable,
  userId: number,
  { before, limit }: Before,
): Promise<BulkAction[]> {
  return db.query<BulkAction>(
    `select ${columns} from bulk_action
      where user_id = $1 and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [userId, before ?? null, limit],
  )
}

export interface OneAction {
  readonly userId: number
  readonly id: number
}

/** Rejects with `not_found`, also for an action of another user. */
export async function findAction(db: Queryable, { userId, id }: OneAction): Promise<BulkAction> {
  const [action] = await db.query<BulkAction>(
    `select ${columns} from bulk_action where id = $2 and user_id = $1`,
    [userId, id],
  )
  if (action) return action
  throw failed('not_found')
}

/** The accounts of an action, the last first, below the position `before`. */
export async function listItems(
  db: Queryable,
  action: OneAction,
  { state, before, limit }: Before & { readonly state: ItemState | undefined },
): Promise<BulkItem[]> {
  const { id } = await findAction(db, action)
  return db.query<BulkItem>(
    `select position, credential_id, state, code, ended_at from bulk_item
      where action_id = $1 and ($2::text is null or state = $2)
        and ($3::bigint is null or position < $3)
      order by position desc limit $4`,
    [id, state ?? null, before ?? null, limit],
  )
}

/** For which it failed, in their order. */
export async function failedAccounts(db: Queryable, action: OneAction): Promise<number[]> {
  const { id } = await findAction(db, action)
  const rows = await db.query<{ id: number }>(
    `select credential_id as id from bulk_item
      where action_id = $1 and state = 'failed' order by position`,
    [id],
  )
  return rows.map((row) => row.id)
}

/**
 * Stops a running action, or resumes a stopped one. Rejects with `conflict` if it is finished, or if too many others run
 * meanwhile.
 */
export function setRunning(db: Database, action: OneAction, runs: boolean): Promise<BulkAction> {
  const { userId, id } = action
  return db.transaction(async (tx) => {
    // Only what runs is counted, and a stop has no time to wait.
    if (runs) await holdUser(tx, userId)
    const [changed] = await tx.query<BulkAction>(
      `update bulk_action set state = $3
        where id = $2 and user_id = $1 and state <> 'finished'
          and (state = $3 or $3 = 'stopped' or ${MOST_OPEN} >
               (select count(*) from bulk_action where user_id = $1 and state = 'running'))
       returning ${columns}`,
      [userId, id, runs ? 'running' : 'stopped'],
    )
    if (changed) {
      await noteChange(tx)
      return changed
    }
    const { state } = await findAction(tx, action)
    throw state === 'finished' ? failed('conflict', 'the action is finished') : tooMany()
  })
}

export interface RunningAction {
  readonly id: number
  readonly userId: number
  readonly kind: BulkKind
}

/** SQL: nothing is done for a user who is suspended; it goes on afterwards. */
const isSuspended = `exists (
  select from app_user u where u.id = a.user_id and u.suspended_at is not null)`

/** Running actions for which this node has something to do, the oldest one of each user first. */
export const runningActions = (
  db: Queryable,
  incarnation: number | null,
  limit: number,
): Promise<RunningAction[]> =>
  db.query<RunningAction>(
    `select a.id, a.user_id as "userId", a.kind from bulk_action a
      where a.state = 'running' and not ${isSuspended} and exists (
        select from bulk_item i
          left join credential c on c.id = i.credential_id
          left join credential_log l on l.credential_id = c.id
         where i.action_id = a.id and i.state = 'waiting'
           and (l.owner = $1 or c.id is null or c.deactivated_at is not null))
      order by row_number() over (partition by a.user_id order by a.id), a.id limit $2`,
    [incarnation, limit],
  )

export interface WaitingItem {
  readonly position: number
  readonly credentialId: number
  /** It was deleted meanwhile. */
  readonly isGone: boolean
}

/**
 * The next accounts of a running action that this node owns or that are deleted. Only the owner of an account acts on
 * it.
 */
export const waitingItems = (
  db: Queryable,
  actionId: number,
  incarnation: number | null,
  limit: number,
): Promise<WaitingItem[]> =>
  db.query<WaitingItem>(
    `select i.position, i.credential_id as "credentialId",
            c.id is null or c.deactivated_at is not null as "isGone"
       from bulk_action a
       join bulk_item i on i.action_id = a.id and i.state = 'waiting'
       left join credential c on c.id = i.credential_id
       left join credential_log l on l.credential_id = c.id
      where a.id = $1 and a.state = 'running' and not ${isSuspended}
        and (l.owner = $2 or c.id is null or c.deactivated_at is not null)
      order by i.position limit $3`,
    [actionId, incarnation, limit],
  )

export interface ItemOutcome {
  readonly position: number
  /** Why it failed; null where it did not. */
  readonly code: string | null
}

/** Counts each account once, even if two nodes have acted on it. The last account finishes the action. */
export async function saveOutcomes(
  db: Queryable,
  actionId: number,
  outcomes: readonly ItemOutcome[],
): Promise<void> {
  await db.query(
    `with saved as (
       update bulk_item i
          set state = case when o.code is null then 'done' else 'failed' end, code = o.code,
              ended_at = now()
         from unnest($2::int[], $3::text[]) as o (position, code)
        where i.action_id = $1 and i.position = o.position and i.state = 'waiting'
       returning i.state
     ), counts as (
       select count(*) filter (where state = 'done')::int as done,
              count(*) filter (where state = 'failed')::int as failed from saved
     )
     update bulk_action a
        set done = a.done + counts.done, failed = a.failed + counts.failed,
            state = case when a.done + a.failed + counts.done + counts.failed >= a.total
                         then 'finished' else a.state end,
            ended_at = case when a.done + a.failed + counts.done + counts.failed >= a.total
                            then now() end
       from counts where a.id = $1`,
    [actionId, outcomes.map(({ position }) => position), outcomes.map(({ code }) => code)],
  )
}

/** Deletes finished actions, and stopped ones that were not resumed, after a month. */
export async function retainActions(db: Queryable): Promise<void> {
  await db.query(
    `delete from bulk_action
      where ended_at < now() - interval '${DAYS_KEPT} days'
         or state = 'stopped' and created_at < now() - interval '${DAYS_KEPT} days'`,
  )
}
