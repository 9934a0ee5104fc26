/** Tags of accounts: added to and removed from many accounts at once, and counted. */
import { noteChange } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'

/** The largest number of tags of one account. */
export const MOST_TAGS = 20
/** The number of accounts in one transaction, so that no row is locked for long. */
const AT_ONCE = 1_000
/** A longer list would not help to choose. */
const MOST_SHOWN = 100

interface TagChange {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/**
 * Resolves with the number of changed accounts. An account that would have too many tags is not changed. The rows are held
 * before their tags are read: of two changes at once, the second one would otherwise undo the first.
 */
export async function changeTags(
  db: Database,
  userId: number,
  credentialIds: readonly number[],
  change: TagChange,
): Promise<number> {
  let changed = 0
  for (let at = 0; at === 0 || at < credentialIds.length; at += AT_ONCE) {
    changed += await db.transaction(async (tx) => {
      // Once, and first: what fails later leaves no change without its line.
      if (at === 0) await noteChange(tx, { after: { ...change, accounts: credentialIds.length } })
      return changeSome(tx, userId, credentialIds.slice(at, at + AT_ONCE), change)
    })
  }
  return changed
}

async function changeSome(
  tx: Queryable,
  userId: number,
  credentialIds: readonly number[],
  { add, remove }: TagChange,
): Promise<number> {
  const rows = await tx.query(
    // A named query is run once: a join that knows too little of the table would hold the rows again for each of them.
    `with held as (select id, tags from credential where user_id = $1 and id = any($2)
                    order by id for no key update),
          n as materialized (
            select id, tags as former, array(select distinct tag from unnest(tags || $3::text[]) as tag
                                              where tag <> all ($4::text[]) order by tag) as tags
              from held)
     update credential c set tags = n.tags
       from n
      where c.id = n.id and c.user_id = $1 and n.tags <> n.former
        and cardinality(n.tags) <= ${MOST_TAGS}
     returning c.id`,
    [userId, credentialIds, add, remove],
  )
  return rows.length
}

/** How many accounts of this user have each, the most frequent ones. */
export async function countTags(db: Queryable, userId: number): Promise<Record<string, number>> {
  const rows = await db.query<{ tag: string; count: number }>(
    `select tag, count(*)::int as count from credential, unnest(tags) as tag
      where user_id = $1 and tags <> '{}' and deleting_at is null and deactivated_at is null
      group by 1 order by 2 desc, 1 limit ${MOST_SHOWN}`,
    [userId],
  )
  return Object.fromEntries(rows.map(({ tag, count }) => [tag, count]))
}
