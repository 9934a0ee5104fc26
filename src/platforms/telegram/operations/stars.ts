/** The account's own Telegram Stars, and what it pays with them. */
import { PeersIndex, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { StarTransaction } from '../../../../machines/model/operation-payments.ts'
import { giftOf } from '../reading/gifts.ts'
import { chatOf, personById, type View } from '../reading/peers.ts'
import { type Context, readOptions } from './context.ts'

const self: tl.RawInputPeerSelf = { _: 'inputPeerSelf' }

/** The network pages by names of its own: it is asked for no more than so many transactions to reach an offset. */
const REACH = 2_000
const PAGE = 100

export const stars: Handlers<Context> = {
  async star_balance(context) {
    const request = { _: 'payments.getStarsStatus', peer: self } as const
    const { balance } = await context.calls.call(request, readOptions(context))
    return { kind: 'stars', stars: amountOf(balance) }
  },

  async star_transactions(context, { offset, limit }) {
    const end = offset + limit
    if (end > REACH) throw failed('bad_request', `only the first ${REACH} transactions can be read`)
    const transactions: StarTransaction[] = []
    for (let next: string | undefined = ''; next !== undefined && transactions.length < end; ) {
      const request = { _: 'payments.getStarsTransactions', ascending: true, peer: self } as const
      const page: tl.payments.RawStarsStatus = await context.calls.call(
        { ...request, offset: next, limit: PAGE },
        readOptions(context),
      )
      const view: View = { self: context.self, peers: PeersIndex.from(page) }
      transactions.push(...(page.history ?? []).map((one) => transactionOf(one, view)))
      next = page.nextOffset || undefined
    }
    return { kind: 'transactions', transactions: transactions.slice(offset, end) }
  },
}

const amountOf = (stars: tl.TypeStarsAmount): number =>
  stars._ === 'starsAmount' ? stars.amount.toNumber() : 0

/** Outgoing transactions have negative amounts on the network. */
function transactionOf(one: tl.RawStarsTransaction, view: View): StarTransaction {
  const { id, amount, date, refund, subscriptionPeriod, stargift, premiumGiftMonths } = one
  const stars = amountOf(amount)
  const gift = stargift && giftOf(stargift)
  const purpose = purposeOf(one)
  return {
    id,
    amount: Math.abs(stars),
    at: date,
    direction: stars < 0 ? 'outgoing' : 'incoming',
    ...partnerOf(one.peer, view),
    ...(purpose && { purpose }),
    ...(one.botPayload && { payload: Buffer.from(one.botPayload).toString() }),
    ...(gift && !refund && { gift }),
    ...(premiumGiftMonths !== undefined && { premiumMonths: premiumGiftMonths }),
    ...(subscriptionPeriod !== undefined && { periodSeconds: subscriptionPeriod }),
  }
}

function purposeOf(one: tl.RawStarsTransaction): StarTransaction['purpose'] {
  if (one.premiumGiftMonths !== undefined) return 'premium_purchase'
  if (one.stargift) return 'gift_purchase'
  return one.extendedMedia ? 'paid_media_payment' : undefined
}

type Partner = Pick<StarTransaction, 'person' | 'chat' | 'service'>

function partnerOf(peer: tl.TypeStarsTransactionPeer, view: View): Partner {
  switch (peer._) {
    case 'starsTransactionPeer':
      return peer.peer._ === 'peerUser'
        ? { person: personById(peer.peer.userId, view) }
        : { chat: chatOf(peer.peer, view) }
    case 'starsTransactionPeerFragment':
      return { service: 'fragment' }
    case 'starsTransactionPeerAds':
      return { service: 'telegram_ads' }
    default:
      return { service: 'other' }
  }
}

/** Pays the network's price, which must equal `expected` if the caller names one. */
export async function pay(
  { calls, signal }: Context,
  invoice: tl.TypeInputInvoice,
  expected?: number,
): Promise<void> {
  // Fetching the payment form reserves nothing.
  const asked = { _: 'payments.getPaymentForm', invoice } as const
  const form = await calls.call(asked, { signal, readsOnly: true })
  const price = form.invoice.prices.reduce((sum, { amount }) => sum + amount.toNumber(), 0)
  if (expected !== undefined && price !== expected) {
    throw failed('bad_request', `the price is ${price} Telegram Stars, not ${expected}`)
  }
  const { formId } = form
  const paid = await calls.call({ _: 'payments.sendStarsForm', formId, invoice }, { signal })
  if (paid._ === 'payments.paymentResult') calls.take(paid.updates)
  else throw failed('forbidden', 'Telegram wants the payment to be confirmed in one of its apps')
}
