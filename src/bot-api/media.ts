/** A file among the parameters of a call, as media to be sent: uploaded, from the web, or known by its file_id. */

import { badRequest } from '../../machines/model/failure.ts'
import { MEDIA_KINDS, type Media, type MediaKind } from '../../machines/model/media.ts'
import type { Ingestion, Source, Upload } from '../media/media.ts'
import type { Arguments } from './arguments.ts'
import type { FileKind } from './file-id.ts'
import type { Call } from './method.ts'

/** The reference's names of the kinds in its errors. */
const nameOf: Readonly<Record<FileKind, string>> = {
  photo: 'Photo',
  video: 'Video',
  animation: 'Animation',
  audio: 'Audio',
  voice: 'VoiceNote',
  video_note: 'VideoNote',
  document: 'Document',
  sticker: 'Sticker',
  thumbnail: 'Thumbnail',
}

/** Kinds that the reference accepts in place of each other, because it stores all of them as documents. */
const DOCUMENTS = MEDIA_KINDS.filter((kind) => kind !== 'photo')

/**
 * `parameter` holds the file, `args` what is said of it: those of the call, or of one item of an album.
 * Rejects in the reference's words.
 */
export async function mediaOf(
  call: Call,
  kind: MediaKind,
  parameter: string = kind,
  args: Arguments = call.args,
): Promise<Media> {
  const value = args.text(parameter)
  if (value !== undefined && isFileId(value)) return knownMedia(call, kind, value)
  const source = sourceOf(call, args, parameter)
  if (!source) throw badRequest(`there is no ${kind.replace('_', ' ')} in the request`)
  const thumbnail = thumbnailOf(call, kind, args)
  const { media } = await call.world.media.ingest(
    {
      userId: call.key.facts.userId,
      kind,
      source,
      ...(thumbnail && { thumbnail }),
      ...(call.platform.capabilities.gifs && { keepsGifs: true }),
      hints: hintsOf(args),
    },
    call.signal(),
  )
  const emoji = args.text('emoji')
  return kind === 'sticker' && emoji !== undefined ? { ...media, emoji } : media
}

/** Everything else is a part of the call, or an address on the web. */
export const isFileId = (value: string): boolean =>
  !value.startsWith('attach://') && !value.includes('.')

const THUMBNAILED: readonly MediaKind[] = ['video', 'animation', 'audio', 'document', 'video_note']

/** A video with the second from which it is played, and the photo that stands for it. */
export async function framedVideo(call: Call, media: Media, args: Arguments): Promise<Media> {
  if (media.kind !== 'video') return media
  const startSeconds = args.integer('start_timestamp', { min: 0, max: LONGEST_SECONDS })
  const isCovered =
    args.has('cover') || (args === call.args && uploadOf(call, args, 'cover') !== undefined)
  const cover = isCovered ? await mediaOf(call, 'photo', 'cover', args) : undefined
  if (cover && cover.kind !== 'photo') throw badRequest('IMAGE_PROCESS_FAILED')
  return { ...media, ...(startSeconds > 0 && { startSeconds }), ...(cover && { cover }) }
}

/** Elsewhere a part with this name may be the file itself, as of a sticker set. */
function thumbnailOf(call: Call, kind: MediaKind, args: Arguments): Upload | undefined {
  if (!THUMBNAILED.includes(kind)) return undefined
  return uploadOf(call, args, 'thumbnail') ?? uploadOf(call, args, 'thumb')
}

const LONGEST_SECONDS = 86_400
const LIVE_SECONDS = 10
const LIVE_BYTES = 10_000_000

