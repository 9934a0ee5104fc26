/** Gifts of the network in neutral terms. */
import type { tl } from '@mtcute/node'
import type {
  Gift,
  GiftBackdrop,
  GiftPicture,
  OwnedGift,
  UniqueGift,
} from '../../../../machines/model/gift.ts'
import type { Media } from '../../../../machines/model/media.ts'
import { textOf } from '../entities.ts'
import { CATALOGUE } from '../files.ts'
import { nativeOf } from '../natives.ts'
import { documentOf } from './media.ts'
import { personById, type View } from './peers.ts'

/** The picture of a gift is always a sticker, although its attributes may say otherwise. */
function pictureOf(document: tl.TypeDocument, chat: string): Media {
  const media = documentOf(document, { of: 'gift', chat })
  return { ...(media ?? { file: { native: '' } }), kind: 'sticker' }
}

/** Undefined for an upgraded gift, which cannot be bought. */
export function giftOf(gift: tl.TypeStarGift): Gift | undefined {
  if (gift._ !== 'starGift') return undefined
  const { availabilityTotal, availabilityRemains, upgradeStars } = gift
  return {
    id: gift.id.toString(),
    sticker: pictureOf(gift.sticker, CATALOGUE),
    stars: gift.stars.toNumber(),
    ...(upgradeStars && { upgradeStars: upgradeStars.toNumber() }),
    ...(availabilityTotal !== undefined && { total: availabilityTotal }),
    ...(availabilityRemains !== undefined && { remaining: availabilityRemains }),
  }
}

/** `owner` is the native id of the gift's owner. Gifts of others have ids only if a channel owns them. */
export function ownedGiftOf(saved: tl.RawSavedStarGift, owner: string, view: View): OwnedGift {
  const { gift, fromId, date, message, unsaved, msgId, savedId, convertStars } = saved
  const id = savedId ? `${owner}_${savedId.toString()}` : msgId?.toString()
  const isPerson = fromId?._ === 'peerUser'
  return {
    ...whatOf(gift),
    ...(id !== undefined && { id }),
    ...(isPerson && { sender: personById(fromId.userId, view) }),
    at: date,
    text: message ? textOf(message.text, message.entities) : { text: '', entities: [] },
    isSaved: !unsaved,
    ...(saved.upgradeStars && { prepaidStars: saved.upgradeStars.toNumber() }),
    ...(convertStars && { convertStars: convertStars.toNumber() }),
    ...(saved.transferStars && { transferStars: saved.transferStars.toNumber() }),
  }
}

function whatOf(gift: tl.TypeStarGift): Pick<OwnedGift, 'gift' | 'unique'> {
  const regular = giftOf(gift)
  if (regular || gift._ !== 'starGiftUnique') return { gift: regular ?? UNKNOWN }
  const unique = uniqueOf(gift)
  const sticker = unique.model?.sticker ?? UNKNOWN.sticker
  return { gift: { id: gift.giftId.toString(), stars: 0, sticker }, unique }
}

const UNKNOWN: Gift = { id: '0', stars: 0, sticker: { kind: 'sticker', file: { native: '' } } }

function uniqueOf({ title, num, slug, attributes }: tl.RawStarGiftUnique): UniqueGift {
  const [model] = attributes.flatMap((one) =>
    one._ === 'starGiftAttributeModel' ? [partOf(one, slug)] : [],
  )
  const [symbol] = attributes.flatMap((one) =>
    one._ === 'starGiftAttributePattern' ? [partOf(one, slug)] : [],
  )
  const [backdrop] = attributes.flatMap((one) =>
    one._ === 'starGiftAttributeBackdrop' ? [backdropOf(one)] : [],
  )
  return {
    name: title,
    number: num,
    slug,
    ...(model && { model }),
    ...(symbol && { symbol }),
    ...(backdrop && { backdrop }),
  }
}

const partOf = (
  { name, document, rarity }: tl.RawStarGiftAttributeModel | tl.RawStarGiftAttributePattern,
  slug: string,
): GiftPicture => ({ name, sticker: pictureOf(document, slug), permille: permilleOf(rarity) })

const backdropOf = (backdrop: tl.RawStarGiftAttributeBackdrop): GiftBackdrop => ({
  name: backdrop.name,
  permille: permilleOf(backdrop.rarity),
  center: backdrop.centerColor,
  edge: backdrop.edgeColor,
  symbol: backdrop.patternColor,
  text: backdrop.textColor,
})

/** For crafted gifts the network gives a rank instead; the reference's value is then 0. */
const permilleOf = (rarity: tl.TypeStarGiftAttributeRarity) =>
  rarity._ === 'starGiftAttributeRarity' ? rarity.permille : 0

/** The gift in the message that announces it. */
export function announcedGiftOf(
  message: tl.RawMessageService,
  action: tl.RawMessageActionStarGift,
  view: View,
): OwnedGift | undefined {
  const { gift, savedId, saved, convertStars, upgradeStars, canUpgrade } = action
  if (gift._ !== 'starGift') return undefined
  const fromId = action.fromId ?? (action.nameHidden ? undefined : message.fromId)
  const at: tl.RawSavedStarGift = {
    _: 'savedStarGift',
    gift,
    date: message.date,
    msgId: message.id,
    ...(fromId && { fromId }),
    ...(action.message && { message: action.message }),
    ...(savedId && { savedId }),
    ...(!saved && { unsaved: true }),
    ...(canUpgrade && { canUpgrade: true }),
    ...(convertStars && { convertStars }),
    ...(upgradeStars && { upgradeStars }),
  }
  return ownedGiftOf(at, action.peer ? nativeOf(action.peer) : view.self, view)
}
