/** Methods that send or replace files: photos, videos, music and documents, alone or as an album. */

import type { Content } from '../../../machines/model/content.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { MediaKind } from '../../../machines/model/media.ts'
import { Arguments } from '../arguments.ts'
import { mediaOf, uploadOf } from '../media.ts'
import { type Call, type Method, type ParameterType, result } from '../method.ts'
import {
  assertQuotable,
  captioned,
  delivery,
  deliveryOf,
  edit,
  editing,
  effectOf,
  ephemeralParameters,
  forBusiness,
  isInline,
  replying,
  replyOf,
  send,
  sending,
  suggesting,
  toDirectTopic,
  withEffect,
} from '../sending.ts'
import { captionOf } from '../text.ts'

type Parameters = Readonly<Record<string, ParameterType>>

const thumbnail = { thumbnail: 'file' } as const
const framed = { duration: 'integer', width: 'integer', height: 'integer', ...thumbnail } as const
const spoiler = { has_spoiler: 'boolean' } as const

/** The message that carries a file, with what `args` say of it. */
async function mediaContent(
  call: Call,
  kind: MediaKind,
  parameter: string = kind,
  args: Arguments = call.args,
): Promise<Content & { readonly kind: 'media' }> {
  const caption = captionOf(args)
  const media = await mediaOf(call, kind, parameter, args)
  return {
    kind: 'media',
    media,
    caption,
    ...(args.boolean('show_caption_above_media') && { captionAbove: true }),
    ...(args.boolean('has_spoiler') && { spoiler: true }),
  }
}

const sender = (name: string, summary: string, kind: MediaKind, more: Parameters): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation: 'send',
  content: kind,
  sends: true,
  parameters: { ...sending, ...ephemeralParameters, ...suggesting, [kind]: 'file', ...more },
  required: ['chat_id', kind],
  run: async (call) => result(await send(call, () => mediaContent(call, kind))),
})

export const mediaMethods: readonly Method[] = [
  sender('sendPhoto', 'Sends a photo', 'photo', { ...captioned, ...spoiler }),
  sender('sendVideo', 'Sends a video', 'video', { ...captioned, ...spoiler, ...framed }),
  sender('sendAnimation', 'Sends a silent video or a GIF', 'animation', {
    ...captioned,
    ...spoiler,
    ...framed,
  }),
  sender('sendAudio', 'Sends a piece of music', 'audio', {
    ...captioned,
    ...thumbnail,
    duration: 'integer',
    performer: 'string',
    title: 'string',
  }),
  sender('sendVoice', 'Sends a spoken message', 'voice', { ...captioned, duration: 'integer' }),
  sender('sendVideoNote', 'Sends a round video message', 'video_note', {
    ...thumbnail,
    duration: 'integer',
    length: 'integer',
  }),
  sender('sendDocument', 'Sends a file of any kind', 'document', { ...captioned, ...thumbnail }),
  sender('sendSticker', 'Sends a sticker', 'sticker', { emoji: 'string' }),
]

const ITEMS = 10
const IN_ALBUMS: readonly MediaKind[] = ['photo', 'video', 'audio', 'document']
const EDITABLE: readonly MediaKind[] = [...IN_ALBUMS, 'animation']
/** Music and documents stand among their own kind only. */
const APART: readonly MediaKind[] = ['audio', 'document']
const KINDS = { photo: 'Photo', video: 'Video', audio: 'Audio', document: 'Document' } as const

const bad = (description: string) => failed('bad_request', description)

const sendMediaGroup: Method = {
  name: 'sendMediaGroup',
  summary: 'Sends several photos, videos, documents or pieces of music as one album',
  scope: 'bot:send',
  operation: 'send_album',
  sends: true,
  parameters: {
    chat_id: 'chat',
    ...forBusiness,
    media: 'json',
    ...delivery,
    ...toDirectTopic,
    ...replying,
    ...withEffect,
  },
  required: ['chat_id', 'media'],
  run: async (call) => {
    const { args, perform, platform } = call
    const reply = replyOf(args, platform)
    assertQuotable(platform, reply)
    const terms = { chat: args.chat(), ...deliveryOf(args), ...effectOf(args), ...reply }
    const contents = []
    for (const [place, { kind, item }] of itemsOf(args).entries()) {
      contents.push(await mediaContent(call, kind, 'media', item).catch(inItem(place)))
    }
    return result(await perform({ kind: 'send_album', ...terms, contents }))
  },
}

const editMessageMedia: Method = {
  name: 'editMessageMedia',
  summary: 'Puts another file into a message',
  scope: 'bot:send',
  operation: 'edit',
  content: 'photo',
  parameters: { ...editing, media: 'json' },
  required: ['chat_id', 'message_id', 'media'],
  run: async (call) => result(await edit(call, () => newMedia(call))),
}

async function newMedia(call: Call) {
  const content = await editedMedia(call, 'editMessageMedia')
  return { kind: 'edit' as const, content }
}

/** The content of `media`, by which a method changes a message. */
export async function editedMedia(call: Call, method: string) {
  const { kind, item } = itemOf(objectIn(call.args), EDITABLE, method)
  // Its bytes would come from a bot that need not be in the chat.
  if (isInline(call) && uploadOf(call, item, 'media')) {
    throw bad("inline message media can't be uploaded")
  }
  const content = await mediaContent(call, kind, 'media', item)
  if (!EDITABLE.includes(content.media.kind)) throw bad("message media can't be edited")
  return content
}

interface Item {
  readonly kind: MediaKind
  readonly item: Arguments
}

function itemsOf(args: Arguments): Item[] {
  const given = args.json('media')
  if (given === undefined) throw bad("can't parse media JSON object")
  if (!Array.isArray(given)) throw bad('expected an Array of InputMedia')
  if (given.length === 0) throw bad('there are no messages to send')
  if (given.length > ITEMS) throw bad('too many messages to send as an album')
  const items = given.map((value) => itemOf(value, IN_ALBUMS, 'sendMediaGroup'))
  const [first] = items
  const odd = items.find(({ kind }) => kind !== first?.kind)
  const apart = [first?.kind, odd?.kind].find((kind) => kind && APART.includes(kind))
  if (odd && apart) {
    throw bad(`${KINDS[apart as keyof typeof KINDS]} can't be mixed with other media types`)
  }
  if (items.some(({ item }) => isAbove(item) !== isAbove(items[0]?.item))) {
    throw bad('parameter show_caption_above_media must be the same for all messages')
  }
  return items
}

const isAbove = (item: Arguments | undefined) => item?.boolean('show_caption_above_media')

const inItem = (place: number) => (cause: unknown) => {
  const isRefused = cause instanceof RequestFailed && cause.failure.code === 'bad_request'
  if (!isRefused) throw cause
  const { description } = cause.failure
  throw bad(`failed to send message #${place + 1} with the error message "${description}"`)
}

function objectIn(args: Arguments): unknown {
  const given = args.json('media')
  if (given === undefined) throw bad("can't parse media JSON object")
  return given
}

function itemOf(value: unknown, kinds: readonly MediaKind[], method: string): Item {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad("can't parse InputMedia: expected an Object")
  }
  const item = Arguments.from(value)
  const type = item.text('type')
  if (type === undefined) throw bad('can\'t parse InputMedia: can\'t find field "type"')
  const kind = kinds.find((known) => known === type.toLowerCase())
  if (!kind) throw bad(`can't parse InputMedia: type "${type}" can't be used in ${method}`)
  if (!item.has('media')) throw bad("can't parse InputMedia: media not found")
  return { kind, item }
}

export const albumMethods = [sendMediaGroup, editMessageMedia]
