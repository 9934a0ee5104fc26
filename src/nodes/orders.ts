/** Orders of operators to nodes, stored in the database: any node may take an order, and the node concerned reads it. */
import { failed, invalidField } from '../../machines/model/failure.ts'
import { noteChange } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'
import type { NodeFigures } from './table.ts'

/** Which start of a process: by its number, or by the name of the node. */
export type NodeRef = { readonly incarnation: number } | { readonly name: string }

/**
 * Orders a node to give its accounts away, or to take some again. Resolves with its number. The order ends with the
 * process. Throws `not_found`, and `conflict` where no other node could take the accounts.
 */
export function orderDrain(db: Database, ref: NodeRef, drain: boolean): Promise<number> {
  return db.transaction((tx) => orderIn(tx, ref, drain))
}

async function orderIn(db: Queryable, ref: NodeRef, drain: boolean): Promise<number> {
  const [found] = await db.query<{ id: number; others: number }>(
    `select n.id, (select count(*)::int from node o
                    where o.id <> n.id and o.state = 'up' and not o.drain) as others
       from node n
      where n.ended_at is null and (n.id = $1::bigint or n.name = $2) order by n.id desc limit 1`,
    'name' in ref ? [null, ref.name] : [ref.incarnation, null],
  )
  if (!found) throw failed('not_found', 'there is no such node')
  if (drain && found.others === 0) {
    throw failed('conflict', 'no other node takes accounts')
  }
  await noteChange(db, { target: ['node', found.id], after: { drain } })
  // The last statement, since the beats of that node wait for its row.
  await db.query('update node set drain = $2 where id = $1', [found.id, drain])
  return found.id
}

/** Keeps an account on the node of this name, whenever that one is up; with null, it goes where it is placed. */
export function pinAccount(db: Database, credentialId: number, name: string | null): Promise<void> {
  return db.transaction((tx) => pinIn(tx, credentialId, name))
}

async function pinIn(db: Queryable, credentialId: number, name: string | null): Promise<void> {
  if (name !== null) {
    const known = await db.query('select from node where name = $1 limit 1', [name])
    if (known.length === 0) throw invalidField('node', 'is not the name of a node')
  }
  const pinned = await db.query(
    'update credential set pinned_node = $2 where id = $1 and deactivated_at is null returning id',
    [credentialId, name],
  )
  if (pinned.length === 0) throw failed('not_found', 'there is no such account')
  await noteChange(db, { target: ['account', credentialId], after: { node: name } })
}

/** The names of the nodes that operators have chosen, by account. */
export async function pinnedAccounts(db: Queryable): Promise<ReadonlyMap<number, string>> {
  const rows = await db.query<{ id: number; name: string }>({
    name: 'pinned-accounts',
    text: `select id, pinned_node as name from credential where pinned_node is not null`,
  })
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** The accounts and pins of a node, and its own figures. */
interface Holding {
  readonly owner: number
  readonly accounts: number
  /** How many accounts operators keep at the nodes of its name. */
  readonly pins: number
  readonly figures: NodeFigures | null
}

/** The holdings of every node in the table, by its number. */
export async function holdingsByNode(db: Queryable): Promise<ReadonlyMap<number, Holding>> {
  const rows = await db.query<Holding>(
    `with owned as (
       select owner, count(*)::int as accounts from credential_log where owner is not null group by owner
     ), pinned as (
       select pinned_node as name, count(*)::int as pins from credential
        where pinned_node is not null and deactivated_at is null group by pinned_node
     )
     select n.id as owner, coalesce(o.accounts, 0) as accounts, coalesce(p.pins, 0) as pins,
            n.figures
       from node n left join owned o on o.owner = n.id left join pinned p on p.name = n.name`,
  )
  return new Map(rows.map((row) => [row.owner, row]))
}

/** The pins of one account, or of all. The lowest ids first. */
export async function listPins(
  db: Queryable,
  credentialId: number | null,
  limit: number,
): Promise<{ credential_id: number; node: string }[]> {
  return db.query(
    `select id as credential_id, pinned_node as node from credential
      where pinned_node is not null and deactivated_at is null and ($1::bigint is null or id = $1)
      order by id limit $2`,
    [credentialId, limit],
  )
}
