/** What the conversion of a file may cost, by its size: a small one that unpacks into hours of work is turned down. */

export interface Budget {
  /** Of the encoder, in milliseconds. */
  readonly timeMs: number
  /** Address space of the encoder. */
  readonly memoryBytes: number
}

const MEGABYTE = 1_000_000
const GIBIBYTE = 2 ** 30

/** About four seconds of work. */
const PIXELS = 1_000_000_000
/** A minute of full HD takes 3,700,000,000 pixels and usually more than 10 MB. */
const PIXELS_PER_MEGABYTE = 250_000_000

const TIME_MS = 20_000
const TIME_MS_PER_MEGABYTE = 2_000
const LONGEST_MS = 120_000

export function budgetFor(bytes: number): Budget {
  const megabytes = bytes / MEGABYTE
  return {
    timeMs: Math.min(LONGEST_MS, Math.round(TIME_MS + TIME_MS_PER_MEGABYTE * megabytes)),
    memoryBytes: Math.min(2 * GIBIBYTE, GIBIBYTE + Math.ceil(20 * bytes)),
  }
}

export interface Moving {
  readonly width: number
  readonly height: number
  readonly frames?: number
}

/** Whether all frames together have more pixels than a file of this size is given time for. */
export function isTooCostly({ width, height, frames = 1 }: Moving, bytes: number): boolean {
  return width * height * frames > PIXELS + (PIXELS_PER_MEGABYTE * bytes) / MEGABYTE
}
