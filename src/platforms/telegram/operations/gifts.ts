/** Gifts: bought, shown, sold, upgraded and passed on. */
import { Long, PeersIndex, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { GiftGroup } from '../../../../machines/model/operation-gifts.ts'
import type { Text } from '../../../../machines/model/text.ts'
import { giftOf, ownedGiftOf } from '../reading/gifts.ts'
import type { View } from '../reading/peers.ts'
import { type Context, done, readOptions, writtenText } from './context.ts'
import { pay } from './stars.ts'

/** The network's name of a group that is left out. */
const without: Readonly<Record<GiftGroup, keyof tl.payments.RawGetSavedStarGiftsRequest>> = {
  unsaved: 'excludeUnsaved',
  saved: 'excludeSaved',
  unlimited: 'excludeUnlimited',
  limited_upgradable: 'excludeUpgradable',
  limited_non_upgradable: 'excludeUnupgradable',
  unique: 'excludeUnique',
}

export const gifts: Handlers<Context> = {
  async available_gifts(context) {
    const request = { _: 'payments.getStarGifts', hash: 0 } as const
    const found = await context.calls.call(request, readOptions(context))
    const listed = found._ === 'payments.starGifts' ? found.gifts : []
    const forSale = listed.filter((gift) => gift._ === 'starGift' && !gift.soldOut && !gift.auction)
    return { kind: 'gifts', gifts: forSale.flatMap((gift) => giftOf(gift) ?? []) }
  },

  async send_gift(context, { chat, gift, text, paysUpgrade }) {
    const peer = await context.calls.peer(chat, context.signal)
    const message = await saidIn(context, text)
    const invoice = { _: 'inputInvoiceStarGift', peer, giftId: giftNumber(gift) } as const
    await pay(context, {
      ...invoice,
      ...(message && { message }),
      ...(paysUpgrade && { includeUpgrade: true }),
    })
    return done
  },

  async gift_premium(context, { person, months, stars, text }) {
    const userId = await context.calls.user(person, context.signal)
    const message = await saidIn(context, text)
    const invoice = { _: 'inputInvoicePremiumGiftStars', userId, months } as const
    await pay(context, { ...invoice, ...(message && { message }) }, stars)
    return done
  },

  async owned_gifts(context, { chat = context.self, without: groups, byPrice, after = '', limit }) {
    const { calls, self, signal } = context
    const peer = await calls.peer(chat, signal)
    const left = Object.fromEntries(groups.map((group) => [without[group], true]))
    const page = { ...left, ...(byPrice && { sortByValue: true }), offset: after, limit }
    const request = { _: 'payments.getSavedStarGifts', peer } as const
    const found = await calls.call({ ...request, ...page }, readOptions(context))
    const view: View = { self, peers: PeersIndex.from(found) }
    return {
      kind: 'owned_gifts',
      total: found.count,
      gifts: found.gifts.map((gift) => ownedGiftOf(gift, chat, view)),
      ...(found.nextOffset && { next: found.nextOffset }),
    }
  },

  async convert_gift(context, { gift }) {
    const { calls, signal } = context
    const stargift = await savedGift(context, gift)
    await calls.call({ _: 'payments.convertStarGift', stargift }, { signal })
    return done
  },

  async upgrade_gift(context, { gift, keepsDetails, stars }) {
    const { calls, signal } = context
    const stargift = await savedGift(context, gift)
    const asked = { stargift, ...(keepsDetails && { keepOriginalDetails: true }) }
    if (stars > 0) await pay(context, { _: 'inputInvoiceStarGiftUpgrade', ...asked }, stars)
    else calls.take(await calls.call({ _: 'payments.upgradeStarGift', ...asked }, { signal }))
    return done
  },

  async transfer_gift(context, { gift, chat, stars }) {
    const { calls, signal } = context
    const asked = {
      stargift: await savedGift(context, gift),
      toId: await calls.peer(chat, signal),
    }
    if (stars > 0) await pay(context, { _: 'inputInvoiceStarGiftTransfer', ...asked }, stars)
    else calls.take(await calls.call({ _: 'payments.transferStarGift', ...asked }, { signal }))
    return done
  },

  async set_gift_settings(context, { showsButton, accepted }) {
    const { calls, signal } = context
    const before = await calls.call({ _: 'account.getGlobalPrivacySettings' }, readOptions(context))
    const settings: tl.RawGlobalPrivacySettings = {
      ...before,
      displayGiftsButton: showsButton,
      disallowedGifts: {
        _: 'disallowedGiftsSettings',
        disallowUnlimitedStargifts: !accepted.unlimited,
        disallowLimitedStargifts: !accepted.limited,
        disallowUniqueStargifts: !accepted.unique,
        disallowPremiumGifts: !accepted.premium,
        disallowStargiftsFromChannels: !accepted.fromChannels,
      },
    }
    await calls.call({ _: 'account.setGlobalPrivacySettings', settings }, { signal })
    return done
  },
}

function giftNumber(gift: string): Long {
  if (!/^\d{1,19}$/.test(gift)) throw failed('bad_request', 'STARGIFT_INVALID')
  return Long.fromString(gift)
}

async function saidIn(context: Context, text: Text): Promise<tl.RawTextWithEntities | undefined> {
  if (text.text === '') return undefined
  const entities = await writtenText(context, text)
  return { _: 'textWithEntities', text: text.text, entities }
}

/** The account's gifts are named by their messages, those of its channels by chat and number. */
async function savedGift(
  { calls, signal }: Context,
  gift: string,
): Promise<tl.TypeInputSavedStarGift> {
  const [, chat, number = ''] = /^(?:(-\d{1,16})_)?(\d{1,19})$/.exec(gift) ?? []
  if (number === '') throw failed('bad_request', 'STARGIFT_NOT_FOUND')
  if (chat === undefined) return { _: 'inputSavedStarGiftUser', msgId: Number(number) }
  const peer = await calls.peer(chat, signal)
  return { _: 'inputSavedStarGiftChat', peer, savedId: Long.fromString(number) }
}
