/** Methods about sticker sets. */
import { failed } from '../../../machines/model/failure.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'

const CUSTOM_EMOJI = 200

const bad = (description: string) => failed('bad_request', description)

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

/** No network behind the gateway tells its custom emoji, so none is ever found. */
const getCustomEmojiStickers: Method = {
  name: 'getCustomEmojiStickers',
  summary: 'Stickers of custom emoji',
  scope: undefined,
  operation: undefined,
  parameters: { custom_emoji_ids: 'json' },
  required: ['custom_emoji_ids'],
  run: async ({ args }) => {
    assertEmojiIds(args)
    return result([])
  },
}

function assertEmojiIds(args: Arguments): void {
  if (!args.has('custom_emoji_ids')) throw bad('parameter "custom_emoji_ids" is required')
  const ids = args.json('custom_emoji_ids')
  if (ids === undefined) throw bad("can't parse custom emoji identifiers JSON object")
  if (!Array.isArray(ids)) throw bad('expected an Array of custom emoji identifiers')
  if (ids.length > CUSTOM_EMOJI) throw bad('too many custom emoji identifiers specified')
  for (const id of ids) {
    if (typeof id !== 'string') throw bad('custom emoji identifier must be of type String')
    if (!/^-?\d{1,19}$/.test(id)) throw bad('invalid custom emoji identifier specified')
  }
}

export const stickerSetMethods = [getStickerSet, getCustomEmojiStickers]
