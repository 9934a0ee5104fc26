/** Methods that send one file: photos, videos, music, documents and their kind. */
import type { Content } from '../../../machines/model/content.ts'
import type { MediaKind } from '../../../machines/model/media.ts'
import type { Arguments } from '../arguments.ts'
import { mediaOf } from '../media.ts'
import { type Call, type Method, type ParameterType, result } from '../method.ts'
import { captioned, ephemeralParameters, send, sending } from '../sending.ts'
import { captionOf } from '../text.ts'

type Parameters = Readonly<Record<string, ParameterType>>

const thumbnail = { thumbnail: 'file' } as const
const framed = { duration: 'integer', width: 'integer', height: 'integer', ...thumbnail } as const
const spoiler = { has_spoiler: 'boolean' } as const

/** The message that carries a file, with what `args` say of it. */
export async function mediaContent(
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
  parameters: { ...sending, ...ephemeralParameters, [kind]: 'file', ...more },
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
