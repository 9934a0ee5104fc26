/** Operations about payments: links to invoices, answers to buyers, and the account's own Telegram Stars. */
import type { Invoice, ShippingOption, StarTransaction } from './payment.ts'

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

export type PaymentOutcome =
  | { readonly kind: 'link'; readonly link: string }
  | { readonly kind: 'transactions'; readonly transactions: readonly StarTransaction[] }
