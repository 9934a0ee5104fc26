/** Asks the network again after a passing failure: waits until a restriction ends, and forgives single failures. */
import { setTimeout as pause } from 'node:timers/promises'
import type { SessionReport } from '../../../actors/ports/platform.ts'
import type { Ending } from './session-life.ts'

/** The network accepts nothing for so many seconds; the session goes on afterwards. */
export interface Restriction {
  readonly kind: 'limited'
  readonly seconds: number
}

export interface Steadiness {
  /** Called for each restriction of the whole account. */
  readonly report?: Pick<SessionReport, 'limited'>
  /** Aborts when the session is over. */
  readonly signal: AbortSignal
  /** The meaning of the failure for the session; undefined: none, and asking again does not help. */
  endingOf(cause: unknown): Ending | Restriction | undefined
  /** How many failures are forgiven before the request fails. */
  readonly forgives?: number
  /** Whether asking again may help. */
  isForgivable?(cause: unknown): boolean
}

const AGAIN_MS = 300

/** Resolves with the first answer; rejects with the first failure that is neither waited out nor forgiven. */
export async function steadily<Result>(
  ask: () => Promise<Result>,
  { report, signal, endingOf, forgives = 0, isForgivable = () => true }: Steadiness,
): Promise<Result> {
  for (let failures = 0; ; ) {
    try {
      return await ask()
    } catch (cause) {
      const ending = endingOf(cause)
      if (ending?.kind === 'limited') {
        if (report) reportRestriction(report, ending.seconds)
        await pause(ending.seconds * 1000, undefined, { signal })
      } else if (ending?.kind === 'lost' && failures < forgives && isForgivable(cause)) {
        failures += 1
        await pause(AGAIN_MS, undefined, { signal })
      } else throw cause
    }
  }
}

/**
 * Reports a restriction of the account. Some networks refuse a chat that was written to too fast in the same words, but
 * only for a short time: waits of at most `chatWaitSeconds` are of that kind.
 */
export function reportRestriction(
  report: Pick<SessionReport, 'limited'>,
  seconds: number,
  chatWaitSeconds = 0,
): void {
  if (seconds > chatWaitSeconds) report.limited('flood_wait', seconds)
}

/** The ending of a session that cannot wait until the restriction ends. */
export function lostBy(ending: Ending | Restriction): Ending {
  if (ending.kind !== 'limited') return ending
  return { kind: 'lost', reason: 'flood_wait', retryAfterSeconds: ending.seconds }
}
