/** The fence in SQL: a write for a credential counts only if no other node has claimed the credential since. */
import type { LostCredential, Owned } from '../../actors/ports/ports.ts'
import type { Queryable } from '../database/database.ts'

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
