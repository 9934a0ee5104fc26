/** The Telegram Stars of the test network's people, and the gifts that they buy with them. */
import { randomBytes } from 'node:crypto'
import { Long, type tl } from '@mtcute/core'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import { now, peerOfPerson } from './delivery.ts'
import { targetOf } from './lookup.ts'
import { documentOf } from './media.ts'
import type { TelegramNetwork } from './network.ts'
import type { Person } from './people.ts'

const UPGRADE_STARS = 25
const TRANSFER_STARS = 10
const amount = (stars: number): tl.RawStarsAmount => ({
  _: 'starsAmount',
  amount: Long.fromNumber(stars),
  nanos: 0,
})

/** A gift that everybody can buy, shown by a picture with those bytes. */
export function offerGift(
  network: TelegramNetwork,
  { stars, bytes }: { readonly stars: number; readonly bytes: Buffer },
): tl.RawStarGift {
  const attributes: tl.TypeDocumentAttribute[] = [
    { _: 'documentAttributeImageSize', w: 512, h: 512 },
    {
      _: 'documentAttributeSticker',
      alt: '🧸',
      stickerset: { _: 'inputStickerSetEmpty' },
    },
  ]
  const about = { mimeType: 'application/x-tgsticker', attributes }
  const gift: tl.RawStarGift = {
    _: 'starGift',
    id: Long.fromNumber(5_000_000_000 + network.gifts.length),
    sticker: documentOf(network.files, network.files.add(bytes), about),
    stars: Long.fromNumber(stars),
    convertStars: Long.fromNumber(stars - 1),
    upgradeStars: Long.fromNumber(UPGRADE_STARS),
  }
  network.gifts.push(gift)
  return gift
}

