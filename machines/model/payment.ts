/** Invoices and payments, in the terms of no particular network. Amounts are in the smallest unit of their currency. */

import type { Media } from './media.ts'

/** The currency of Telegram Stars: paid without a provider, and can be given back. */
export const STARS = 'XTR'

export interface Price {
  readonly label: string
  readonly amount: number
}

/** The parts of an order that an invoice asks the buyer for. */
export type OrderPart = 'name' | 'phone_number' | 'email' | 'shipping_address'

export interface Invoice {
  readonly title: string
  readonly description: string
  /** Only the bot sees it. */
  readonly payload: string
  readonly currency: string
  readonly prices: readonly Price[]
  readonly total: number
  readonly start?: string
  readonly photoUrl?: string
  readonly asks: readonly OrderPart[]
  /** The price depends on the way of shipping. */
  readonly isFlexible: boolean
  readonly maxTip: number
  readonly tips: readonly number[]
  /** It is paid again each time this many seconds are over. */
  readonly periodSeconds?: number
}

/** In the reference's names. */
export interface PostalAddress {
  readonly country_code: string
  readonly state: string
  readonly city: string
  readonly street_line1: string
  readonly street_line2: string
  readonly post_code: string
}

export interface Order {
  readonly name?: string
  readonly phone_number?: string
  readonly email?: string
  readonly shipping_address?: PostalAddress
}

export interface ShippingOption {
  readonly id: string
  readonly title: string
  readonly prices: readonly Price[]
}

/** A payment that was made. */
export interface Receipt {
  readonly currency: string
  readonly total: number
  readonly payload: string
  /** The network's name of the payment, and that of the provider. */
  readonly charge: string
  readonly providerCharge: string
  readonly option?: string
  readonly order?: Order
  /** Unix time in seconds. Only for a subscription: when it has to be paid again. */
  readonly paidUntil?: number
}

/** The outline of a file that its reader has not paid for. */
export interface PaidPreview {
  readonly kind: 'preview'
  readonly width?: number
  readonly height?: number
  readonly durationSeconds?: number
}

export type PaidItem = Media | PaidPreview

/** Photos and videos that each reader pays for. */
export interface PaidMedia {
  /** Given by the network; absent on the way to it. */
  readonly id?: string
  readonly stars: number
  /** Only the account that sells it sees it. */
  readonly payload?: string
  readonly items: readonly PaidItem[]
}

interface PostPrice {
  readonly currency: 'XTR' | 'TON'
  /** Telegram Stars, or nanograms of TON. */
  readonly amount: number
}

/** The terms of a post that is suggested to a channel. */
export interface PostTerms {
  /** Absent: it costs nothing. */
  readonly price?: PostPrice
  /** Unix time in seconds; absent: whenever the other side likes. */
  readonly sendAt?: number
}

export interface SuggestedPost extends PostTerms {
  readonly state: 'pending' | 'approved' | 'declined'
}

/** Only for messages to the direct messages of a channel. */
export interface DirectTerms<Place> {
  /** The person whose conversation with the channel it is. */
  readonly directTopic?: Place
  readonly suggested?: PostTerms
}

/** `post` is the message with the suggestion, unless it was deleted; `message` its id, where the network tells no more. */
interface AboutPost<Post> {
  readonly post?: Post
  readonly message?: string
}

export type PostFact<Post> = AboutPost<Post> &
  (
    | { readonly fact: 'post_approved'; readonly price?: PostPrice; readonly sendAt: number }
    | { readonly fact: 'post_approval_failed'; readonly price: PostPrice }
    | { readonly fact: 'post_declined'; readonly comment?: string }
    /** The sum that the channel has received; `billionths` of a Telegram Star are added to the whole ones. */
    | { readonly fact: 'post_paid'; readonly price: PostPrice; readonly billionths?: number }
    | { readonly fact: 'post_refunded'; readonly reason: 'post_deleted' | 'payment_refunded' }
  )
