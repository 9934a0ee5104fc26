/** Worker task: smaller JPEGs of a picture, or a WebP of it for a sticker. */

import type { SharpOptions } from 'sharp'
import sharp from 'sharp'

/** A small file may claim to be a huge picture: it is refused before it is decoded. */
const MAX_PIXELS = 40_000_000
export const DECODE_SECONDS = 5

export const pictureOptions: SharpOptions = {
  limitInputPixels: MAX_PIXELS,
  failOn: 'error',
  unlimited: false,
  pages: 1,
  autoOrient: true,
}

/** Each task has one thread; what was decoded once is not decoded again. */
sharp.concurrency(1)
sharp.cache(false)

export interface PictureTask {
  readonly source: string
  readonly wanted: readonly WantedPicture[]
}

export interface WantedPicture {
  readonly target: string
  /** The longest side. */
  readonly box: number
  readonly format: 'jpeg' | 'webp'
  /** Also a smaller picture becomes as large as the box. */
  readonly enlarge?: boolean
}

export interface Made {
  readonly target: string
  readonly width: number
  readonly height: number
  readonly size: number
}

/** The notes of a camera about the place and itself are left out. Undefined: it cannot be decoded. */
export async function picture({ source, wanted }: PictureTask): Promise<Made[] | undefined> {
  const made: Made[] = []
  for (const { target, box, format, enlarge = false } of wanted) {
    const resized = sharp(source, pictureOptions)
      .timeout({ seconds: DECODE_SECONDS })
      .resize({ width: box, height: box, fit: 'inside', withoutEnlargement: !enlarge })
    const encoded =
      format === 'webp'
        ? resized.webp({ quality: 90 })
        : resized.flatten({ background: '#ffffff' }).jpeg({ quality: 87, mozjpeg: false })
    try {
      const { width, height, size } = await encoded.toFile(target)
      made.push({ target, width, height, size })
    } catch {
      return undefined
    }
  }
  return made
}
