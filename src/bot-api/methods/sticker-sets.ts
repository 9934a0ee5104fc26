/** Methods about sticker sets. */
import { type Method, result } from '../method.ts'

const getStickerSet: Method = {
  name: 'getStickerSet',
  summary: 'A sticker set with its stickers',
  scope: undefined,
  operation: 'sticker_set',
  parameters: { name: 'string' },
  required: ['name'],
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'sticker_set', name: (args.text('name') ?? '').trim() })),
}

export const stickerSetMethods = [getStickerSet]
