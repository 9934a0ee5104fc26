/** Sticker sets of the test network: made and changed by their owners, found by everybody. */
import { randomInt } from 'node:crypto'
import { Long, type tl } from '@mtcute/core'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import type { TelegramNetwork } from './network.ts'

export interface StickerSet {
  readonly id: number
  readonly shortName: string
  readonly owner: number
  title: string
  readonly kind: 'regular' | 'masks' | 'emojis'
  readonly textColor: boolean
  /** The emoji and keywords of a sticker are those of its item. */
  stickers: { readonly document: Long; item: tl.RawInputStickerSetItem }[]
  thumbnail?: Long | undefined
}

/** The set of the icons that topics may have. */
export const TOPIC_ICONS = 'Topics'

export function stickerHandlers(network: TelegramNetwork): Handlers {
  const { stickerSets, files } = network

  const documentIn = (input: tl.TypeInputDocument): tl.RawDocument => {
    const document = input._ === 'inputDocument' && files.documents.get(input.id.toString())
    if (!document || !Buffer.from(input.fileReference).equals(files.reference)) {
      throw new RpcRefusal(400, 'STICKER_FILE_INVALID')
    }
    return document
  }
  const found = (input: tl.TypeInputStickerSet): StickerSet => {
    const name = input._ === 'inputStickerSetShortName' ? input.shortName : TOPIC_ICONS
    const isKnown = /ShortName$|TopicIcons$/.test(input._)
    const set = isKnown ? stickerSets.get(name) : undefined
    if (!set) throw new RpcRefusal(406, 'STICKERSET_INVALID')
    return set
  }
  const own = (set: StickerSet | undefined, origin: Origin): StickerSet => {
    if (set?.owner !== network.asker(origin).id) throw new RpcRefusal(400, 'STICKERSET_INVALID')
    return set
  }
  const holding = (input: tl.TypeInputDocument, origin: Origin) => {
    const { id } = documentIn(input)
    const holder = [...stickerSets.values()].find((one) =>
      one.stickers.some(({ document }) => document.eq(id)),
    )
    const set = own(holder, origin)
    return { set, place: set.stickers.findIndex(({ document }) => document.eq(id)) }
  }
  const itemOf = (item: tl.RawInputStickerSetItem) => {
    if (!/\p{Emoji}/u.test(item.emoji)) throw new RpcRefusal(400, 'STICKER_EMOJI_INVALID')
    return { document: documentIn(item.document).id, item }
  }
  const shown = (set: StickerSet): tl.messages.RawStickerSet => ({
    _: 'messages.stickerSet',
    set: {
      _: 'stickerSet',
      id: Long.fromNumber(set.id),
      accessHash: Long.ONE,
      title: set.title,
      shortName: set.shortName,
      count: set.stickers.length,
      hash: 0,
      ...(set.kind !== 'regular' && { [set.kind]: true }),
    },
    packs: [],
    keywords: [],
    documents: set.stickers.map(({ document, item }) => stickerOf(set, document, item)),
  })
  const stickerOf = (set: StickerSet, id: Long, item: tl.RawInputStickerSetItem) => {
    const document = files.documents.get(id.toString())!
    const stickerset = { _: 'inputStickerSetShortName', shortName: set.shortName } as const
    const size = { _: 'documentAttributeImageSize', w: 512, h: 512 } as const
    const { emoji: alt, maskCoords } = item
    const attribute: tl.TypeDocumentAttribute =
      set.kind === 'emojis'
        ? { _: 'documentAttributeCustomEmoji', alt, stickerset, textColor: set.textColor }
        : {
            _: 'documentAttributeSticker',
            alt,
            stickerset,
            mask: set.kind === 'masks',
            ...(maskCoords && { maskCoords }),
          }
    return { ...document, fileReference: files.reference, attributes: [attribute, size] }
  }

  return {
    'messages.getStickerSet': ({ stickerset }) => shown(found(stickerset)),
    'messages.getCustomEmojiDocuments': ({ documentId }) =>
      [...stickerSets.values()]
        .filter(({ kind }) => kind === 'emojis')
        .flatMap((set) => shown(set).documents)
        .filter(({ id }) => documentId.some((wanted) => wanted.eq(id))),
    'stickers.createStickerSet': (request, origin) => {
      const { title, shortName, masks, emojis, textColor = false } = request
      if (request.stickers.length === 0) throw new RpcRefusal(400, 'STICKERS_EMPTY')
      if (stickerSets.has(shortName)) throw new RpcRefusal(400, 'SHORTNAME_OCCUPY_FAILED')
      const kind = masks ? 'masks' : emojis ? 'emojis' : 'regular'
      const stickers = request.stickers.map(itemOf)
      const { id: owner } = network.asker(origin)
      const set = { id: randomInt(2 ** 40), shortName, owner, title, kind, textColor, stickers }
      stickerSets.set(shortName, { ...set, kind })
      return shown(stickerSets.get(shortName)!)
    },
    'stickers.addStickerToSet': ({ stickerset, sticker }, origin) => {
      const set = own(found(stickerset), origin)
      set.stickers.push(itemOf(sticker))
      return shown(set)
    },
    'stickers.replaceSticker': ({ sticker, newSticker }, origin) => {
      const { set, place } = holding(sticker, origin)
      set.stickers.splice(place, 1, itemOf(newSticker))
      return shown(set)
    },
    'stickers.changeSticker': ({ sticker, emoji, keywords, maskCoords }, origin) => {
      const { set, place } = holding(sticker, origin)
      const held = set.stickers[place]!
      const changes = { ...(emoji && { emoji }), ...(maskCoords && { maskCoords }) }
      held.item = { ...held.item, ...changes, ...(keywords !== undefined && { keywords }) }
      return shown(set)
    },
    'stickers.changeStickerPosition': ({ sticker, position }, origin) => {
      const { set, place } = holding(sticker, origin)
      set.stickers.splice(position, 0, ...set.stickers.splice(place, 1))
      return shown(set)
    },
    'stickers.removeStickerFromSet': ({ sticker }, origin) => {
      const { set, place } = holding(sticker, origin)
      set.stickers.splice(place, 1)
      return shown(set)
    },
    'stickers.setStickerSetThumb': ({ stickerset, thumb, thumbDocumentId }, origin) => {
      const set = own(found(stickerset), origin)
      const isFile = thumb !== undefined && thumb._ !== 'inputDocumentEmpty'
      set.thumbnail = isFile ? documentIn(thumb).id : thumbDocumentId
      return shown(set)
    },
    'stickers.renameStickerSet': ({ stickerset, title }, origin) => {
      const set = own(found(stickerset), origin)
      set.title = title
      return shown(set)
    },
    'stickers.deleteStickerSet': ({ stickerset }, origin) => {
      stickerSets.delete(own(found(stickerset), origin).shortName)
      return true
    },
    'channels.setStickers': ({ channel, stickerset }, origin) => {
      const place = channel._ === 'inputChannel' ? network.places.get(channel.channelId) : undefined
      if (place?.kind !== 'channel') throw new RpcRefusal(400, 'CHANNEL_INVALID')
      if (place.owner !== network.asker(origin).id) {
        throw new RpcRefusal(400, 'CHAT_ADMIN_REQUIRED')
      }
      const isNone = stickerset._ === 'inputStickerSetEmpty'
      place.stickerSet = isNone ? undefined : shown(found(stickerset)).set
      return true
    },
  }
}
