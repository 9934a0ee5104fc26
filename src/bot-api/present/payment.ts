/** Invoices, payments and Telegram Stars in the reference's JSON. */
import type { Happening } from '../../../machines/model/happening.ts'
import type { Invoice, Receipt, StarTransaction } from '../../../machines/model/payment.ts'
import { chatJson, type Names, present, userJson } from './chat.ts'
import { giftJson } from './gifts.ts'

export const invoiceJson = ({ title, description, start, currency, total }: Invoice): object => ({
  title,
  description,
  start_parameter: start ?? '',
  currency,
  total_amount: total,
})

export const receiptJson = (receipt: Receipt, isRefund: boolean): object => ({
  currency: receipt.currency,
  total_amount: receipt.total,
  invoice_payload: receipt.payload,
  telegram_payment_charge_id: receipt.charge,
  provider_payment_charge_id: receipt.providerCharge,
  ...(!isRefund && {
    ...present({
      shipping_option_id: receipt.option,
      order_info: receipt.order,
      subscription_expiration_date: receipt.paidUntil,
    }),
    ...(receipt.paidUntil !== undefined && { is_recurring: true, is_first_recurring: true }),
  }),
})

export const transactionsJson = (all: readonly StarTransaction[], ids: Names): object => ({
  transactions: all.map((transaction) => transactionJson(transaction, ids)),
})

function transactionJson(transaction: StarTransaction, ids: Names): object {
  const { id, amount, at, direction } = transaction
  const partner = partnerJson(transaction, ids)
  const side = direction === 'incoming' ? { source: partner } : { receiver: partner }
  return { id, amount, date: at, ...side }
}

function partnerJson(transaction: StarTransaction, ids: Names): object {
  const { person, chat, service = 'other', purpose = 'invoice_payment' } = transaction
  const { payload, periodSeconds, gift, premiumMonths } = transaction
  const given = { gift: gift && giftJson(gift, ids) }
  if (chat) return { type: 'chat', chat: chatJson(chat, ids), ...present(given) }
  if (!person) return { type: service }
  return {
    type: 'user',
    transaction_type: purpose,
    user: userJson(person, ids),
    ...present({
      invoice_payload: payload,
      subscription_period: periodSeconds,
      premium_subscription_duration: premiumMonths,
      ...given,
    }),
  }
}

type PaymentHappening = Extract<
  Happening,
  { kind: 'shipping_query' | 'checkout_query' | 'subscription' }
>

/** The name of the update and its value. */
export function paymentJson(
  happening: PaymentHappening,
  ids: Names,
): readonly ['shipping_query' | 'pre_checkout_query' | 'subscription', object] {
  const user = userJson(happening.person, ids)
  const { payload } = happening
  switch (happening.kind) {
    case 'shipping_query': {
      const { id, address } = happening
      const value = { id, from: user, invoice_payload: payload, shipping_address: address }
      return ['shipping_query', value]
    }
    case 'checkout_query': {
      const { id, currency, total, option, order } = happening
      const asked = { id, from: user, currency, total_amount: total, invoice_payload: payload }
      const more = present({ shipping_option_id: option, order_info: order })
      return ['pre_checkout_query', { ...asked, ...more }]
    }
    case 'subscription':
      return ['subscription', { user, invoice_payload: payload, state: happening.state }]
  }
}
