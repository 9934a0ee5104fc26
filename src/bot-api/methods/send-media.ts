/** Methods that send or replace files: photos, videos, music and documents, alone or as an album. */

import type { Content } from '../../../machines/model/content.ts'
import { badRequest, RequestFailed } from '../../../machines/model/failure.ts'
import type { Media, MediaKind } from '../../../machines/model/media.ts'
import type { Text } from '../../../machines/model/text.ts'
import { Arguments } from '../arguments.ts'
import { framedVideo, isFileId, livePhotoOf, mediaOf, uploadOf } from '../media.ts'
import { type Call, type Method, type ParameterType, result } from '../method.ts'
import {
  assertQuotable,
  businessParameters,
  captionParameters,
  deliveryOf,
  deliveryParameters,
  directTopicParameters,
  edit,
  editParameters,
  effectOf,
  effectParameters,
  ephemeralParameters,
  isInline,
  replyOf,
  replyParameters,
  send,
  sendParameters,
  suggestParameters,
} from '../sending.ts'
import { captionOf } from '../text.ts'

type Parameters = Readonly<Record<string, ParameterType>>

const thumbnail = { thumbnail: 'file' } as const
const framed = { duration: 'integer', width: 'integer', height: 'integer', ...thumbnail } as const
const spoiler = { has_spoiler: 'boolean' } as const

/** A live photo is a photo with a video beside it. */
type ItemKind = MediaKind | 'live_photo'

/** The message that carries a file, with what `args` say of it. */
async function mediaContent(
  call: Call,
  kind: ItemKind,
  parameter: string = kind,
  args: Arguments = call.args,
  caption: Text = captionOf(args),
): Promise<Content & { readonly kind: 'media' }> {
  const media = await fileOf(call, kind, parameter, args)
  return {
    kind: 'media',
    media,
    caption,
    ...(args.boolean('show_caption_above_media') && { captionAbove: true }),
    ...(args.boolean('has_spoiler') && { spoiler: true }),
  }
}

async function fileOf(
  call: Call,
  kind: ItemKind,
  parameter: string,
  args: Arguments,
): Promise<Media> {
  if (kind === 'live_photo') return livePhotoOf(call, parameter, args)
  const media = await mediaOf(call, kind, parameter, args)
  return kind === 'video' ? framedVideo(call, media, args) : media
}

const sender = (name: string, summary: string, kind: ItemKind, more: Parameters): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation: 'send',
  content: kind,
  sends: true,
  parameters: {
    ...sendParameters,
    ...ephemeralParameters,
    ...suggestParameters,
    [kind]: 'file',
    ...more,
  },
  required: ['chat_id', kind, ...(kind === 'live_photo' ? ['photo'] : [])],
  run: async (call) => result(await send(call, () => mediaContent(call, kind))),
})

export const mediaMethods: readonly Method[] = [
  sender('sendPhoto', 'Sends a photo', 'photo', { ...captionParameters, ...spoiler }),
  sender('sendLivePhoto', 'Sends a photo with a short video of the moment', 'live_photo', {
    ...captionParameters,
    ...spoiler,
    photo: 'file',
  }),
  sender('sendVideo', 'Sends a video', 'video', {
    ...captionParameters,
    ...spoiler,
    ...framed,
    cover: 'file',
    start_timestamp: 'integer',
  }),
  sender('sendAnimation', 'Sends a silent video or a GIF', 'animation', {
    ...captionParameters,
    ...spoiler,
    ...framed,
  }),
  sender('sendAudio', 'Sends a piece of music', 'audio', {
    ...captionParameters,
    ...thumbnail,
    duration: 'integer',
    performer: 'string',
    title: 'string',
  }),
  sender('sendVoice', 'Sends a spoken message', 'voice', {
    ...captionParameters,
    duration: 'integer',
  }),
  sender('sendVideoNote', 'Sends a round video message', 'video_note', {
    ...thumbnail,
    duration: 'integer',
    length: 'integer',
  }),
  sender('sendDocument', 'Sends a file of any kind', 'document', {
    ...captionParameters,
    ...thumbnail,
  }),
  sender('sendSticker', 'Sends a sticker', 'sticker', { emoji: 'string' }),
]

