/** Sticker sets in answers under /sandbox, as a schema that the panel reads too. */
import { Type } from 'typebox'
import { ShownMedia } from './media-schemas.ts'

export const StickerSet = Type.Object({
  name: Type.String(),
  title: Type.String(),
  sticker_type: Type.Enum(['regular', 'mask', 'custom_emoji']),
  stickers: Type.Array(ShownMedia),
})
