/** What the methods about sticker sets are called with on the sandbox, and what they answer. */
import type { MethodRow } from './method-rows.ts'
import { file } from './method-shapes.ts'
import type { MethodStage } from './method-stage.ts'

export function stickerRows({
  ada,
  chat_id,
  done,
}: MethodStage): Readonly<Record<string, MethodRow>> {
  const inGroup = { chat_id }
  const aSticker = (sticker: string) => ({ sticker, format: 'static', emoji_list: ['🐙'] })
  let sets = 0
  const aStickerSet = (title: string) => ({
    user_id: ada.id,
    name: `${title}_${++sets}_by_gatebot`,
    title: 'Set',
    stickers: [aSticker('attach://picture')],
  })
  const madeSet = async (title: string, more: object = {}) => {
    const set = { ...aStickerSet(title), ...more }
    await done('createNewStickerSet', set)
    return { user_id: ada.id, name: set.name }
  }
  const stickerOf = async ({ name }: { readonly name: string }) => {
    const [{ file_id }] = (await done('getStickerSet', { name })).stickers
    return { sticker: file_id as string }
  }
  return {
    uploadStickerFile: [
      file,
      { user_id: ada.id, sticker: 'attach://picture', sticker_format: 'static' },
    ],
    createNewStickerSet: [true, async () => aStickerSet('new')],
    addStickerToSet: [
      true,
      async () => ({ ...(await madeSet('added')), sticker: aSticker('attach://other') }),
    ],
    replaceStickerInSet: [
      true,
      async () => {
        const set = await madeSet('replaced')
        const { sticker: old_sticker } = await stickerOf(set)
        return { ...set, old_sticker, sticker: aSticker('attach://other') }
      },
    ],
    setStickerSetTitle: [true, async () => ({ ...(await madeSet('titled')), title: 'New' })],
    setStickerSetThumbnail: [
      true,
      async () => ({
        ...(await madeSet('thumbed')),
        format: 'static',
        thumbnail: 'attach://other',
      }),
    ],
    setCustomEmojiStickerSetThumbnail: [
      true,
      async () => ({ ...(await madeSet('emoji', { sticker_type: 'custom_emoji' })) }),
    ],
    deleteStickerSet: [true, () => madeSet('deleted')],
    setStickerPositionInSet: [
      true,
      async () => ({ ...(await stickerOf(await madeSet('moved'))), position: 0 }),
    ],
    deleteStickerFromSet: [true, async () => stickerOf(await madeSet('removed'))],
    setStickerEmojiList: [
      true,
      async () => ({ ...(await stickerOf(await madeSet('renamed'))), emoji_list: ['🐙'] }),
    ],
    setStickerKeywords: [
      true,
      async () => ({ ...(await stickerOf(await madeSet('words'))), keywords: ['sea'] }),
    ],
    setStickerMaskPosition: [
      true,
      async () => ({
        ...(await stickerOf(await madeSet('masks', { sticker_type: 'mask' }))),
        mask_position: { point: 'eyes', x_shift: 0, y_shift: 0, scale: 1 },
      }),
    ],
    setChatStickerSet: [true, { ...inGroup, sticker_set_name: 'Teapots' }],
    deleteChatStickerSet: [true, inGroup],
  }
}
