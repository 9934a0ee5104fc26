/** The smallest files that another gateway takes for what they are said to be. */
import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import type { MediaKind } from '../../../machines/model/content.ts'

const MP4 = '\0\0\0\x18ftypisom\0\0\x02\0isomiso2mp41'
const OGG = `OggS\0\x02${'\0'.repeat(20)}\x01\x13OpusHead\x01\x01`
const M4A = '\0\0\0\x20ftypM4A \0\0\0\0M4A mp42isom\0\0\0\0'

const beginnings: Partial<Record<MediaKind, string>> = {
  video: MP4,
  animation: MP4,
  video_note: MP4,
  voice: OGG,
  audio: M4A,
}

export async function bytesOf(kind: MediaKind): Promise<Buffer> {
  const background = `#${randomBytes(3).toString('hex')}`
  const picture = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background } })
  if (kind === 'photo') return picture(320, 240).jpeg().toBuffer()
  if (kind === 'sticker') return picture(512, 512).webp().toBuffer()
  return Buffer.concat([Buffer.from(beginnings[kind] ?? '', 'latin1'), randomBytes(64)])
}
