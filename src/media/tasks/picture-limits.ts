/** How far pictures are trusted: what is decoded at all, how large, and for how long. */
import sharp, { type SharpOptions } from 'sharp'

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
