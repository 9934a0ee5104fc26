/** Bounds what would be done too often: reads of costly figures, and warnings about one trouble. */
import type { Logger } from '../../actors/ports/ports.ts'

const MINUTE_MS = 60_000

/** Writes one line in a while about a trouble that repeats itself; it says how many lines it stands for. */
export function boundedWarnings(
  logger: Pick<Logger, 'warn'>,
  everyMs = MINUTE_MS,
  now: () => number = () => performance.now(),
): Logger['warn'] {
  let last = Number.NEGATIVE_INFINITY
  let unsaid = 0
  return (fields, message) => {
    if (now() - last < everyMs) {
      unsaid++
      return
    }
    last = now()
    logger.warn(unsaid === 0 ? fields : { ...fields, unsaid }, message)
    unsaid = 0
  }
}

/** Reads a costly figure no more often than it is worth, however often it is asked for. */
export function atMostEvery<Value>(
  milliseconds: number,
  read: () => Promise<Value>,
  now: () => number = Date.now,
): () => Promise<Value> {
  let known: { readonly value: Promise<Value>; readonly until: number } | undefined
  return () => {
    if (known && now() < known.until) return known.value
    const value = read()
    known = { value, until: now() + milliseconds }
    // What failed is asked for again.
    value.catch(() => {
      if (known?.value === value) known = undefined
    })
    return value
  }
}
