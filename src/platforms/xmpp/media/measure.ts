/** Most clients send only the link of a picture: its size is read from the beginning of the file. */
import type { Dispatcher } from 'undici'
import type { Happening } from '../../../../machines/model/happening.ts'
import { LARGEST_INTEGER, type Media } from '../../../../machines/model/media.ts'
import { download } from './download.ts'

/** Cameras put a preview before the measures. */
const MOST_BYTES = 128 * 1024
/** Messages wait for it. */
const LONGEST_MS = 2_000
/** Pictures of one batch; further ones stay unmeasured. */
const MOST_PICTURES = 8

/** The same happenings, with the measures of those pictures that could be had in time. */
export async function measured(
  happenings: readonly Happening[],
  agent: Dispatcher,
  signal: AbortSignal,
): Promise<readonly Happening[]> {
  const wanted = happenings.filter((happening) => unmeasured(happening)).slice(0, MOST_PICTURES)
  if (wanted.length === 0) return happenings
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)])
  const facts = new Map<Happening, Partial<Media>>()
  const measure = async (happening: Happening) => {
    const media = unmeasured(happening)
    if (media && 'native' in media.file)
      facts.set(happening, await look(media.file.native, agent, limit))
  }
  await Promise.all(wanted.map(measure))
  return happenings.map((happening) => withFacts(happening, facts.get(happening)))
}

function unmeasured(happening: Happening): Media | undefined {
  if (happening.kind !== 'message' && happening.kind !== 'edited') return undefined
  const { content } = happening.message
  if (content.kind !== 'media' || content.media.kind !== 'photo') return undefined
  const { width, height, size } = content.media
  return width && height && size !== undefined ? undefined : content.media
}

function withFacts(happening: Happening, facts: Partial<Media> | undefined): Happening {
  if (!facts || (happening.kind !== 'message' && happening.kind !== 'edited')) return happening
  const { message } = happening
  if (message.content.kind !== 'media') return happening
  // The bytes of the file count more than the facts from its sender.
  const media = { ...message.content.media, ...facts }
  return { ...happening, message: { ...message, content: { ...message.content, media } } }
}

/** An empty object when the server is slow, away or answers with an error. */
async function look(link: string, agent: Dispatcher, signal: AbortSignal): Promise<Partial<Media>> {
  try {
    const { stream, size } = await download(agent, link, 0, signal)
    const bytes = await beginning(stream, signal)
    const found = pictureSize(bytes)
    const isTold = size !== undefined && size <= LARGEST_INTEGER
    return { ...found, ...(found && isTold && { size }) }
  } catch {
    return {}
  }
}

async function beginning(stream: ReadableStream<Uint8Array>, signal: AbortSignal) {
  const reader = stream.getReader()
  const stop = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  const chunks: Uint8Array[] = []
  try {
    for (let length = 0; length < MOST_BYTES; ) {
      const { done, value } = await reader.read()
      if (done) break
      chunks.push(value)
      length += value.length
      if (pictureSize(Buffer.concat(chunks))) break
    }
    return Buffer.concat(chunks)
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

interface PictureSize {
  readonly width: number
  readonly height: number
}

/** The size of a picture by the first bytes of its file; `undefined` also where the bytes end too soon. */
export function pictureSize(bytes: Buffer): PictureSize | undefined {
  const size = png(bytes) ?? gif(bytes) ?? webp(bytes) ?? jpeg(bytes)
  return size && isPossible(size.width) && isPossible(size.height) ? size : undefined
}

const isPossible = (side: number) => side > 0 && side <= LARGEST_INTEGER

function png(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 1, 4) !== 'PNG') return undefined
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

function gif(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 3) !== 'GIF') return undefined
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

function webp(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    default:
      return undefined
  }
}

/** Segment after segment up to the one that starts the frame. */
function jpeg(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    // Any number of these may stand before a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}
