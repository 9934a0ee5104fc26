/** A person pays an invoice: the bot names the ways of shipping and agrees, then the money moves at once. */
import { randomBytes } from 'node:crypto'
import { badRequest, notFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import {
  type Invoice,
  type Order,
  type Receipt,
  type ShippingOption,
  STARS,
} from '../../../machines/model/payment.ts'
import type { Queryable } from '../../database/database.ts'
import { type FoundMessage, findMessage, type MessageRef } from '../chats/find-message.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { announce, withOutbox } from '../chats/transaction.ts'
import type { Hub } from '../delivery/hub.ts'
import { personOf } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import { storable } from '../messages/content.ts'
import type { Call, NetworkContext, Outbox } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'
import { buyPaid, moveStars } from './stars.ts'

const TOO_OLD = 'query is too old and response timeout expired or query ID is invalid'
const SHIPPING_SECONDS = 60
/** As in the reference. */
const CHECKOUT_SECONDS = 10
const LINK = 'https://sandbox.invalid/$'

/** By the message that carries the invoice or paid media, by a link to it, or a payment that waits for the way of shipping. */
export type Payable =
  | { readonly at: MessageRef }
  | { readonly link: string }
  | { readonly payment: string }

interface Details {
  readonly order?: Order
  readonly option?: string
  readonly tip?: number
}

type Paying = Details & { readonly for: Payable }

export type Paid =
  | { readonly state: 'unanswered'; readonly payment: string }
  | { readonly state: 'refused'; readonly payment: string; readonly error: string }
  /** The buyer chooses one of these ways of shipping. */
  | {
      readonly state: 'shipping'
      readonly payment: string
      readonly options: readonly ShippingOption[]
    }
  | { readonly state: 'paid'; readonly payment: string; readonly receipt: Receipt }

interface Answer {
  readonly options?: readonly ShippingOption[]
  readonly error?: string
}

interface Bill {
  readonly bot: number
  readonly invoice: Invoice
  /** The id of the chat's row, and its native id for the buyer. */
  readonly chat: number
  readonly native: number
}

interface Row extends Bill {
  readonly id: number
  readonly details: Details
  readonly step: 'shipping' | 'checkout'
  readonly answer: Answer | null
}

export class Checkout {
  readonly #context: NetworkContext
  readonly #hub: Hub
  readonly #assertIn: (person: number) => Promise<void>

  /** `assertIn` rejects for a person of another network. */
  constructor(context: NetworkContext, hub: Hub, assertIn: (person: number) => Promise<void>) {
    this.#context = context
    this.#hub = hub
    this.#assertIn = assertIn
  }

  /** Pays, and waits for the answers of the bot until the signal aborts. */
  async pay(
    person: number,
    { for: payable, ...details }: Paying,
    signal: AbortSignal,
  ): Promise<Paid> {
    await this.#assertIn(person)
    if ('payment' in payable) return this.#goOn(person, payable.payment, details, signal)
    const found = 'at' in payable && (await findMessage(this.#context.db, person, payable.at))
    if (found && found.content.kind === 'paid_media') {
      return { state: 'paid', ...(await buyPaid(this.#context, person, found, found.content.paid)) }
    }
    const bill =
      'at' in payable
        ? await this.#sent(person, payable.at, found || undefined)
        : await this.#linked(person, payable.link)
    assertDetails(bill.invoice, details)
    const step = bill.invoice.isFlexible ? 'shipping' : 'checkout'
    const id = await this.#begin(person, bill, details, step)
    return step === 'shipping'
      ? this.#askShipping(person, id, bill, details, signal)
      : this.#askCheckout(person, { ...bill, id, details, step, answer: null }, signal)
  }

  async changeSubscription(person: number, charge: string, isCanceled: boolean): Promise<void> {
    await this.#assertIn(person)
    await changeOwnSubscription(this.#context, person, charge, isCanceled)
  }

  /** The invoice behind a link, and the bot that wants to be paid. */
  async linked(person: number, link: string) {
    await this.#assertIn(person)
    const { bot, invoice } = await this.#linked(person, link)
    return { invoice, bot: personOf(await this.#person(bot)) }
  }

  async #sent(person: number, at: MessageRef, found: FoundMessage | undefined): Promise<Bill> {
    if (found?.content.kind !== 'invoice') throw badRequest('message is not an invoice')
    const { content, chat, sender, via } = found
    const isForeign = found.isForwarded || found.isInline
    const bot = via ? Number(via) : sender
    // A forward or an inline message is paid in the private chat with the bot.
    const place = isForeign ? await this.#private(person, bot) : { chat, native: at.chat }
    return { bot, invoice: content.invoice, ...place }
  }

  async #linked(person: number, link: string): Promise<Bill> {
    const slug = link.startsWith(LINK) ? link.slice(LINK.length) : link
    const [row] = await this.#context.db.query<{ bot: number; invoice: Invoice }>(
      `select i.bot_id as bot, i.invoice from sandbox_invoice i
       join sandbox_person p on p.id = i.bot_id where i.slug = $1 and p.user_id = $2`,
      [slug, this.#context.network],
    )
    if (!row) throw badRequest('INVOICE_INVALID')
    return { ...row, ...(await this.#private(person, row.bot)) }
  }

  async #private(person: number, bot: number): Promise<Pick<Bill, 'chat' | 'native'>> {
    const { db } = this.#context
    await openPrivateChat(db, person, bot)
    const [row] = await db.query<{ id: number }>(
      `select id from sandbox_chat where low_id = least($1::bigint, $2::bigint)
         and high_id = greatest($1::bigint, $2::bigint)`,
      [person, bot],
    )
    if (!row) throw notFound('chat')
    return { chat: row.id, native: bot }
  }

  async #begin(person: number, bill: Bill, details: Details, step: string): Promise<number> {
    const { db, now } = this.#context
    const [row] = await db.query<{ id: number }>(
      `insert into sandbox_payment (person_id, bot_id, chat_id, invoice, details, step, asked_at)
       values ($1, $2, $3, $4, $5, $6, $7) returning id`,
      [
        ...[person, bill.bot, bill.chat, JSON.stringify(bill.invoice)],
        ...[JSON.stringify(storable(details)), step, new Date(now())],
      ],
    )
    return row!.id
  }

  async #askShipping(
    person: number,
    id: number,
    bill: Bill,
    { order }: Details,
    signal: AbortSignal,
  ): Promise<Paid> {
    const address = order?.shipping_address
    if (!address) throw badRequest('ORDER_INFO_INVALID')
    const facts = {
      id: `${id}`,
      person: personOf(await this.#person(person)),
      payload: bill.invoice.payload,
      address,
    }
    const event = { kind: 'shipping_query' as const, chat: bill.chat, actor: person, facts }
    await notify(this.#context, event, { people: [bill.bot] })
    const answer = await this.#hub.until(() => this.#answer(id), signal)
    const payment = `${id}`
    if (!answer) return { state: 'unanswered', payment }
    if (answer.error !== undefined) return { state: 'refused', payment, error: answer.error }
    return { state: 'shipping', payment, options: answer.options ?? [] }
  }

  /** The buyer has chosen a way of shipping. */
  async #goOn(
    person: number,
    payment: string,
    details: Details,
    signal: AbortSignal,
  ): Promise<Paid> {
    const { db, now } = this.#context
    const [row] = await db.query<Row>(
      `select p.id, p.bot_id as bot, p.invoice, p.chat_id as chat, p.details, p.step, p.answer,
         coalesce(c.native, case when c.low_id = $2 then c.high_id else c.low_id end) as native
       from sandbox_payment p join sandbox_chat c on c.id = p.chat_id
       where p.id = $1 and p.person_id = $2 and p.step = 'shipping'`,
      [/^\d{1,15}$/.test(payment) ? payment : null, person],
    )
    const isOffered = row?.answer?.options?.some(({ id }) => id === details.option)
    if (!row || !isOffered) throw badRequest('SHIPPING_OPTION_INVALID')
    const chosen = { ...row.details, ...details }
    const goesOn = await db.query(
      `update sandbox_payment set step = 'checkout', details = $2, asked_at = $3
       where id = $1 and step = 'shipping' returning id`,
      [row.id, JSON.stringify(storable(chosen)), new Date(now())],
    )
    if (goesOn.length === 0) throw badRequest('SHIPPING_OPTION_INVALID')
    return this.#askCheckout(person, { ...row, details: chosen }, signal)
  }

  async #askCheckout(person: number, row: Row, signal: AbortSignal): Promise<Paid> {
    const { invoice, details, id, bot } = row
    const total = totalOf(row)
    const facts = {
      id: `${id}`,
      person: personOf(await this.#person(person)),
      payload: invoice.payload,
      currency: invoice.currency,
      total,
      ...(details.option !== undefined && { option: details.option }),
      ...(details.order && { order: details.order }),
    }
    const event = { kind: 'checkout_query' as const, chat: row.chat, actor: person, facts }
    await notify(this.#context, event, { people: [bot] })
    const over = AbortSignal.any([signal, AbortSignal.timeout(CHECKOUT_SECONDS * 1000)])
    const answer = await this.#hub.until(() => this.#answer(id, 'checkout'), over)
    const payment = `${id}`
    if (!answer) return { state: 'unanswered', payment }
    if (answer.error !== undefined) return { state: 'refused', payment, error: answer.error }
    const receipt = await this.#charge(person, row, total)
    return { state: 'paid', payment, receipt }
  }

  async #charge(person: number, { id, bot, invoice, details, native }: Row, total: number) {
    const { now, capacity, network } = this.#context
    const at = now()
    const receipt: Receipt = {
      currency: invoice.currency,
      total,
      payload: invoice.payload,
      charge: `sandbox_${id}_${randomBytes(6).toString('hex')}`,
      providerCharge: invoice.currency === STARS ? '' : `fake_${id}`,
      ...(details.option !== undefined && { option: details.option }),
      ...(details.order && { order: details.order }),
      ...(invoice.periodSeconds !== undefined && {
        paidUntil: Math.floor(at / 1000) + invoice.periodSeconds,
      }),
    }
    const payment = { id, person, bot, native }
    await capacity.reserve(network, 1, () =>
      withOutbox(this.#context, (tx, outbox) => this.#settle(tx, outbox, payment, receipt, at)),
    )
    return receipt
  }

  /** The charge and the message that tells the bot of it are stored together: one without the other would be a loss. */
  async #settle(
    tx: Queryable,
    outbox: Outbox,
    { id, person, bot, native }: Pick<Row, 'id' | 'bot' | 'native'> & { readonly person: number },
    receipt: Receipt,
    at: number,
  ) {
    if (receipt.currency === STARS) await moveStars(tx, person, bot, receipt.total)
    await tx.query(
      `update sandbox_payment set step = 'paid', paid_at = $2, answer = $3 where id = $1`,
      [id, new Date(at), JSON.stringify(receipt)],
    )
    await announce({ outbox }, { person }, native, { fact: 'paid', receipt })
  }

  /** The answer to the question of this step; of any step where none is named. */
  async #answer(payment: number, step?: string): Promise<Answer | null> {
    const [row] = await this.#context.db.query<{ answer: (Answer & { of: string }) | null }>(
      'select answer from sandbox_payment where id = $1',
      [payment],
    )
    const answer = row?.answer ?? null
    return step === undefined || answer?.of === step ? answer : null
  }

  async #person(person: number): Promise<PersonRow> {
    const [row] = await this.#context.db.query<{ person: PersonRow }>(
      `select ${personJson('p')} as person from sandbox_person p where id = $1`,
      [person],
    )
    return row!.person
  }
}

function totalOf({ invoice, details, answer }: Row): number {
  const option = answer?.options?.find(({ id }) => id === details.option)
  const shipping = (option?.prices ?? []).reduce((sum, { amount }) => sum + amount, 0)
  return invoice.total + shipping + (details.tip ?? 0)
}

function assertDetails({ asks, maxTip }: Invoice, { order = {}, tip = 0 }: Details): void {
  if (asks.some((part) => order[part] === undefined)) throw badRequest('ORDER_INFO_INVALID')
  if (tip > maxTip) throw badRequest('TIP_AMOUNT_INVALID')
}

export async function answerPayment(
  { context: { db, wake, now }, by }: Call,
  operation: OperationOf<'answer_shipping' | 'answer_checkout'>,
): Promise<OperationResult> {
  const { kind, query, ...answer } = operation
  const step = kind === 'answer_shipping' ? 'shipping' : 'checkout'
  const seconds = step === 'shipping' ? SHIPPING_SECONDS : CHECKOUT_SECONDS
  const rows = await db.query(
    `update sandbox_payment set answer = $4
     where id = $1 and bot_id = $2 and step = $3 and asked_at > $5
       and (answer ->> 'of') is distinct from $3 returning id`,
    [
      ...[/^\d{1,15}$/.test(query) ? query : null, by.person, step],
      ...[JSON.stringify(storable({ ...answer, of: step })), new Date(now() - seconds * 1000)],
    ],
  )
  if (rows.length === 0) throw badRequest(TOO_OLD)
  wake([])
  return { kind: 'done' }
}

export async function invoiceLink(
  { context, by }: Call,
  { invoice }: OperationOf<'invoice_link'>,
): Promise<OperationResult> {
  const slug = randomBytes(12).toString('base64url')
  await context.db.query(
    'insert into sandbox_invoice (slug, bot_id, invoice) values ($1, $2, $3)',
    [slug, by.person, JSON.stringify(storable(invoice))],
  )
  return { kind: 'link', link: `${LINK}${slug}` }
}

/** The buyer ends a subscription, or resumes it; the bot is notified. */
async function changeOwnSubscription(
  { db, wake }: Pick<NetworkContext, 'db' | 'wake'>,
  person: number,
  charge: string,
  isCanceled: boolean,
): Promise<void> {
  const [row] = await db.query<{
    readonly chat: number
    readonly bot: number
    readonly invoice: Invoice
    readonly person: PersonRow
  }>(
    `update sandbox_payment t set is_canceled = $3
     from sandbox_person p
     where p.id = t.person_id and t.person_id = $1 and t.answer ->> 'charge' = $2
       and t.invoice ? 'periodSeconds' and t.is_canceled <> $3
     returning t.chat_id as chat, t.bot_id as bot, t.invoice, ${personJson('p')} as person`,
    [person, charge, isCanceled],
  )
  if (!row) throw badRequest('CHARGE_ID_INVALID')
  const state = isCanceled ? ('canceled' as const) : ('active' as const)
  const facts = { person: personOf(row.person), payload: row.invoice.payload, state }
  const event = { kind: 'subscription' as const, chat: row.chat, actor: person, facts }
  await notify({ db, wake }, event, { people: [row.bot] })
}
