/** The Telegram Stars of an account: what came and went, refunds and subscriptions. */
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { type Invoice, type Receipt, STARS } from '../../../machines/model/payment.ts'
import { announce, withOutbox } from '../chats/transaction.ts'
import { parseChatId, personOf } from '../delivery/mapping.ts'
import { type PersonRow, personJson } from '../delivery/rows.ts'
import type { Call } from '../network/context.ts'
import { moveStars } from './checkout.ts'

const bad = (description: string) => failed('bad_request', description)

interface Entry {
  readonly receipt: Receipt
  readonly invoice: Invoice
  readonly person: PersonRow
  readonly at: number
  readonly isRefund: boolean
}

/** In the order of time, as in the reference. */
export async function starTransactions(
  { context, by }: Call,
  { offset, limit }: OperationOf<'star_transactions'>,
): Promise<OperationResult> {
  const rows = await context.db.query<Entry>(
    `select t.receipt, t.invoice, floor(extract(epoch from t.at))::bigint as at, t.is_refund as "isRefund",
       ${personJson('p')} as person
     from (
       select id, answer as receipt, invoice, person_id, paid_at as at, false as is_refund
       from sandbox_payment
       where bot_id = $1 and paid_at is not null and invoice ->> 'currency' = '${STARS}'
       union all
       select id, answer, invoice, person_id, refunded_at, true
       from sandbox_payment where bot_id = $1 and refunded_at is not null
     ) t join sandbox_person p on p.id = t.person_id
     order by t.at, t.id, t.is_refund offset $2 limit $3`,
    [by.person, offset, limit],
  )
  const transactions = rows.map(({ receipt, invoice, person, at, isRefund }) => ({
    id: receipt.charge,
    amount: receipt.total,
    at,
    direction: isRefund ? ('outgoing' as const) : ('incoming' as const),
    person: personOf(person),
    payload: receipt.payload,
    ...(invoice.periodSeconds !== undefined && { periodSeconds: invoice.periodSeconds }),
  }))
  return { kind: 'transactions', transactions }
}

interface Payment {
  readonly id: number
  readonly chat: number
  readonly native: number
  readonly receipt: Receipt
  readonly invoice: Invoice
  readonly isRefunded: boolean
  readonly person: PersonRow
}

async function paymentOf({ context, by }: Call, person: string, charge: string): Promise<Payment> {
  const [row] = await context.db.query<Payment>(
    `select t.id, t.chat_id as chat, t.answer as receipt, t.invoice,
       t.refunded_at is not null as "isRefunded", ${personJson('p')} as person,
       coalesce(c.native, t.person_id) as native
     from sandbox_payment t
     join sandbox_person p on p.id = t.person_id
     join sandbox_chat c on c.id = t.chat_id
     where t.bot_id = $1 and t.person_id = $2 and t.paid_at is not null
       and t.answer ->> 'charge' = $3 and t.invoice ->> 'currency' = '${STARS}'`,
    [by.person, parseChatId(person), charge],
  )
  if (!row) throw bad('CHARGE_ID_INVALID')
  return row
}

function unlessForbidden(cause: unknown): void {
  if (!(cause instanceof RequestFailed) || cause.failure.code !== 'forbidden') throw cause
}

export async function refundStars(
  call: Call,
  { person, charge }: OperationOf<'refund_stars'>,
): Promise<OperationResult> {
  const { context, by } = call
  const payment = await paymentOf(call, person, charge)
  const { id, receipt, native } = payment
  await withOutbox(context, async (tx, outbox) => {
    const rows = await tx.query(
      'update sandbox_payment set refunded_at = $2 where id = $1 and refunded_at is null returning id',
      [id, new Date(context.now())],
    )
    if (rows.length === 0) throw bad('CHARGE_ALREADY_REFUNDED')
    await moveStars(tx, by.person, payment.person.id, receipt.total)
    // Who has blocked the bot gets the Stars back, too, without a message.
    await announce({ outbox }, by, native, { fact: 'refunded', receipt }).catch(unlessForbidden)
  })
  return { kind: 'done' }
}

export async function changeSubscription(
  call: Call,
  { person, charge, isCanceled }: OperationOf<'change_subscription'>,
): Promise<OperationResult> {
  const { context } = call
  const { id, invoice } = await paymentOf(call, person, charge)
  if (invoice.periodSeconds === undefined) throw bad('CHARGE_ID_INVALID')
  const rows = await context.db.query(
    'update sandbox_payment set is_canceled = $2 where id = $1 and is_canceled <> $2 returning id',
    [id, isCanceled],
  )
  if (rows.length === 0) throw bad('CHARGE_NOT_MODIFIED')
  return { kind: 'done' }
}
