/** Limits how often costly figures are read, and how often the same warning is written. */
import type { Logger } from '../../actors/ports/ports.ts'

const MINUTE_MS = 60_000

/** Writes one line a minute about a trouble that repeats itself; it says how many lines it stands for. */
export function boundedWarnings(logger: Pick<Logger, 'warn'>): Logger['warn'] {
  let last = Number.NEGATIVE_INFINITY
  let unsaid = 0
  return (fields, message) => {
    const now = performance.now()
    if (now - last < MINUTE_MS) {
      unsaid++
      return
    }
    last = now
    logger.warn(unsaid === 0 ? fields : { ...fields, unsaid }, message)
    unsaid = 0
  }
}

/** Reads a costly figure at most once in an interval, and answers from memory in between. */
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
    // A question that failed is asked again.
    value.catch(() => {
      if (known?.value === value) known = undefined
    })
    return value
  }
}