export function giftHandlers(network: TelegramNetwork): Handlers {
  const held = (person: Person, input: tl.TypeInputSavedStarGift): tl.RawSavedStarGift => {
    const id = input._ === 'inputSavedStarGiftUser' ? input.msgId : 0
    const gift = person.gifts.get(id)
    if (!gift) throw new RpcRefusal(400, 'STARGIFT_NOT_FOUND')
    return gift
  }
  const move = (person: Person, stars: number, partner: number, more: object = {}) => {
    if (person.stars + stars < 0) throw new RpcRefusal(400, 'BALANCE_TOO_LOW')
    person.stars += stars
    person.transactions.push({
      _: 'starsTransaction',
      id: randomBytes(8).toString('hex'),
      amount: amount(stars),
      date: now(),
      peer: { _: 'starsTransactionPeer', peer: peerOfPerson(partner) },
      ...more,
    })
  }
  const hand = (sender: Person, owner: Person, gift: Omit<tl.RawSavedStarGift, 'msgId'>) => {
    const msgId = owner.nextMessage++
    owner.gifts.set(msgId, { ...gift, msgId })
    if (gift.gift._ !== 'starGift') return
    const { message: said, convertStars, upgradeStars } = gift
    const message: tl.RawMessageService = {
      _: 'messageService',
      id: msgId,
      fromId: peerOfPerson(sender.id),
      peerId: peerOfPerson(sender.id),
      date: now(),
      action: {
        _: 'messageActionStarGift',
        gift: gift.gift,
        saved: true,
        ...(said && { message: said }),
        ...(convertStars && { convertStars }),
        ...(upgradeStars && { upgradeStars }),
      },
    }
    network.delivery.count(owner, { _: 'updateNewMessage', message, pts: 0, ptsCount: 1 })
  }
  const upgrade = (owner: Person, input: tl.TypeInputSavedStarGift) => {
    const saved = held(owner, input)
    if (saved.gift._ !== 'starGift') throw new RpcRefusal(400, 'STARGIFT_ALREADY_UPGRADED')
    const { id, sticker: document } = saved.gift
    const named = { name: 'Bear', document, rarity: permille(5) }
    const { convertStars: _, ...rest } = saved
    owner.gifts.set(saved.msgId!, {
      ...rest,
      transferStars: Long.fromNumber(TRANSFER_STARS),
      gift: {
        _: 'starGiftUnique',
        id: Long.fromNumber(77),
        giftId: id,
        title: 'Tea Bear',
        slug: 'TeaBear-7',
        num: 7,
        availabilityIssued: 7,
        availabilityTotal: 100,
        attributes: [
          { _: 'starGiftAttributeModel', ...named },
          { _: 'starGiftAttributePattern', ...named, name: 'Leaf' },
          {
            _: 'starGiftAttributeBackdrop',
            name: 'Dawn',
            backdropId: 1,
            centerColor: 1,
            edgeColor: 2,
            patternColor: 3,
            textColor: 4,
            rarity: permille(20),
          },
        ],
      },
    })
  }
  const transfer = (owner: Person, input: tl.TypeInputSavedStarGift, to: Person) => {
    const saved = held(owner, input)
    if (saved.gift._ !== 'starGiftUnique') throw new RpcRefusal(400, 'STARGIFT_NOT_UNIQUE')
    owner.gifts.delete(saved.msgId!)
    hand(owner, to, saved)
  }
  const personAt = (origin: Origin, peer: tl.TypeInputPeer): Person => {
    const found = targetOf(network, origin, peer)
    if ('kind' in found) throw new RpcRefusal(400, 'PEER_ID_INVALID')
    return found
  }
  const priceOf = (invoice: tl.TypeInputInvoice): number => {
    switch (invoice._) {
      case 'inputInvoiceStarGift': {
        const upgrading = invoice.includeUpgrade ? UPGRADE_STARS : 0
        return offered(invoice.giftId).stars.toNumber() + upgrading
      }
      case 'inputInvoiceStarGiftUpgrade':
        return UPGRADE_STARS
      case 'inputInvoiceStarGiftTransfer':
        return TRANSFER_STARS
      case 'inputInvoicePremiumGiftStars':
        return invoice.months * 300
      default:
        throw new RpcRefusal(400, 'INVOICE_INVALID')
    }
  }
  const offered = (id: Long): tl.RawStarGift => {
    const gift = network.gifts.find((one) => one.id.eq(id))
    if (gift) return gift
    throw new RpcRefusal(400, 'STARGIFT_INVALID')
  }
  /** Does what was paid for. */
  const deliver = (buyer: Person, invoice: tl.TypeInputInvoice, origin: Origin): void => {
    const price = -priceOf(invoice)
    switch (invoice._) {
      case 'inputInvoiceStarGift': {
        const [gift, owner] = [offered(invoice.giftId), personAt(origin, invoice.peer)]
        move(buyer, price, owner.id, { gift: true, stargift: gift })
        hand(buyer, owner, {
          _: 'savedStarGift',
          fromId: peerOfPerson(buyer.id),
          date: now(),
          gift,
          convertStars: gift.convertStars,
          ...(invoice.includeUpgrade && { upgradeStars: Long.fromNumber(UPGRADE_STARS) }),
          ...(invoice.message && { message: invoice.message }),
        })
        break
      }
      case 'inputInvoiceStarGiftUpgrade':
        held(buyer, invoice.stargift)
        move(buyer, price, buyer.id)
        upgrade(buyer, invoice.stargift)
        break
      case 'inputInvoiceStarGiftTransfer':
        held(buyer, invoice.stargift)
        move(buyer, price, buyer.id)
        transfer(buyer, invoice.stargift, personAt(origin, invoice.toId))
        break
      case 'inputInvoicePremiumGiftStars': {
        const { userId, months } = invoice
        const person = userId._ === 'inputUser' ? network.people.get(userId.userId)! : buyer
        move(buyer, price, person.id, { premiumGiftMonths: months })
        person.isPremium = true
      }
    }
  }

  return {
    'payments.getStarGifts': () => ({
      _: 'payments.starGifts',
      hash: 1,
      gifts: [...network.gifts],
      chats: [],
      users: [],
    }),
    'payments.getPaymentForm': ({ invoice }) => ({
      _: 'payments.paymentFormStarGift',
      formId: Long.fromNumber(network.newId()),
      invoice: {
        _: 'invoice',
        currency: 'XTR',
        prices: [{ _: 'labeledPrice', label: 'Gift', amount: Long.fromNumber(priceOf(invoice)) }],
      },
    }),
    'payments.sendStarsForm': ({ invoice }, origin) => {
      const buyer = network.asker(origin)
      deliver(buyer, invoice, origin)
      return { _: 'payments.paymentResult', updates: network.delivery.answer(buyer, []) }
    },
    'payments.getSavedStarGifts': (request, origin) => {
      const owner = personAt(origin, request.peer)
      const { excludeUnique, offset, limit } = request
      const isOwn = owner === network.asker(origin)
      const all = [...owner.gifts.values()]
        .filter(({ gift }) => !(excludeUnique && gift._ === 'starGiftUnique'))
        .map(({ msgId, ...gift }) => (isOwn ? { ...gift, msgId } : gift) as tl.RawSavedStarGift)
      const end = Number(offset || 0) + limit
      return {
        _: 'payments.savedStarGifts',
        count: all.length,
        gifts: all.slice(Number(offset || 0), end),
        ...(end < all.length && { nextOffset: `${end}` }),
        ...network.delivery.along(network.asker(origin)),
      }
    },
    'payments.convertStarGift': ({ stargift }, origin) => {
      const owner = network.asker(origin)
      const { msgId, convertStars } = held(owner, stargift)
      if (!convertStars) throw new RpcRefusal(400, 'STARGIFT_CONVERT_UNAVAILABLE')
      owner.gifts.delete(msgId!)
      move(owner, convertStars.toNumber(), owner.id)
      return true
    },
    'payments.upgradeStarGift': ({ stargift }, origin) => {
      const owner = network.asker(origin)
      if (!held(owner, stargift).upgradeStars) throw new RpcRefusal(400, 'PAYMENT_REQUIRED')
      upgrade(owner, stargift)
      return network.delivery.answer(owner, [])
    },
    'payments.transferStarGift': () => {
      throw new RpcRefusal(400, 'PAYMENT_REQUIRED')
    },
    'payments.getStarsStatus': (_, origin) => ({
      _: 'payments.starsStatus',
      balance: amount(network.asker(origin).stars),
      chats: [],
      users: [],
    }),
    /** Two on a page. */
    'payments.getStarsTransactions': ({ offset }, origin) => {
      const asker = network.asker(origin)
      const from = Number(offset || 0)
      return {
        _: 'payments.starsStatus',
        balance: amount(asker.stars),
        history: asker.transactions.slice(from, from + 2),
        ...(from + 2 < asker.transactions.length && { nextOffset: `${from + 2}` }),
        ...network.delivery.along(asker),
      }
    },
    'account.getGlobalPrivacySettings': (_, origin) => network.asker(origin).privacy,
    'account.setGlobalPrivacySettings': ({ settings }, origin) => {
      const asker = network.asker(origin)
      asker.privacy = settings as tl.RawGlobalPrivacySettings
      return asker.privacy
    },
  }
}

const permille = (permille: number): tl.RawStarGiftAttributeRarity => ({
  _: 'starGiftAttributeRarity',
  permille,
})
