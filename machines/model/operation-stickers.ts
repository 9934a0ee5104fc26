/** Operations about sticker sets: making them, changing them and finding their stickers. */
import type { MaskPosition, Media, StickerType } from './media.ts'

export const STICKER_OPERATIONS = [
  'sticker_set',
  'upload_sticker',
  'create_sticker_set',
  'edit_sticker_set',
  'edit_sticker',
  'custom_emoji',
  'topic_icons',
  'set_chat_stickers',
] as const

export type StickerFormat = 'static' | 'animated' | 'video'

export interface NewSticker {
  readonly media: Media
  /** Absent: the bytes decide. */
  readonly format?: StickerFormat
  readonly emojis: readonly string[]
  readonly keywords: readonly string[]
  readonly mask?: MaskPosition
}

export type StickerSetChange =
  | { readonly do: 'add'; readonly sticker: NewSticker }
  | { readonly do: 'replace'; readonly old: Media; readonly sticker: NewSticker }
  | { readonly do: 'title'; readonly title: string }
  /** Without a thumbnail, removes the present one. */
  | { readonly do: 'thumbnail'; readonly thumbnail?: Media; readonly format?: StickerFormat }
  /** Without an id, the first sticker is the thumbnail again. */
  | { readonly do: 'emoji_thumbnail'; readonly customEmojiId?: string }
  | { readonly do: 'delete' }

export type StickerChange =
  /** The first place is 0. */
  | { readonly do: 'move'; readonly position: number }
  | { readonly do: 'remove' }
  | { readonly do: 'emojis'; readonly emojis: readonly string[] }
  | { readonly do: 'keywords'; readonly keywords: readonly string[] }
  /** Without a position, removes the present one. */
  | { readonly do: 'mask'; readonly mask?: MaskPosition }

export type StickerOperation<Place> =
  | { readonly kind: 'sticker_set'; readonly name: string }
  /** `person` is the owner of the sticker. */
  | {
      readonly kind: 'upload_sticker'
      readonly person: Place
      readonly media: Media
      readonly format: StickerFormat
    }
  | {
      readonly kind: 'create_sticker_set'
      /** The owner of the set. */
      readonly person: Place
      readonly name: string
      readonly title: string
      readonly type: StickerType
      readonly needsRepainting: boolean
      readonly stickers: readonly NewSticker[]
    }
  | {
      readonly kind: 'edit_sticker_set'
      readonly name: string
      /** The owner of the set, for changes that name one. */
      readonly person?: Place
      readonly change: StickerSetChange
    }
  | { readonly kind: 'edit_sticker'; readonly sticker: Media; readonly change: StickerChange }
  /** The stickers of these custom emoji, in any order; unknown ones are left out. */
  | { readonly kind: 'custom_emoji'; readonly ids: readonly string[] }
  /** The custom emoji that topics of forums may have as icons. */
  | { readonly kind: 'topic_icons' }
  /** Without a name, removes the sticker set of the supergroup. */
  | { readonly kind: 'set_chat_stickers'; readonly chat: Place; readonly name?: string }
