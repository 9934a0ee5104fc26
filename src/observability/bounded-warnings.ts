/** Of a trouble that repeats itself, one line in a while, which says how many it stands for. */
import type { Logger } from '../../actors/ports/ports.ts'

const MINUTE_MS = 60_000

export function boundedWarnings(
  log: Pick<Logger, 'warn'>,
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
    log.warn(unsaid === 0 ? fields : { ...fields, unsaid }, message)
    unsaid = 0
  }
}
