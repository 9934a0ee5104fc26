/** Changes a chat within one transaction that locks it, and announces the change in it. */
import type { Message, Service } from '../../../machines/model/content.ts'
import type { Database, Queryable } from '../../database/database.ts'
import type { ActingPerson, Outbox, Wake } from '../network/context.ts'

/** `native` names the chat. The device that made the change receives the message, too. */
export const announce = (
  { outbox }: { readonly outbox: Outbox },
  { person }: ActingPerson,
  native: number,
  facts: Service,
  topic?: number | null,
): Promise<Message> =>
  outbox.send({
    sender: person,
    native,
    request: crypto.randomUUID(),
    content: { kind: 'service', ...facts },
    ...(topic != null && { topic }),
  })

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

/** A transaction whose messages are stored with its other changes, or not at all. Sessions wake after the commit. */
export async function withOutbox<Result>(
  { db, outbox, wake }: { readonly db: Database; readonly outbox: Outbox; readonly wake: Wake },
  work: (tx: Queryable, outbox: Outbox) => Promise<Result>,
): Promise<Result> {
  const woken: number[] = []
  const later = (people: readonly number[]) => woken.push(...people)
  const result = await db.transaction((tx) => work(tx, outbox.within(tx, later)))
  wake(woken)
  return result
}
