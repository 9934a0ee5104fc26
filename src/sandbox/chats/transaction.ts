/** Changes a chat within one transaction that locks it: changes run one after the other and see each other's results. */
import type { Database, Queryable } from '../../database/database.ts'
import type { Outbox, Wake } from '../network/context.ts'

/** All changes in a transaction are made together or not at all. */
export interface ChatTransaction {
  readonly db: Queryable
  readonly outbox: Outbox
  readonly wake: Wake
}

/** Locks the people whom the change may notify, in the order of their ids: two transactions cannot wait for each other. */
const LOCK_PEOPLE = `
  select from sandbox_person
  where sessions > 0
    and (id = $2 or id in (select person_id from sandbox_member where chat_id = $1))
  order by id for no key update`

/** `person` need not be a member yet. Sessions wake after the commit. */
export async function lockChat<Result>(
  { db, outbox, wake }: { readonly db: Database; readonly outbox: Outbox; readonly wake: Wake },
  { chat, person }: { readonly chat: number; readonly person: number },
  work: (transaction: ChatTransaction) => Promise<Result>,
): Promise<Result> {
  const woken: number[] = []
  const later = (people: readonly number[]) => woken.push(...people)
  const result = await db.transaction(async (tx) => {
    await tx.query('select from sandbox_chat where id = $1 for no key update', [chat])
    await tx.query(LOCK_PEOPLE, [chat, person])
    return work({ db: tx, outbox: outbox.within(tx, later), wake: later })
  })
  wake(woken)
  return result
}
