/** Gifts in the reference's JSON. */
import type { Gift, OwnedGift } from '../../../machines/model/gift.ts'
import { type Names, present, userJson } from './chat.ts'
import { markedJson, stickerJson } from './content.ts'

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

/** Colours as RGB; every upgraded gift of the sandbox looks the same. */
const COLORS = {
  center_color: 0x8ab4f8,
  edge_color: 0x3c5a99,
  symbol_color: 0x1f2f55,
  text_color: 0xffffff,
}

function uniqueJson({ gift, unique }: OwnedGift, ids: Names) {
  const { name = '', number = 0 } = unique ?? {}
  const sticker = stickerJson(gift.sticker, ids)
  return {
    gift_id: gift.id,
    base_name: name,
    name: `${name}-${number}`,
    number,
    model: { name, sticker, rarity_per_mille: 1000 },
    symbol: { name, sticker, rarity_per_mille: 1000 },
    backdrop: { name, colors: COLORS, rarity_per_mille: 1000 },
  }
}

export function ownedGiftJson(owned: OwnedGift, ids: Names): object {
  const { id, sender, at, isSaved, unique } = owned
  const shown = {
    owned_gift_id: id,
    send_date: at,
    ...present({
      sender_user: sender && userJson(sender, ids),
      is_saved: isSaved || undefined,
    }),
  }
  if (unique) {
    return { type: 'unique', gift: uniqueJson(owned, ids), ...shown, can_be_transferred: true }
  }
  return { type: 'regular', ...shown, ...detailsJson(owned, ids) }
}

/** The gift as the message shows it that brought it. */
export const giftInfoJson = (owned: OwnedGift, ids: Names): object => ({
  owned_gift_id: owned.id,
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
