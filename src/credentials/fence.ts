/** The fence in SQL: a claim and a release raise the epoch, and a write for a credential counts only if the epoch is unchanged. */
import type { LostCredential, Owned } from '../../actors/ports/ports.ts'
import type { Queryable } from '../database/database.ts'
import { wasBlocked, wasDeadlock } from '../database/failures.ts'
import { arrayLiteral, SharedStatements } from '../database/write-behind.ts'

/** Called with credentials whose write was refused, because another node has claimed them. */
export type Fenced = (lost: readonly LostCredential[]) => void

/**
 * A common table expression `owned (id)` with the credentials whose epoch is unchanged. `ids` and `epochs` are array
 * parameters of equal length. The rows are locked in the order of their ids, so the write either commits before the
 * next claim or fails. Use `share` for a write of another table that the next owner reads when it claims.
 */
export const ownedRows = (ids: string, epochs: string, lock: 'share' | 'no key update'): string =>
  `owned as materialized (
     select c.id from credential c
       join unnest(${ids}::bigint[], ${epochs}::bigint[]) as o (id, epoch)
         on o.id = c.id and o.epoch = c.epoch
      order by c.id for ${lock} of c)`

/** The result of such a statement: each credential of the parameters that another node has claimed, once. */
export const fencedRows = (ids: string, epochs: string): string =>
  `select distinct o.id as "credentialId", o.epoch
     from unnest(${ids}::bigint[], ${epochs}::bigint[]) as o (id, epoch)
    where not exists (select from owned where owned.id = o.id)`

/** Locks the credential until the end of the transaction; false where another node has claimed it. */
export async function isOwnedIn(tx: Queryable, { credentialId, epoch }: Owned): Promise<boolean> {
  const rows = await tx.query('select from credential where id = $1 and epoch = $2 for share', [
    credentialId,
    epoch,
  ])
  return rows.length > 0
}

/**
 * The row belongs to no living node, or to this one, `$2`, which was not declared gone. The first condition names only the
 * table that is updated, because PostgreSQL checks only such a one again after another node has changed the row.
 */
export const isFree = `(l.owner = any (array(select n.id from node n where n.ended_at is null and n.id is distinct from $2))) is not true
  and not exists (select from node n where n.id = $2 and n.ended_at is not null)`

/** A part of a `with`: those of the rows that nobody has locked, as `reached (id)`. */
const reached = (which: string) => `reached as materialized (
    select c.id from credential c join credential_log l on l.credential_id = c.id
     where ${which} for no key update of l, c skip locked),`

interface Claim {
  /** Whether it waits for writes in progress; otherwise it leaves their rows out. */
  readonly waits: boolean
  /** A condition on the row, beside that it is free. */
  readonly which?: string | undefined
}

/**
 * Raises the epoch of the credentials `$3` that are free, which fences the earlier owner of each. It returns each row as
 * that owner left it. `told` adds to the timeline of those in `marked`.
 */
export function claimOf(told: string, { waits, which = 'true' }: Claim): string {
  const wanted = `c.id = any($3) and c.deactivated_at is null and ${isFree} and ${which}`
  return `
  with ${waits ? '' : reached(wanted)} mine as (
    update credential_log l set epoch = l.epoch + 1, owner = $2
      from credential c
     where c.id = l.credential_id and ${wanted} ${waits ? '' : 'and c.id in (select id from reached)'}
    returning l.credential_id, l.epoch, l.next_update_id, coalesce(c.node, c.left_node) as former, c.node is null as released
  ), marked as (
    update credential c set node = $1, epoch = mine.epoch from mine where c.id = mine.credential_id
    returning c.id, c.user_id, c.platform, c.machine_state, c.deleting_at, c.reason, c.limited_until, mine.former, mine.released,
              c.include_self_updates, c.include_channel_updates, c.include_channel_update_recovery,
              c.include_deleted_updates, mine.epoch, mine.next_update_id
  ), told as (${told}
  )
  select marked.*, case when machine_state in ('signedOut', 'invalid', 'replaced') then (
           select t.at from credential_transition t
            where t.credential_id = marked.id and t.to_state = marked.machine_state
              and t.actor = 'credential:' || marked.id
            order by t.id desc limit 1) end as state_since
    from marked order by id`
}

