/** When a delivery that failed is tried again: at once, then soon, then ever more rarely, for a week. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** After the first failure, the second, and so on. */
const first = [0, 1, 2, 4, 8, 15, 30, 60].map((seconds) => seconds * SECOND)
const JITTER = 0.2

/** Nothing but failures for so long: nobody is there any more. */
export const HOPELESS_MS = 7 * DAY
/** Nothing but `410 Gone` for so long: the receiver wants no more (the reference's figure). */
export const GONE_MS = 23 * HOUR
/** How long a receiver may ask to be left alone (the reference's figure). */
export const LONGEST_REST_MS = HOUR

interface Failing {
  /** In a row. */
  readonly failures: number
  readonly forMs: number
}

/** `chance` is drawn from 0 to 1, so that endpoints which failed together do not come back together. */
export function waitAfter({ failures, forMs }: Failing, chance: number): number {
  const later = forMs < DAY ? MINUTE : 15 * MINUTE
  const wait = first[failures - 1] ?? later
  return Math.round(wait * (1 - JITTER + 2 * JITTER * chance))
}
