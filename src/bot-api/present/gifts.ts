/** Gifts in the reference's JSON. */
import type { Gift, GiftBackdrop, GiftPicture, OwnedGift } from '../../../machines/model/gift.ts'
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

/** Looks like the gift that it was before; colours as RGB. */
const PLAIN = {
  permille: 1000,
  center: 0x8ab4f8,
  edge: 0x3c5a99,
  symbol: 0x1f2f55,
  text: 0xffffff,
}

function uniqueJson({ gift, unique }: OwnedGift, ids: Names) {
  const {
    name = '',
    number = 0,
    slug = `${name}-${number}`,
    model,
    symbol,
    backdrop,
  } = unique ?? {}
  const plain = { name, sticker: gift.sticker, permille: 1000 }
  return {
    gift_id: gift.id,
    base_name: name,
    name: slug,
    number,
    model: pictureJson(model ?? plain, ids),
    symbol: pictureJson(symbol ?? plain, ids),
    backdrop: backdropJson(backdrop ?? { name, ...PLAIN }),
  }
}

const pictureJson = ({ name, sticker, permille }: GiftPicture, ids: Names) => ({
  name,
  sticker: stickerJson(sticker, ids),
  rarity_per_mille: permille,
})

const backdropJson = ({ name, permille, center, edge, symbol, text }: GiftBackdrop) => ({
  name,
  colors: { center_color: center, edge_color: edge, symbol_color: symbol, text_color: text },
  rarity_per_mille: permille,
})

export function ownedGiftJson(owned: OwnedGift, ids: Names): object {
  const { id, sender, at, isSaved, unique, transferStars } = owned
  const shown = {
    send_date: at,
    ...present({
      owned_gift_id: id,
      sender_user: sender && userJson(sender, ids),
      is_saved: isSaved || undefined,
    }),
  }
  if (unique) {
    const passing = { can_be_transferred: true, ...present({ transfer_star_count: transferStars }) }
    return { type: 'unique', gift: uniqueJson(owned, ids), ...shown, ...(id && passing) }
  }
  return { type: 'regular', ...shown, ...detailsJson(owned, ids) }
}

/** The gift as the message shows it that brought it. */
export const giftInfoJson = (owned: OwnedGift, ids: Names): object => ({
  ...present({ owned_gift_id: owned.id }),
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
