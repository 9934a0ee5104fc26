/** Changes of who is in a chat, one after the other: each finds what the one before has left. */
import type { Database, Queryable } from '../../database/database.ts'
import { Outbox } from '../messages/outbox.ts'

/** All that is done in a turn is done together or not at all. */
export interface Turn {
  readonly db: Queryable
  readonly outbox: Outbox
  readonly wake: (people: readonly number[]) => void
}

/** Those who may hear of it are held in their order, so that two turns cannot wait for each other. */
const HOLDING = `
  select from sandbox_person
  where sessions > 0
    and (id = $2 or id in (select person_id from sandbox_member where chat_id = $1))
  order by id for no key update`

export async function inTurn<Result>(
  { db, wake }: { readonly db: Database; readonly wake: Turn['wake'] },
  { chat, person }: { readonly chat: number; readonly person: number },
  work: (turn: Turn) => Promise<Result>,
): Promise<Result> {
  const woken: number[] = []
  const later = (people: readonly number[]) => woken.push(...people)
  const result = await db.transaction(async (tx) => {
    await tx.query('select from sandbox_chat where id = $1 for no key update', [chat])
    await tx.query(HOLDING, [chat, person])
    return work({ db: tx, outbox: new Outbox(tx, later), wake: later })
  })
  wake(woken)
  return result
}
