/** Gifts, invoices, receipts and stars in the reference's JSON. */

import type { Gift, GiftBackdrop, GiftPicture, OwnedGift } from '../../../machines/model/gift.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import type { StarTransaction } from '../../../machines/model/operation-payments.ts'
import {
  type Invoice,
  type PostFact,
  type PostTerms,
  type Receipt,
  STARS,
  type SuggestedPost,
} from '../../../machines/model/payment.ts'
import { chatJson, type Names, present, userJson } from './chat.ts'
import { markedJson, paidItemJson, stickerJson } from './content.ts'

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
  const { payload, periodSeconds, gift, premiumMonths, media } = transaction
  const given = { gift: gift && giftJson(gift, ids) }
  if (chat) return { type: 'chat', chat: chatJson(chat, ids), ...present(given) }
  if (!person) return { type: service }
  return {
    type: 'user',
    transaction_type: purpose,
    user: userJson(person, ids),
    ...present({
      [purpose === 'paid_media_payment' ? 'paid_media_payload' : 'invoice_payload']: payload,
      paid_media: media?.map((item) => paidItemJson(item, ids)),
      subscription_period: periodSeconds,
      premium_subscription_duration: premiumMonths,
      ...given,
    }),
  }
}

type PaymentHappening = Extract<
  Happening,
  { kind: 'shipping_query' | 'checkout_query' | 'subscription' | 'media_purchase' }
>

/** The name of the update and its value. */
export function paymentJson(
  happening: PaymentHappening,
  ids: Names,
): readonly [
  'shipping_query' | 'pre_checkout_query' | 'subscription' | 'purchased_paid_media',
  object,
] {
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
    case 'media_purchase':
      return ['purchased_paid_media', { from: user, paid_media_payload: payload }]
  }
}

export const giftJson = (gift: Gift, ids: Names) => ({
  id: gift.id,
  sticker: stickerJson(gift.sticker, ids),
  star_count: gift.stars,
  ...present({
    upgrade_star_count: gift.upgradeStars,
    total_count: gift.total,
    remaining_count: gift.remaining,
  }),
})

/** Looks like the gift that it was before; colours as RGB. */
const PLAIN = {
  permille: 1000,
  center: 0x8ab4f8,
  edge: 0x3c5a99,
  symbol: 0x1f2f55,
  text: 0xffffff,
}

function uniqueJson({ gift, unique }: OwnedGift, ids: Names) {
  const {
    name = '',
    number = 0,
    slug = `${name}-${number}`,
    model,
    symbol,
    backdrop,
  } = unique ?? {}
  const plain = { name, sticker: gift.sticker, permille: 1000 }
  return {
    gift_id: gift.id,
    base_name: name,
    name: slug,
    number,
    model: pictureJson(model ?? plain, ids),
    symbol: pictureJson(symbol ?? plain, ids),
    backdrop: backdropJson(backdrop ?? { name, ...PLAIN }),
  }
}

const pictureJson = ({ name, sticker, permille }: GiftPicture, ids: Names) => ({
  name,
  sticker: stickerJson(sticker, ids),
  rarity_per_mille: permille,
})

const backdropJson = ({ name, permille, center, edge, symbol, text }: GiftBackdrop) => ({
  name,
  colors: { center_color: center, edge_color: edge, symbol_color: symbol, text_color: text },
  rarity_per_mille: permille,
})

export function ownedGiftJson(owned: OwnedGift, ids: Names): object {
  const { id, sender, at, isSaved, unique, transferStars } = owned
  const shown = {
    send_date: at,
    ...present({
      owned_gift_id: id,
      sender_user: sender && userJson(sender, ids),
      is_saved: isSaved || undefined,
    }),
  }
  if (unique) {
    const passing = { can_be_transferred: true, ...present({ transfer_star_count: transferStars }) }
    return { type: 'unique', gift: uniqueJson(owned, ids), ...shown, ...(id && passing) }
  }
  return { type: 'regular', ...shown, ...detailsJson(owned, ids) }
}

/** The gift as the message shows it that brought it. */
export const giftInfoJson = (owned: OwnedGift, ids: Names): object => ({
  ...present({ owned_gift_id: owned.id }),
  ...detailsJson(owned, ids),
})

const detailsJson = (owned: OwnedGift, ids: Names) => ({
  gift: giftJson(owned.gift, ids),
  ...present({
    convert_star_count: owned.convertStars,
    prepaid_upgrade_star_count: owned.prepaidStars,
    can_be_upgraded: owned.gift.upgradeStars === undefined ? undefined : true,
  }),
  ...(owned.text.text && { text: owned.text.text, ...markedJson('entities', owned.text, ids) }),
})

const priceJson = (price: PostTerms['price']) => present({ price })

export const suggestionJson = ({ state, price, sendAt }: SuggestedPost): object => ({
  state,
  ...priceJson(price),
  ...present({ send_date: sendAt }),
})

/** `post` is the message with the suggestion, in the reference's JSON. */
export function postFactJson(content: PostFact<unknown>, post: object | undefined): object {
  const about = present({ suggested_post_message: post })
  switch (content.fact) {
    case 'post_approved': {
      const { price, sendAt: send_date } = content
      return { suggested_post_approved: { ...about, ...priceJson(price), send_date } }
    }
    case 'post_approval_failed':
      return { suggested_post_approval_failed: { ...about, price: content.price } }
    case 'post_declined':
      return { suggested_post_declined: { ...about, ...present({ comment: content.comment }) } }
    case 'post_paid': {
      const { currency, amount } = content.price
      const nanostar_amount = content.billionths
      const stars = { star_amount: present({ amount, nanostar_amount }) }
      const sum = currency === STARS ? stars : { amount }
      return { suggested_post_paid: { ...about, currency, ...sum } }
    }
    case 'post_refunded':
      return { suggested_post_refunded: { ...about, reason: content.reason } }
  }
}
