/** Operations about payments: links to invoices, answers to buyers, and the account's own Telegram Stars. */
import type { Chat } from './content.ts'
import type { Gift } from './gift.ts'
import type { Invoice, PaidItem, ShippingOption } from './payment.ts'
import type { Person } from './person.ts'

export const PAYMENT_OPERATIONS = [
  'invoice_link',
  'answer_shipping',
  'answer_checkout',
  'star_transactions',
  'refund_stars',
  'change_subscription',
] as const

export type PaymentOperation<Place> =
  | { readonly kind: 'invoice_link'; readonly invoice: Invoice }
  /** Either the ways of shipping or the reason why there are none. */
  | {
      readonly kind: 'answer_shipping'
      readonly query: string
      readonly options?: readonly ShippingOption[]
      readonly error?: string
    }
  /** Without an error the payment goes on. */
  | { readonly kind: 'answer_checkout'; readonly query: string; readonly error?: string }
  | { readonly kind: 'star_transactions'; readonly offset: number; readonly limit: number }
  | { readonly kind: 'refund_stars'; readonly person: Place; readonly charge: string }
  | {
      readonly kind: 'change_subscription'
      readonly person: Place
      readonly charge: string
      readonly isCanceled: boolean
    }

export interface StarTransaction {
  /** That of the payment; a refund has the id of what it gives back. */
  readonly id: string
  readonly amount: number
  /** Unix time in seconds. */
  readonly at: number
  readonly direction: 'incoming' | 'outgoing'
  /** The other side: a person, a chat, or a service of the network. */
  readonly person?: Person
  readonly chat?: Chat
  readonly service?: 'fragment' | 'telegram_ads' | 'telegram_api' | 'other'
  /** Only with a person; absent: an invoice. */
  readonly purpose?:
    | 'gift_purchase'
    | 'premium_purchase'
    | 'paid_media_payment'
    | 'business_account_transfer'
  readonly payload?: string
  /** Only of paid media. */
  readonly media?: readonly PaidItem[]
  readonly gift?: Gift
  readonly premiumMonths?: number
  readonly periodSeconds?: number
}

export type PaymentOutcome =
  | { readonly kind: 'link'; readonly link: string }
  | { readonly kind: 'transactions'; readonly transactions: readonly StarTransaction[] }
