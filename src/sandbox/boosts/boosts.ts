/** Boosts: a person boosts a chat for a time, and its administrators are notified. */
import { randomBytes } from 'node:crypto'
import { badRequest, failed, notFound } from '../../../machines/model/failure.ts'
import type { Boost } from '../../../machines/model/membership.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf } from '../chats/access.ts'
import { memberOf } from '../chats/members.ts'
import { type ChatTransaction, lockChat } from '../chats/transaction.ts'
import { parseChatId, personOf } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'

/** The largest number of boosts of one person that count for one chat. */
const MOST = 10

interface Row {
  readonly id: string
  readonly at: number
  readonly expiresAt: number
  readonly person: PersonRow
}

export async function listBoosts(
  { context, by }: Call,
  { chat, person }: OperationOf<'boosts'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  if (access.chat.kind === 'private') throw badRequest('PEER_ID_INVALID')
  if (access.role !== 'owner' && access.role !== 'admin') throw badRequest('CHAT_ADMIN_REQUIRED')
  const giver = parseChatId(person)
  if (!(await memberOf(context.db, access.chat.id, giver))) throw notFound('user')
  return { kind: 'boosts', boosts: await boostsOf(context, access.chat.id, giver) }
}

async function boostsOf(
  { db, now }: { readonly db: Queryable; readonly now: () => number },
  chat: number,
  person: number,
): Promise<Boost[]> {
  const rows = await db.query<Row>(
    `select b.id, floor(extract(epoch from b.at))::bigint as at,
       floor(extract(epoch from b.expires_at))::bigint as "expiresAt", ${personJson('p')} as person
     from sandbox_boost b join sandbox_person p on p.id = b.person_id
     where b.chat_id = $1 and b.person_id = $2 and b.expires_at > to_timestamp($3) order by b.at`,
    [chat, person, now() / 1000],
  )
  return rows.map((row) => ({ ...row, person: personOf(row.person) }))
}

/** The boosts that the person gives a chat. */
export function boostsBy(
  context: NetworkContext,
  person: number,
  native: number,
): Promise<readonly Boost[]> {
  return inBoosted(context, person, native, ({ db }, chat) =>
    boostsOf({ db, now: context.now }, chat, person),
  )
}

/** The person need not be a member of a chat that has a public name. */
export async function giveBoost(
  context: NetworkContext,
  person: number,
  native: number,
  seconds: number,
): Promise<Boost> {
  return inBoosted(context, person, native, async (transaction, chat) => {
    const { db } = transaction
    if ((await boostsOf({ db, now: context.now }, chat, person)).length >= MOST) {
      throw badRequest('BOOSTS_EMPTY')
    }
    const id = randomBytes(12).toString('hex')
    const at = Math.floor(context.now() / 1000)
    await db.query(
      `insert into sandbox_boost (id, chat_id, person_id, at, expires_at)
       values ($1, $2, $3, to_timestamp($4), to_timestamp($4) + make_interval(secs => $5))`,
      [id, chat, person, at, seconds],
    )
    const boost = (await boostsOf({ db, now: context.now }, chat, person)).at(-1)!
    const event = { kind: 'boost' as const, chat, actor: person, facts: { boost } }
    await notify(transaction, event, { administrators: true })
    return boost
  })
}

export async function takeBoost(
  context: NetworkContext,
  person: number,
  native: number,
  id: string,
): Promise<void> {
  await inBoosted(context, person, native, async (transaction, chat) => {
    const { db } = transaction
    const boost = (await boostsOf({ db, now: context.now }, chat, person)).find(
      (one) => one.id === id,
    )
    if (!boost) throw failed('not_found', '')
    await db.query('delete from sandbox_boost where id = $1', [id])
    const event = { kind: 'boost_removed' as const, chat, actor: person, facts: { boost } }
    await notify(transaction, event, { administrators: true })
  })
}

async function inBoosted<Result>(
  context: NetworkContext,
  person: number,
  native: number,
  work: (transaction: ChatTransaction, chat: number) => Promise<Result>,
): Promise<Result> {
  const [chat] = await context.db.query<{ id: number }>(
    `select id from sandbox_chat c where native = $1 and user_id = $2
       and kind in ('supergroup', 'channel') and (username is not null or exists (
         select from sandbox_member m where m.chat_id = c.id and m.person_id = $3
           and m.role not in ('left', 'kicked')))`,
    [native, context.network, person],
  )
  if (!chat) throw notFound('chat')
  return lockChat(context, { chat: chat.id, person }, (transaction) => work(transaction, chat.id))
}