/** A live photo: `photo` holds the still picture, `parameter` its video. */
export async function livePhotoOf(call: Call, parameter: string, args: Arguments): Promise<Media> {
  const isGiven = args.has(parameter) || uploadOf(call, args, parameter)
  if (!isGiven) throw badRequest('there is no live photo in the request')
  for (const name of ['photo', parameter]) {
    const value = args.text(name) ?? ''
    if (value.includes('.') && !value.startsWith('attach://')) {
      throw badRequest("live photos can't be sent by a URL")
    }
  }
  const photo = await mediaOf(call, 'photo', 'photo', args)
  const live = await mediaOf(call, 'video', parameter, args)
  if (live.kind !== 'video') throw badRequest('VIDEO_CONTENT_TYPE_INVALID')
  if ((live.durationSeconds ?? 0) > LIVE_SECONDS || (live.size ?? 0) > LIVE_BYTES) {
    throw badRequest(
      `the video of a live photo must have at most ${LIVE_SECONDS} seconds and 10 MB`,
    )
  }
  return { ...photo, live }
}

/** An animated profile photo: the frame at a second stands for it where it does not move. */
export async function animatedPhotoOf(
  call: Call,
  args: Arguments,
  frameAt: number,
): Promise<Media> {
  const source = sourceOf(call, args, 'animation')
  const live = await mediaOf(call, 'animation', 'animation', args)
  if (!source || live.kind !== 'animation') throw badRequest('VIDEO_CONTENT_TYPE_INVALID')
  const { media } = await call.world.media.ingest(
    { userId: call.key.facts.userId, kind: 'photo', source, frameAt },
    call.signal(),
  )
  return { ...media, live }
}

/** A file that must come along with the call: `attach://part`, or a part with the parameter's own name. */
export function uploadOf(call: Call, args: Arguments, parameter: string): Upload | undefined {
  const value = args.text(parameter) ?? ''
  const part = value.startsWith('attach://') ? value.slice('attach://'.length) : parameter
  return call.uploads.get(part)
}

function sourceOf(call: Call, args: Arguments, parameter: string): Source | undefined {
  const value = args.text(parameter)
  if (value !== undefined && !value.startsWith('attach://')) return { from: 'url', url: value }
  const upload = uploadOf(call, args, parameter)
  return upload && { from: 'upload', upload }
}

/** A file that is there already, by its file_id. */
export function knownMedia({ key, platform, world }: Call, kind: MediaKind, fileId: string): Media {
  if (!/^[\w-]+$/.test(fileId)) {
    throw badRequest('wrong remote file identifier specified: Wrong character in the string')
  }
  const file = world.fileIds.read(key.facts.credentialId, fileId)
  // The network knows whether it is one of its own.
  if (!file && platform.capabilities.ownFileIds) return { kind, file: { native: fileId } }
  if (!file) throw badRequest(`wrong remote file identifier specified: ${undecodable(fileId)}`)
  const { native, unique } = file
  // A known file keeps its kind, whichever method sends it again.
  const taken = kind === 'photo' ? [kind] : DOCUMENTS
  const own = taken.find((one) => one === file.kind)
  if (!own) throw badRequest(`can't use file of type ${nameOf[file.kind]} as ${nameOf[kind]}`)
  return { kind: own, file: { native }, ...(unique !== undefined && { unique }) }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The reference's words for base64url text that it cannot decode, or whose bytes are no file id. */
function undecodable(text: string): string {
  const over = text.length % 4
  if (over === 1) return 'Wrong padding length'
  const last = ALPHABET.indexOf(text.at(-1) ?? '')
  const unused = over === 0 ? 0 : over === 2 ? 0b1111 : 0b11
  if (last & unused) return 'Wrong padding in the string'
  return "can't unserialize it. Wrong last symbol"
}

/** The caller's figures for the file, limited to their ranges. */
function hintsOf(args: Arguments): NonNullable<Ingestion['hints']> {
  const number = (name: string, max: number) => args.integer(name, { min: 0, max })
  const side = number('length', 10_000)
  const durationSeconds = number('duration', LONGEST_SECONDS)
  const width = side || number('width', 10_000)
  const height = side || number('height', 10_000)
  const [title, performer] = [args.text('title'), args.text('performer')]
  return {
    ...(durationSeconds > 0 && { durationSeconds }),
    ...(width > 0 && { width }),
    ...(height > 0 && { height }),
    ...(title !== undefined && { title }),
    ...(performer !== undefined && { performer }),
  }
}