/** Whether the node `$2` could claim the credential `$1` if nobody had its rows locked; no row for one that is not linked. */
export const isKept = `
  with ${reached('c.id = $1')} linked as (
    select c.id, (${isFree}) as free from credential c join credential_log l on l.credential_id = c.id
     where c.id = $1 and c.deactivated_at is null
  )
  select free and id not in (select id from reached) as kept from linked`

/** Releases the credentials `$1` whose epochs are still `$2`, and returns their ids. */
export function releaseOf(waits: boolean): string {
  return `
  with ${waits ? '' : reached('c.id = any($1)')} released as (
    update credential_log l set epoch = l.epoch + 1, owner = null
      from unnest($1::bigint[], $2::bigint[]) as o (id, epoch)
     where l.credential_id = o.id and l.epoch = o.epoch ${waits ? '' : 'and o.id in (select id from reached)'}
    returning l.credential_id, l.epoch
  )
  update credential c set epoch = released.epoch, node = null, left_node = c.node
    from released where c.id = released.credential_id returning c.id`
}

/** Free ones, then all, then what is free by now. After a deadlock, which ends at once, the last two once more. */
const PASSES = 3
const PASSES_AFTER_DEADLOCK = 5

/**
 * Carries out a statement for many rows, of which somebody may keep some locked for long: first for those that are free, then,
 * if it `waits`, for the others. Returns what was done, without what stays locked. Another failure counts only if nothing was done.
 */
export async function lockedLast<Key, Done>(
  keys: readonly Key[],
  run: (keys: readonly Key[], waits: boolean) => Promise<readonly Done[]>,
  keyOf: (done: Done) => Key,
  waits = true,
): Promise<Done[]> {
  const all: Done[] = []
  const left = new Set(keys)
  let passes = waits ? PASSES : 1
  for (let pass = 0; pass < passes && left.size > 0; pass++) {
    const isWaiting = pass % 2 === 1
    try {
      const done = await run([...left], isWaiting)
      for (const one of done) left.delete(keyOf(one))
      all.push(...done)
      if (isWaiting) return all
    } catch (cause) {
      if (isWaiting && wasDeadlock(cause)) passes = PASSES_AFTER_DEADLOCK
      if (wasBlocked(cause)) continue
      if (all.length === 0) throw cause
      return all
    }
  }
  return all
}

interface NewSecrets {
  readonly owned: Owned
  readonly link: number
  readonly sealed: Buffer
}

/** Wiped secrets stay wiped, also if a session that signs out still reports new ones; so do those of a newer link. */
const secretsUpdate = {
  name: 'secrets',
  text: `with ${ownedRows('$1', '$2', 'no key update')}
         update credential c set secrets = n.secrets
           from owned, unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) as n (id, epoch, links, secrets)
          where c.id = owned.id and (n.id, n.epoch, n.links) = (c.id, c.epoch, c.links) and c.secrets is not null
         returning c.id, c.epoch, c.links`,
}

/** Accounts whose secrets are stored together: what a session leaves to the next one may be long. */
const SECRETS_AT_ONCE = 50
const BETWEEN_WRITES_MS = 5

/** All sessions of a node leave, and go on, at the same time. Each write resolves with whether the secrets are stored. */
export const secretsWrites = (db: Queryable) =>
  new SharedStatements<NewSecrets, boolean>({
    most: SECRETS_AT_ONCE,
    restMs: BETWEEN_WRITES_MS,
    ownerOf: ({ owned }) => owned.credentialId,
    async run(all) {
      const keyOf = (...[id, epoch, link]: number[]) => `${id} ${epoch} ${link}`
      const key = ({ owned, link }: NewSecrets) => keyOf(owned.credentialId, owned.epoch, link)
      // Of one account the last ones count.
      const each = [...new Map(all.map((one) => [key(one), one])).values()]
      const rows = await db.query<{ id: number; epoch: number; links: number }>(secretsUpdate, [
        arrayLiteral(each.map(({ owned }) => owned.credentialId)),
        arrayLiteral(each.map(({ owned }) => owned.epoch)),
        arrayLiteral(each.map(({ link }) => link)),
        each.map(({ sealed }) => sealed),
      ])
      const stored = new Set(rows.map(({ id, epoch, links }) => keyOf(id, epoch, links)))
      return all.map((one) => stored.has(key(one)))
    },
  })
