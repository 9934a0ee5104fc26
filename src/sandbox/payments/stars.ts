/** The Telegram Stars of an account: what came and went, refunds paid media and subscriptions. */
import { randomBytes } from 'node:crypto'
import { badRequest, RequestFailed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { StarTransaction } from '../../../machines/model/operation-payments.ts'
import {
  type Invoice,
  type PaidItem,
  type PaidMedia,
  type Receipt,
  STARS,
} from '../../../machines/model/payment.ts'
import type { Queryable } from '../../database/database.ts'
import type { FoundMessage } from '../chats/find-message.ts'
import { announce, withOutbox } from '../chats/transaction.ts'
import { chatOf, parseChatId, personOf } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { type ChatRow, chatJson, type PersonRow, personJson } from '../network/rows.ts'

/** Within a transaction. Rejects where the person has too few. */
export async function moveStars(
  tx: Queryable,
  from: number,
  to: number,
  amount: number,
): Promise<void> {
  // In one order, so that two payments cannot wait for each other.
  await tx.query('select from sandbox_person where id = any($1) order by id for no key update', [
    [from, to],
  ])
  const rows = await tx.query(
    'update sandbox_person set stars = stars - $2 where id = $1 and stars >= $2 returning id',
    [from, amount],
  )
  if (rows.length === 0) throw badRequest('BALANCE_TOO_LOW')
  await tx.query('update sandbox_person set stars = stars + $2 where id = $1', [to, amount])
}

/** Either of an invoice or, with its purpose, without one. */
interface Entry {
  readonly id: string
  readonly amount: number
  readonly invoice: Invoice | null
  /** Only of paid media. */
  readonly media: readonly PaidItem[] | null
  readonly purpose: StarTransaction['purpose'] | null
  readonly details: Pick<StarTransaction, 'gift' | 'premiumMonths'> | null
  readonly person: PersonRow | null
  readonly chat: ChatRow | null
  readonly at: number
  readonly isIncoming: boolean
}

const ENTRIES = `
  select answer ->> 'charge' as id, (answer ->> 'total')::bigint as amount, invoice,
    null as purpose, null::jsonb as details, person_id as partner_id,
    null::bigint as chat_id, paid_at as at, true as is_incoming, paid_media
  from sandbox_payment
  where bot_id = $1 and paid_at is not null and invoice ->> 'currency' = '${STARS}'
  union all
  select answer ->> 'charge', (answer ->> 'total')::bigint, invoice, null, null,
    person_id, null, refunded_at, false, paid_media
  from sandbox_payment where bot_id = $1 and refunded_at is not null
  union all
  select id, amount, null, purpose, details, partner_id, chat_id, at, is_incoming, null
  from sandbox_star_entry where person_id = $1`

/** In the order of time, as in the reference. */
export async function starTransactions(
  { context, by }: Call,
  { offset, limit }: OperationOf<'star_transactions'>,
): Promise<OperationResult> {
  const rows = await context.db.query<Entry>(
    `select t.id, t.amount, t.invoice, t.purpose, t.details, s.media, t.is_incoming as "isIncoming",
       floor(extract(epoch from t.at))::bigint as at, ${personJson('p')} as person,
       case when c.id is not null then ${chatJson('c')} end as chat
     from (${ENTRIES}) t
     left join sandbox_person p on p.id = t.partner_id
     left join sandbox_chat c on c.id = t.chat_id
     left join sandbox_paid_media s on s.id = t.paid_media
     order by t.at, t.id, not t.is_incoming offset $2 limit $3`,
    [by.person, offset, limit],
  )
  return { kind: 'transactions', transactions: rows.map(transactionOf) }
}

function transactionOf(entry: Entry): StarTransaction {
  const { id, amount, at, purpose, isIncoming, invoice, details, person, chat, media } = entry
  return {
    id,
    amount,
    at,
    ...(purpose && { purpose }),
    direction: isIncoming ? 'incoming' : 'outgoing',
    ...(person && { person: personOf(person) }),
    ...(chat && { chat: chatOf(chat, null) }),
    ...(invoice && (!media || invoice.payload) && { payload: invoice.payload }),
    ...(media && { media, purpose: 'paid_media_payment' }),
    ...(invoice?.periodSeconds !== undefined && { periodSeconds: invoice.periodSeconds }),
    ...details,
  }
}

interface Payment {
  readonly id: number
  readonly chat: number
  readonly native: number
  readonly receipt: Receipt
  readonly invoice: Invoice
  readonly isRefunded: boolean
  readonly isMedia: boolean
  readonly person: PersonRow
}

/** Undefined where the person has paid nothing under this number. */
async function paymentOf(
  { context, by }: Call,
  person: string,
  charge: string,
): Promise<Payment | undefined> {
  const [row] = await context.db.query<Payment>(
    `select t.id, t.chat_id as chat, t.answer as receipt, t.invoice,
       t.refunded_at is not null as "isRefunded",
       t.paid_media is not null as "isMedia", ${personJson('p')} as person,
       coalesce(c.native, t.person_id) as native
     from sandbox_payment t
     join sandbox_person p on p.id = t.person_id
     join sandbox_chat c on c.id = t.chat_id
     where t.bot_id = $1 and t.person_id = $2 and t.paid_at is not null
       and t.answer ->> 'charge' = $3 and t.invoice ->> 'currency' = '${STARS}'`,
    [by.person, parseChatId(person), charge],
  )
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
  if (!payment) throw badRequest('CHARGE_ID_EMPTY')
  const { id, receipt, native, isMedia } = payment
  await withOutbox(context, async (tx, outbox) => {
    const rows = await tx.query(
      'update sandbox_payment set refunded_at = $2 where id = $1 and refunded_at is null returning id',
      [id, new Date(context.now())],
    )
    if (rows.length === 0) throw badRequest('CHARGE_ALREADY_REFUNDED')
    await moveStars(tx, by.person, payment.person.id, receipt.total)
    // A group is not notified of who has paid for media.
    if (isMedia && native < 0) return
    // People who have blocked the bot get the Stars back, but no message.
    await announce({ outbox }, by, native, { fact: 'refunded', receipt }).catch(unlessForbidden)
  })
  return { kind: 'done' }
}

export async function changeSubscription(
  call: Call,
  { person, charge, isCanceled }: OperationOf<'change_subscription'>,
): Promise<OperationResult> {
  const { context } = call
  const payment = await paymentOf(call, person, charge)
  if (payment?.invoice.periodSeconds === undefined) throw badRequest('CHARGE_ID_INVALID')
  const rows = await context.db.query(
    'update sandbox_payment set is_canceled = $2 where id = $1 and is_canceled <> $2 returning id',
    [payment.id, isCanceled],
  )
  if (rows.length === 0) throw badRequest('CHARGE_NOT_MODIFIED')
  return { kind: 'done' }
}

interface PaidSubscription {
  readonly title: string
  readonly stars: number
  readonly expiresAt: Date
  /** Only of a subscription to a bot. */
  readonly charge: string | null
  readonly isCanceled: boolean
}

/** The subscriptions of a person; the one that ends next comes first. */
export function subscriptionsOf(
  { db, now }: Pick<NetworkContext, 'db' | 'now'>,
  person: number,
): Promise<PaidSubscription[]> {
  return db.query<PaidSubscription>(
    `select invoice ->> 'title' as title, (invoice ->> 'total')::int as stars,
       paid_at + make_interval(secs => (invoice ->> 'periodSeconds')::int) as "expiresAt",
       answer ->> 'charge' as charge, is_canceled as "isCanceled"
     from sandbox_payment
     where person_id = $1 and invoice ? 'periodSeconds' and refunded_at is null
       and paid_at + make_interval(secs => (invoice ->> 'periodSeconds')::int) > to_timestamp($2)
     union all
     select c.title, i.subscription_stars, m.subscribed_until, null, false
     from sandbox_member m join sandbox_chat c on c.id = m.chat_id
     join sandbox_invite i on i.link = m.link
     where m.person_id = $1 and m.role = 'member' and m.subscribed_until > to_timestamp($2)
     order by 3 limit 100`,
    [person, now() / 1000],
  )
}

interface Offer {
  readonly seller: number
  readonly isOwn: boolean
  readonly inChannel: boolean
  readonly stars: number
  readonly payload: string | null
  readonly person: PersonRow
}

const offering = `
  select p.seller_id as seller, $2::bigint in (p.sender_id, p.seller_id) as "isOwn",
    p.in_channel as "inChannel", p.stars, p.payload, ${personJson('b')} as person
  from sandbox_paid_media p join sandbox_person b on b.id = $2
  where p.id = $1`

const paying = `
  insert into sandbox_payment
    (person_id, bot_id, chat_id, invoice, details, step, asked_at, paid_at, answer, paid_media)
  values ($1, $2, $3, $4, '{}', 'paid', $5, $5, $6, $7)
  on conflict (paid_media, person_id) where paid_media is not null and refunded_at is null
  do nothing returning id`

/** Pays for the media of a message at once. The seller is notified if it gave a payload, except in channels. */
export async function buyPaid(
  { db, wake, now }: Pick<NetworkContext, 'db' | 'wake' | 'now'>,
  person: number,
  { chat }: Pick<FoundMessage, 'chat'>,
  { id }: Pick<PaidMedia, 'id'>,
): Promise<{ readonly payment: string; readonly receipt: Receipt }> {
  const woken: number[] = []
  const later = (people: readonly number[]) => woken.push(...people)
  const paid = await db.transaction(async (tx) => {
    const [offer] = await tx.query<Offer>(offering, [id, person])
    if (!offer) throw badRequest('MESSAGE_ID_INVALID')
    const receipt = receiptOf(offer)
    const values = [person, offer.seller, chat, JSON.stringify(invoiceOf(offer)), new Date(now())]
    const [row] = offer.isOwn
      ? []
      : await tx.query<{ readonly id: number }>(paying, [...values, JSON.stringify(receipt), id])
    if (!row) throw badRequest('MEDIA_ALREADY_PAID')
    await moveStars(tx, person, offer.seller, offer.stars)
    if (offer.payload && !offer.inChannel) {
      const facts = { person: personOf(offer.person), payload: offer.payload }
      const event = { kind: 'media_purchase' as const, chat, actor: person, facts }
      await notify({ db: tx, wake: later }, event, { people: [offer.seller] })
    }
    return { payment: `${row.id}`, receipt }
  })
  // The buyer sees the files at once.
  wake([person, ...woken])
  return paid
}

const receiptOf = ({ stars, payload }: Offer): Receipt => ({
  currency: STARS,
  total: stars,
  payload: payload ?? '',
  charge: `sandbox_media_${randomBytes(9).toString('hex')}`,
  providerCharge: '',
})

const invoiceOf = ({ stars, payload }: Offer): Invoice => ({
  title: '',
  description: '',
  payload: payload ?? '',
  currency: STARS,
  prices: [{ label: '', amount: stars }],
  total: stars,
  asks: [],
  isFlexible: false,
  maxTip: 0,
  tips: [],
})
