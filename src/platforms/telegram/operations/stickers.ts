/** Sticker sets and custom emoji: found, made by the account itself, changed, and put into groups. */
import { Long, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { badRequest } from '../../../../machines/model/failure.ts'
import type { MaskPosition, Media, StickerSet } from '../../../../machines/model/media.ts'
import type { NewSticker } from '../../../../machines/model/operation-stickers.ts'
import { writeFileName } from '../files.ts'
import { documentOf, type Shown } from '../reading/media.ts'
import { inputDocumentOf, uploadedDocument } from '../writing/media.ts'
import { type Context, done, readOptions } from './context.ts'

export const stickers: Handlers<Context> = {
  sticker_set: async (context, { name }) => ({
    kind: 'stickers',
    set: await stickerSet(context, byName(name)),
  }),

  async upload_sticker(context, { person, media }) {
    assertOwn(context, person)
    const { id, accessHash, fileReference } = await uploadedDocument(context, asSticker(media))
    const reference = Buffer.from(fileReference).toString('hex')
    const place = { of: 'upload', chat: accessHash.toString(), id: id.toString() } as const
    const native = writeFileName({ ...place, size: reference })
    return { kind: 'file', media: { ...media, file: { native }, unique: id.toString() } }
  },

  async create_sticker_set(context, { person, name, title, type, needsRepainting, stickers }) {
    assertOwn(context, person)
    const { calls, signal } = context
    await calls.call(
      {
        _: 'stickers.createStickerSet',
        userId: { _: 'inputUserSelf' },
        title,
        shortName: name,
        stickers: await itemsOf(context, stickers),
        ...(type === 'mask' && { masks: true }),
        ...(type === 'custom_emoji' && { emojis: true }),
        ...(needsRepainting && { textColor: true }),
      },
      { signal },
    )
    return done
  },

  async edit_sticker_set(context, { name, person, change }) {
    if (person !== undefined) assertOwn(context, person)
    const { calls, signal } = context
    const stickerset = byName(name)
    switch (change.do) {
      case 'add': {
        const sticker = await itemOf(context, change.sticker)
        await calls.call({ _: 'stickers.addStickerToSet', stickerset, sticker }, { signal })
        break
      }
      case 'replace': {
        const sticker = await inputDocument(context, change.old)
        const newSticker = await itemOf(context, change.sticker)
        await calls.call({ _: 'stickers.replaceSticker', sticker, newSticker }, { signal })
        break
      }
      case 'title': {
        const { title } = change
        await calls.call({ _: 'stickers.renameStickerSet', stickerset, title }, { signal })
        break
      }
      case 'thumbnail': {
        const thumb: tl.TypeInputDocument = change.thumbnail
          ? await inputDocument(context, change.thumbnail)
          : { _: 'inputDocumentEmpty' }
        await calls.call({ _: 'stickers.setStickerSetThumb', stickerset, thumb }, { signal })
        break
      }
      case 'emoji_thumbnail': {
        const thumbDocumentId = Long.fromString(numberOf(change.customEmojiId ?? '0'))
        const request = { _: 'stickers.setStickerSetThumb', stickerset, thumbDocumentId } as const
        await calls.call(request, { signal })
        break
      }
      case 'delete':
        await calls.call({ _: 'stickers.deleteStickerSet', stickerset }, { signal })
    }
    return done
  },

  async edit_sticker(context, { sticker: given, change }) {
    const { calls, signal } = context
    const sticker = await inputDocument(context, given)
    switch (change.do) {
      case 'move': {
        const { position } = change
        await calls.call({ _: 'stickers.changeStickerPosition', sticker, position }, { signal })
        break
      }
      case 'remove':
        await calls.call({ _: 'stickers.removeStickerFromSet', sticker }, { signal })
        break
      case 'emojis': {
        const emoji = change.emojis.join('')
        await calls.call({ _: 'stickers.changeSticker', sticker, emoji }, { signal })
        break
      }
      case 'keywords': {
        const keywords = change.keywords.join(',')
        await calls.call({ _: 'stickers.changeSticker', sticker, keywords }, { signal })
        break
      }
      case 'mask': {
        if (!change.mask)
          throw badRequest('removing the position of a mask is not supported on Telegram')
        const maskCoords = coordsOf(change.mask)
        await calls.call({ _: 'stickers.changeSticker', sticker, maskCoords }, { signal })
      }
    }
    return done
  },

  async custom_emoji(context, { ids }) {
    const documentId = ids.filter((id) => /^\d{1,20}$/.test(id)).map((id) => Long.fromString(id))
    const request = { _: 'messages.getCustomEmojiDocuments', documentId } as const
    const found = await context.calls.call({ ...request, documentId }, readOptions(context))
    const shown = { of: 'emoji', chat: '0' } as const
    return { kind: 'sticker_list', stickers: found.flatMap((one) => stickerOf(one, shown) ?? []) }
  },

  async topic_icons(context) {
    const set = await stickerSet(context, { _: 'inputStickerSetEmojiDefaultTopicIcons' })
    return { kind: 'sticker_list', stickers: set.stickers }
  },

  async set_chat_stickers({ calls, signal }, { chat, name }) {
    const channel = await calls.channel(chat, signal)
    const stickerset: tl.TypeInputStickerSet =
      name === undefined ? { _: 'inputStickerSetEmpty' } : byName(name)
    await calls.call({ _: 'channels.setStickers', channel, stickerset }, { signal })
    return done
  },
}

const byName = (shortName: string) => ({ _: 'inputStickerSetShortName', shortName }) as const

function numberOf(id: string): string {
  if (/^\d{1,20}$/.test(id)) return id
  throw badRequest('STICKER_INVALID')
}

/** A person makes sets only for themselves. */
function assertOwn({ self }: Context, person: string): void {
  if (person !== self)
    throw badRequest('sticker sets of other people are not supported on Telegram')
}

async function stickerSet(
  context: Context,
  stickerset: tl.TypeInputStickerSet,
): Promise<StickerSet> {
  const request = { _: 'messages.getStickerSet', stickerset, hash: 0 } as const
  const found = await context.calls.call(request, readOptions(context))
  if (found._ !== 'messages.stickerSet') throw badRequest('STICKERSET_INVALID')
  const { shortName: name, title, masks, emojis } = found.set
  const shown = { of: 'set', chat: name } as const
  return {
    name,
    title,
    ...(masks && { type: 'mask' }),
    ...(emojis && { type: 'custom_emoji' }),
    stickers: found.documents.flatMap((one) => stickerOf(one, shown) ?? []),
  }
}

function stickerOf(document: tl.TypeDocument, shown: Shown): Media | undefined {
  const media = documentOf(document, shown)
  if (!media || document._ !== 'document') return undefined
  const sticker = document.attributes.find((one) => one._ === 'documentAttributeSticker')
  const emoji = document.attributes.find((one) => one._ === 'documentAttributeCustomEmoji')
  const mask = sticker?.mask && positionOf(sticker.maskCoords)
  return {
    ...media,
    kind: 'sticker',
    ...(shown.of === 'set' && { setName: shown.chat }),
    ...(emoji && {
      emoji: emoji.alt,
      stickerType: 'custom_emoji',
      customEmojiId: document.id.toString(),
    }),
    ...(emoji?.textColor && { needsRepainting: true }),
    ...(sticker?.mask && { stickerType: 'mask' }),
    ...(mask && { mask }),
  }
}

const POINTS = ['forehead', 'eyes', 'mouth', 'chin'] as const

const coordsOf = ({
  point,
  xShift: x,
  yShift: y,
  scale: zoom,
}: MaskPosition): tl.RawMaskCoords => ({
  _: 'maskCoords',
  n: POINTS.indexOf(point),
  x,
  y,
  zoom,
})

function positionOf(coords: tl.TypeMaskCoords | undefined): MaskPosition | undefined {
  const point = coords && POINTS[coords.n]
  return point && { point, xShift: coords.x, yShift: coords.y, scale: coords.zoom }
}

async function itemsOf(
  context: Context,
  stickers: readonly NewSticker[],
): Promise<tl.TypeInputStickerSetItem[]> {
  const items: tl.TypeInputStickerSetItem[] = []
  for (const sticker of stickers) items.push(await itemOf(context, sticker))
  return items
}

async function itemOf(
  context: Context,
  { media, emojis, keywords, mask }: NewSticker,
): Promise<tl.TypeInputStickerSetItem> {
  return {
    _: 'inputStickerSetItem',
    document: await inputDocument(context, media),
    emoji: emojis.join(''),
    ...(keywords.length > 0 && { keywords: keywords.join(',') }),
    ...(mask && { maskCoords: coordsOf(mask) }),
  }
}

/** A sticker that is a picture is stored as a document, too. */
const asSticker = (media: Media): Media => ({ ...media, kind: 'sticker' })

const inputDocument = (context: Context, media: Media): Promise<tl.RawInputDocument> =>
  inputDocumentOf(context, asSticker(media))
