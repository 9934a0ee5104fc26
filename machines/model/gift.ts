/** Gifts that people and accounts give each other for Stars. */
import type { Media } from './media.ts'
import type { Person } from './person.ts'
import type { Text } from './text.ts'

export interface Gift {
  readonly id: string
  readonly sticker: Media
  /** Prices in Stars. */
  readonly stars: number
  /** Absent: it cannot be upgraded. */
  readonly upgradeStars?: number
  /** Only for a limited gift: how many there are, and how many are left. */
  readonly total?: number
  readonly remaining?: number
}

export interface OwnedGift {
  /** Absent for a gift of another owner, on which no operation is possible. */
  readonly id?: string
  readonly gift: Gift
  /** Absent where the sender is not shown. */
  readonly sender?: Person
  /** Unix time in seconds. */
  readonly at: number
  readonly text: Text
  readonly isSaved: boolean
  /** Stars that the sender paid for an upgrade. */
  readonly prepaidStars?: number
  /** Stars that the owner gets for it. */
  readonly convertStars?: number
  /** Only for an upgraded gift. */
  readonly unique?: UniqueGift
  /** Stars that the owner pays to pass an upgraded gift on; absent: it cannot be done. */
  readonly transferStars?: number
}

export interface UniqueGift {
  readonly name: string
  readonly number: number
  /** The network's own name of it; absent: made of name and number. */
  readonly slug?: string
  /** Absent: they look like the gift that it was before. */
  readonly model?: GiftPicture
  readonly symbol?: GiftPicture
  readonly backdrop?: GiftBackdrop
}

/** `permille`: how often it occurs. */
export interface GiftPicture {
  readonly name: string
  readonly permille: number
  readonly sticker: Media
}

/** Colours as RGB. */
export interface GiftBackdrop {
  readonly name: string
  readonly permille: number
  readonly center: number
  readonly edge: number
  readonly symbol: number
  readonly text: number
}

export interface AcceptedGifts {
  readonly unlimited: boolean
  readonly limited: boolean
  readonly unique: boolean
  readonly premium: boolean
  readonly fromChannels: boolean
}

export interface OwnedGiftPage {
  readonly total: number
  readonly gifts: readonly OwnedGift[]
  /** The cursor of the next page; absent if there is none. */
  readonly next?: string
}
