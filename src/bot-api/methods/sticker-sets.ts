/** Methods about sticker sets: making them, changing them and finding their stickers. */

import { badRequest } from '../../../machines/model/failure.ts'
import type { Media, StickerType } from '../../../machines/model/media.ts'
import type { OperationKind, PublicOperation } from '../../../machines/model/operation.ts'
import type { StickerChange, StickerSetChange } from '../../../machines/model/operation-stickers.ts'
import type { Arguments } from '../arguments.ts'
import {
  emojisOf,
  formatOf,
  keywordsOf,
  MASK_PROBLEMS,
  maskOf,
  newStickerOf,
  newStickersOf,
  stickerFileOf,
} from '../input-sticker.ts'
import { knownMedia, uploadOf } from '../media.ts'
import { type Call, type Method, onlyOnce, type ParameterType, result } from '../method.ts'

const CUSTOM_EMOJI = 200
const TYPES: readonly StickerType[] = ['regular', 'mask', 'custom_emoji']

const stickerMethod = (
  name: string,
  summary: string,
  operation: OperationKind,
  parameters: Readonly<Record<string, ParameterType>>,
  required: readonly string[],
  read: (call: Call) => Promise<PublicOperation> | PublicOperation,
): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation,
  parameters,
  required,
  run: async (call) => result(await call.perform(await read(call))),
})

/** Changes a set given by its name. */
const settingOfSet = (
  name: string,
  summary: string,
  parameters: Readonly<Record<string, ParameterType>>,
  change: (call: Call) => Promise<StickerSetChange> | StickerSetChange,
): Method =>
  stickerMethod(
    name,
    summary,
    'edit_sticker_set',
    { name: 'string', ...parameters },
    ['name'],
    async (call) => ({
      kind: 'edit_sticker_set',
      name: nameOf(call),
      ...('user_id' in parameters && { person: call.args.userId() }),
      change: await change(call),
    }),
  )

/** Changes a sticker of a set that this account made. */
const settingOfSticker = (
  name: string,
  summary: string,
  parameters: Readonly<Record<string, ParameterType>>,
  change: (args: Arguments) => StickerChange,
): Method =>
  stickerMethod(
    name,
    summary,
    'edit_sticker',
    { sticker: 'string', ...parameters },
    ['sticker'],
    (call) => ({
      kind: 'edit_sticker',
      sticker: stickerNamed(call, 'sticker'),
      change: change(call.args),
    }),
  )

const owned = { user_id: 'integer' } as const