const ITEMS = 10
const IN_ALBUMS: readonly ItemKind[] = ['photo', 'live_photo', 'video', 'audio', 'document']
const EDITABLE: readonly ItemKind[] = [...IN_ALBUMS, 'animation']
/** Music and documents stand among their own kind only. */
const APART: readonly ItemKind[] = ['audio', 'document']
const KINDS = { photo: 'Photo', video: 'Video', audio: 'Audio', document: 'Document' } as const

const sendMediaGroup: Method = {
  name: 'sendMediaGroup',
  summary: 'Sends several photos, videos, documents or pieces of music as one album',
  scope: 'bot:send',
  operation: 'send_album',
  sends: true,
  parameters: {
    chat_id: 'chat',
    ...businessParameters,
    media: 'json',
    ...deliveryParameters,
    ...directTopicParameters,
    ...replyParameters,
    ...effectParameters,
  },
  required: ['chat_id', 'media'],
  run: async (call) => {
    const { args, perform, platform } = call
    const reply = replyOf(args, platform)
    assertQuotable(platform, reply)
    const terms = { chat: args.chat(), ...deliveryOf(args), ...effectOf(args), ...reply }
    const contents = []
    for (const [place, { kind, item, caption }] of itemsOf(call).entries()) {
      const content = mediaContent(call, kind, 'media', item, caption)
      // A file_id is read before anything is sent, so that its refusal stands alone.
      const isRead = isFileId(item.text('media') ?? '')
      contents.push(await (isRead ? content : content.catch(inItem(place))))
    }
    return result(await perform({ kind: 'send_album', ...terms, contents }))
  },
}

const MOST_STARS = 25_000
const PAYLOAD_BYTES = 128
const SOLD: readonly ItemKind[] = ['photo', 'live_photo', 'video']

const sendPaidMedia: Method = {
  name: 'sendPaidMedia',
  summary: 'Sends photos and videos that each reader pays for with Telegram Stars',
  scope: 'bot:send',
  operation: 'send',
  content: 'paid_media',
  sends: true,
  parameters: {
    chat_id: 'chat',
    ...businessParameters,
    ...deliveryParameters,
    ...replyParameters,
    reply_markup: 'json',
    ...suggestParameters,
    star_count: 'integer',
    media: 'json',
    payload: 'string',
    ...captionParameters,
  },
  required: ['chat_id', 'star_count', 'media'],
  run: async (call) => result(await send(call, () => paidContent(call))),
}

async function paidContent(call: Call): Promise<Content> {
  const { args } = call
  if (!args.has('media')) throw badRequest('parameter "media" is required')
  const stars = Number(args.text('star_count'))
  if (!Number.isInteger(stars) || stars < 1 || stars > MOST_STARS) {
    throw badRequest('invalid media price specified')
  }
  const payload = args.text('payload') ?? ''
  if (Buffer.byteLength(payload) > PAYLOAD_BYTES) throw badRequest('PAYLOAD_INVALID')
  const given = args.list('media', 'paid media', 'InputPaidMedia')
  if (given.length === 0 || given.length > ITEMS) {
    throw badRequest('invalid number of paid media specified')
  }
  const caption = captionOf(args)
  const items: Media[] = []
  for (const value of given) {
    const { kind, item } = itemOf(call, value, SOLD, 'InputPaidMedia')
    items.push(await fileOf(call, kind, 'media', item))
  }
  return {
    kind: 'paid_media',
    paid: { stars, items, ...(payload && { payload }) },
    caption,
    ...(args.boolean('show_caption_above_media') && { captionAbove: true }),
  }
}

const editMessageMedia: Method = {
  name: 'editMessageMedia',
  summary: 'Puts another file into a message',
  scope: 'bot:send',
  operation: 'edit',
  content: 'photo',
  parameters: { ...editParameters, media: 'json' },
  required: ['chat_id', 'message_id', 'media'],
  run: async (call) => result(await edit(call, () => newMedia(call))),
}

