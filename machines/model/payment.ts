/** Invoices and payments, in the terms of no particular network. Amounts are in the smallest unit of their currency. */

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
export interface Address {
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
  readonly shipping_address?: Address
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