export const stickerSetMethods: readonly Method[] = [
  {
    ...stickerMethod(
      'getStickerSet',
      'A sticker set with its stickers',
      'sticker_set',
      { name: 'string' },
      ['name'],
      (call) => ({ kind: 'sticker_set', name: nameOf(call) }),
    ),
    scope: undefined,
  },
  {
    name: 'getCustomEmojiStickers',
    summary: 'Stickers of custom emoji',
    scope: undefined,
    operation: undefined,
    parameters: { custom_emoji_ids: 'json' },
    required: ['custom_emoji_ids'],
    run: async ({ args, platform, perform }) => {
      const ids = emojiIdsOf(args)
      // Other networks do not list their custom emoji, so none is found there.
      const isTold = platform.capabilities.operations.includes('custom_emoji')
      return result(isTold ? await perform({ kind: 'custom_emoji', ids }) : [])
    },
  },
  {
    name: 'getForumTopicIconStickers',
    summary: 'Icons for topics',
    scope: undefined,
    operation: undefined,
    parameters: {},
    required: [],
    run: async ({ platform, perform }) => {
      const isTold = platform.capabilities.operations.includes('topic_icons')
      return result(isTold ? await perform({ kind: 'topic_icons' }) : [])
    },
  },
  stickerMethod(
    'uploadStickerFile',
    'Uploads a sticker for a set that is made later',
    'upload_sticker',
    { ...owned, sticker: 'file', sticker_format: 'string' },
    ['user_id', 'sticker', 'sticker_format'],
    async (call) => {
      const { args } = call
      const person = args.userId()
      const format = formatOf(args.text('sticker_format') ?? '')
      if (!uploadOf(call, args, 'sticker'))
        throw badRequest('sticker must be uploaded as an InputFile')
      return { kind: 'upload_sticker', person, format, media: await stickerFileOf(call, 'sticker') }
    },
  ),
  onlyOnce(
    stickerMethod(
      'createNewStickerSet',
      'Makes a sticker set',
      'create_sticker_set',
      {
        ...owned,
        name: 'string',
        title: 'string',
        stickers: 'json',
        sticker_type: 'string',
        needs_repainting: 'boolean',
      },
      ['user_id', 'name', 'title', 'stickers'],
      async (call) => {
        const { args } = call
        const person = args.userId()
        const stickers = await newStickersOf(call)
        return {
          kind: 'create_sticker_set',
          person,
          name: nameOf(call),
          title: args.text('title') ?? '',
          type: typeOf(args),
          needsRepainting: args.boolean('needs_repainting'),
          stickers,
        }
      },
    ),
  ),
  onlyOnce(
    settingOfSet(
      'addStickerToSet',
      'Adds a sticker to a set',
      { ...owned, sticker: 'json' },
      async (call) => ({ do: 'add', sticker: await newStickerOf(call) }),
    ),
  ),
  settingOfSet(
    'replaceStickerInSet',
    'Puts a sticker in the place of another',
    { ...owned, old_sticker: 'string', sticker: 'json' },
    async (call) => ({
      do: 'replace',
      old: stickerNamed(call, 'old_sticker'),
      sticker: await newStickerOf(call),
    }),
  ),
  settingOfSet('setStickerSetTitle', 'Gives a set a title', { title: 'string' }, ({ args }) => ({
    do: 'title',
    title: args.text('title') ?? '',
  })),
  settingOfSet(
    'setStickerSetThumbnail',
    'Gives a set a thumbnail, or takes it away',
    { ...owned, thumbnail: 'file', format: 'string' },
    thumbnailOf,
  ),
  settingOfSet(
    'setCustomEmojiStickerSetThumbnail',
    'Shows one of its custom emoji as the thumbnail of a set',
    { custom_emoji_id: 'string' },
    ({ args }) => {
      const customEmojiId = args.text('custom_emoji_id')
      return { do: 'emoji_thumbnail', ...(customEmojiId !== undefined && { customEmojiId }) }
    },
  ),
  settingOfSet('deleteStickerSet', 'Deletes a set', {}, () => ({ do: 'delete' })),
  settingOfSticker(
    'setStickerPositionInSet',
    'Moves a sticker within its set',
    { position: 'integer' },
    (args) => ({
      do: 'move',
      position: args.has('position') ? args.integer('position', { min: -1, max: 2 ** 31 - 1 }) : -1,
    }),
  ),
  settingOfSticker('deleteStickerFromSet', 'Removes a sticker from its set', {}, () => ({
    do: 'remove',
  })),
  settingOfSticker(
    'setStickerEmojiList',
    'Gives a sticker its emoji',
    { emoji_list: 'json' },
    (args) => {
      args.parsed('emoji_list', 'emoji list JSON array')
      return { do: 'emojis', emojis: emojisOf(args, "can't parse emoji list") }
    },
  ),
  settingOfSticker(
    'setStickerKeywords',
    'Gives a sticker the words that it is found by',
    { keywords: 'json' },
    (args) => ({ do: 'keywords', keywords: keywordsOf(args, '') }),
  ),
  settingOfSticker(
    'setStickerMaskPosition',
    'Says where a mask is put on a face',
    { mask_position: 'json' },
    (args) => ({ do: 'mask', ...maskOf(args, ...MASK_PROBLEMS) }),
  ),
  stickerMethod(
    'setChatStickerSet',
    'Gives a supergroup a sticker set',
    'set_chat_stickers',
    { chat_id: 'chat', sticker_set_name: 'string' },
    ['chat_id', 'sticker_set_name'],
    ({ args }) => ({
      kind: 'set_chat_stickers',
      chat: args.chat(),
      name: setNameOf(args),
    }),
  ),
  stickerMethod(
    'deleteChatStickerSet',
    'Takes the sticker set of a supergroup away',
    'set_chat_stickers',
    { chat_id: 'chat' },
    ['chat_id'],
    ({ args }) => ({ kind: 'set_chat_stickers', chat: args.chat() }),
  ),
]

function setNameOf(args: Arguments): string {
  const name = (args.text('sticker_set_name') ?? '').trim()
  if (name === '') throw badRequest('sticker_set_name is empty')
  return name
}

const nameOf = ({ args }: Call): string => (args.text('name') ?? '').trim()

function emojiIdsOf(args: Arguments): readonly string[] {
  if (!args.has('custom_emoji_ids')) throw badRequest('parameter "custom_emoji_ids" is required')
  const ids = args.list('custom_emoji_ids', 'custom emoji identifiers', 'custom emoji identifiers')
  if (ids.length > CUSTOM_EMOJI) throw badRequest('too many custom emoji identifiers specified')
  return ids.map((id: unknown) => {
    if (typeof id !== 'string') throw badRequest('custom emoji identifier must be of type String')
    if (!/^-?\d{1,19}$/.test(id)) throw badRequest('invalid custom emoji identifier specified')
    return id
  })
}

function typeOf(args: Arguments): StickerType {
  if (args.boolean('contains_masks')) return 'mask'
  const given = args.text('sticker_type') ?? 'regular'
  const type = TYPES.find((known) => known === given)
  if (!type) throw badRequest('unsupported sticker type specified')
  return type
}

/** A sticker by its file_id. */
function stickerNamed(call: Call, parameter: string): Media {
  const fileId = call.args.text(parameter)?.trim()
  if (fileId === undefined) throw badRequest('sticker is not specified')
  return knownMedia(call, 'sticker', fileId)
}

async function thumbnailOf(call: Call): Promise<StickerSetChange> {
  const { args } = call
  const format = args.has('format') ? formatOf(args.text('format') ?? '') : undefined
  const parameter = ['thumbnail', 'thumb'].find((name) => args.has(name) || call.uploads.has(name))
  if (parameter === undefined) return { do: 'thumbnail' }
  const thumbnail = await stickerFileOf(call, parameter)
  return { do: 'thumbnail', thumbnail, ...(format && { format }) }
}
