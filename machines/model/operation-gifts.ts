/** Operations about gifts and Stars. */
import type { AcceptedGifts } from './gift.ts'
import type { Text } from './text.ts'

export const GIFT_OPERATIONS = [
  'available_gifts',
  'send_gift',
  'gift_premium',
  'owned_gifts',
  'convert_gift',
  'upgrade_gift',
  'transfer_gift',
  'set_gift_settings',
  'star_balance',
  'transfer_stars',
] as const

export type GiftOperation<Place> =
  | { readonly kind: 'available_gifts' }
  /** `chat` is a person or a channel. */
  | {
      readonly kind: 'send_gift'
      readonly chat: Place
      readonly gift: string
      readonly text: Text
      /** The sender also pays for the upgrade. */
      readonly paysUpgrade: boolean
    }
  | {
      readonly kind: 'gift_premium'
      readonly person: Place
      readonly months: number
      readonly stars: number
      readonly text: Text
    }
  | {
      readonly kind: 'owned_gifts'
      /** A person or a channel; absent: the account itself. */
      readonly chat?: Place
      readonly without: readonly GiftGroup[]
      readonly byPrice: boolean
      /** Goes on where an earlier page ended: its `next`. */
      readonly after?: string
      readonly limit: number
    }
  | { readonly kind: 'convert_gift'; readonly gift: string }
  /** `stars`: what is paid; 0 where the sender has paid. */
  | {
      readonly kind: 'upgrade_gift'
      readonly gift: string
      readonly keepsDetails: boolean
      readonly stars: number
    }
  | {
      readonly kind: 'transfer_gift'
      readonly gift: string
      readonly chat: Place
      readonly stars: number
    }
  | {
      readonly kind: 'set_gift_settings'
      readonly showsButton: boolean
      readonly accepted: AcceptedGifts
    }
  | { readonly kind: 'star_balance' }
  /** To the account that acts for the business. */
  | { readonly kind: 'transfer_stars'; readonly stars: number }

export const GIFT_GROUPS = [
  'unsaved',
  'saved',
  'unlimited',
  'limited_upgradable',
  'limited_non_upgradable',
  'unique',
] as const

export type GiftGroup = (typeof GIFT_GROUPS)[number]
