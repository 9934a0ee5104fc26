/** Runs ffprobe on sound and film, and reads its answer. */
import { LARGEST_INTEGER } from '../../machines/model/media.ts'
import { demuxerOf } from './formats.ts'

export interface Probe {
  readonly durationSeconds?: number
  readonly video?: {
    readonly codec: string
    /** The size as shown, after rotation. */
    readonly width: number
    readonly height: number
    readonly pixels: string
    /** Absent when the file does not tell. */
    readonly frames?: number
  }
  readonly audio?: { readonly codec: string }
  readonly hasCover: boolean
  readonly title?: string
  readonly performer?: string
}

/** ffprobe decodes pictures, too: a cover of some hundred kB may claim to be a huge one. */
const bounded = ['-max_alloc', '536870912', '-max_pixels', '40000000']

/** `-f` names the format, and nothing but this file may be opened. */
export function inputOf(path: string, mime: string): string[] | undefined {
  const demuxer = demuxerOf(mime)
  if (demuxer === undefined) return undefined
  return [...bounded, '-protocol_whitelist', 'file', '-f', demuxer, '-i', `file:${path}`]
}

export const probeArguments = (input: readonly string[]): string[] => [
  ...['-v', 'error', '-of', 'json', '-show_format', '-show_streams'],
  ...input,
]

interface Stream {
  readonly codec_type?: string
  readonly codec_name?: string
  readonly width?: number
  readonly height?: number
  readonly pix_fmt?: string
  readonly nb_frames?: string
  /** A fraction, `30000/1001`; `0/0` where it is not known. */
  readonly avg_frame_rate?: string
  readonly disposition?: { readonly attached_pic?: number }
  readonly side_data_list?: readonly { readonly rotation?: number }[]
  readonly tags?: Readonly<Record<string, string>>
}

export function readProbe(output: Buffer): Probe | undefined {
  const said = parsed(output)
  const streams = said?.streams ?? []
  const isCover = ({ disposition }: Stream) => disposition?.attached_pic === 1
  const film = streams.find((stream) => stream.codec_type === 'video' && !isCover(stream))
  const sound = streams.find(({ codec_type }) => codec_type === 'audio')
  if (!film && !sound) return undefined
  const tags = lowered({ ...sound?.tags, ...said?.format?.tags })
  const duration = Number(said?.format?.duration)
  return {
    hasCover: streams.some(isCover),
    ...(duration > 0 &&
      duration <= LARGEST_INTEGER && { durationSeconds: Math.max(1, Math.round(duration)) }),
    ...(film && { video: shown(film, duration) }),
    ...(sound && { audio: { codec: sound.codec_name ?? '' } }),
    ...(tags.title && { title: tags.title.slice(0, 256).toWellFormed() }),
    ...(tags.artist && { performer: tags.artist.slice(0, 256).toWellFormed() }),
  }
}

interface Said {
  readonly streams?: readonly Stream[]
  readonly format?: { readonly duration?: string; readonly tags?: Record<string, string> }
}

function parsed(output: Buffer): Said | undefined {
  try {
    return JSON.parse(output.toString())
  } catch {
    return undefined
  }
}

function shown(stream: Stream, durationSeconds: number) {
  const { codec_name = '', width = 0, height = 0, pix_fmt = '', side_data_list } = stream
  const turned = (side_data_list ?? []).some(({ rotation = 0 }) => Math.abs(rotation) % 180 === 90)
  const [across, up] = turned ? [height, width] : [width, height]
  const frames = framesOf(stream, durationSeconds)
  const known = frames === undefined ? {} : { frames }
  return { codec: codec_name, width: across, height: up, pixels: pix_fmt, ...known }
}

/** The larger of two numbers: the stated count of frames, and the length times the rate. Neither is certain. */
function framesOf({ nb_frames, avg_frame_rate = '' }: Stream, durationSeconds: number) {
  const [count = 0, each = 1] = avg_frame_rate.split('/').map(Number)
  const counted = Number(nb_frames ?? 0)
  const frames = Math.max(counted || 0, Math.ceil((durationSeconds * count) / each) || 0)
  return frames > 0 ? frames : undefined
}

const lowered = (tags: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [name.toLowerCase(), value.replace(/\p{C}/gu, '')]),
  )