async function newMedia(call: Call) {
  const content = await editedMedia(call)
  return { kind: 'edit' as const, content }
}

/** The content of `media`, by which a method changes a message. */
export async function editedMedia(call: Call) {
  const { kind, item, caption } = captionedItem(call, objectIn(call.args), EDITABLE)
  // Its bytes would come from a bot that need not be in the chat.
  if (isInline(call) && uploadOf(call, item, 'media')) {
    throw badRequest("inline message media can't be uploaded")
  }
  const content = await mediaContent(call, kind, 'media', item, caption)
  if (!EDITABLE.includes(content.media.kind)) throw badRequest("message media can't be edited")
  return content
}

interface Item {
  readonly kind: ItemKind
  readonly item: Arguments
}

interface CaptionedItem extends Item {
  readonly caption: Text
}

function itemsOf(call: Call): CaptionedItem[] {
  const { args } = call
  if (!args.has('media')) throw badRequest('parameter "media" is required')
  const given = args.list('media', 'media', 'InputMedia')
  if (given.length === 0) throw badRequest('there are no messages to send')
  if (given.length > ITEMS) throw badRequest('too many messages to send as an album')
  const items = given.map((value) => captionedItem(call, value, IN_ALBUMS))
  const [first] = items
  const odd = items.find(({ kind }) => kind !== first?.kind)
  const apart = [first?.kind, odd?.kind].find((kind) => kind && APART.includes(kind))
  if (odd && apart) {
    throw badRequest(`${KINDS[apart as keyof typeof KINDS]} can't be mixed with other media types`)
  }
  if (items.some(({ item }) => isAbove(item) !== isAbove(items[0]?.item))) {
    throw badRequest('parameter show_caption_above_media must be the same for all messages')
  }
  return items
}

const isAbove = (item: Arguments | undefined) => item?.boolean('show_caption_above_media')

const inItem = (place: number) => (cause: unknown) => {
  const isRefused = cause instanceof RequestFailed && cause.failure.code === 'bad_request'
  if (!isRefused) throw cause
  const { description } = cause.failure
  throw badRequest(`failed to send message #${place + 1} with the error message "${description}"`)
}

function objectIn(args: Arguments): unknown {
  if (!args.has('media')) throw badRequest('parameter "media" is required')
  return args.parsed('media', 'input media JSON object')
}

type Called = 'InputMedia' | 'InputPaidMedia'

const unread = (called: Called, problem: string) => badRequest(`can't parse ${called}: ${problem}`)

function captionedItem(call: Call, value: unknown, kinds: readonly ItemKind[]): CaptionedItem {
  const called = 'InputMedia'
  const read = itemOf(call, value, kinds, called)
  return { ...read, caption: captionOf(read.item, called) }
}

function itemOf(call: Call, value: unknown, kinds: readonly ItemKind[], called: Called): Item {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unread(called, 'expected an Object')
  }
  const item = Arguments.from(value)
  const type = item.text('type')
  if (type === undefined) throw unread(called, 'Can\'t find field "type"')
  if (!isThere(call, item, 'media')) throw unread(called, 'media not found')
  const kind = kinds.find((known) => known === type.toLowerCase())
  if (!kind) {
    const isMoving = kinds === IN_ALBUMS && type === 'animation'
    const problem = isMoving ? "can't be used in sendMediaGroup" : 'is unsupported'
    throw unread(called, `type "${type}" ${problem}`)
  }
  if (kind === 'live_photo' && !isThere(call, item, 'photo')) {
    throw unread(called, 'photo not found')
  }
  return { kind, item }
}

/** Whether the file that an item names came along with the call, or needs not to. */
function isThere(call: Call, item: Arguments, name: 'media' | 'photo'): boolean {
  const value = item.text(name)
  if (value === undefined) return false
  return !value.startsWith('attach://') || uploadOf(call, item, name) !== undefined
}

export const albumMethods = [sendMediaGroup, sendPaidMedia, editMessageMedia]
