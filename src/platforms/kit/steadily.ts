/** Asks the network again after a failure that passes: restrictions are waited out, single failures are forgiven. */
import { setTimeout as pause } from 'node:timers/promises'
import type { SessionReport } from '../../../actors/ports/platform.ts'
import type { Ending } from './session-life.ts'

/** The network wants to be left alone for so many seconds; the session may go on after that. */
export interface Restriction {
  readonly kind: 'limited'
  readonly seconds: number
}

interface Steadiness {
  readonly report: Pick<SessionReport, 'limited'>
  /** Aborts when the session is over. */
  readonly signal: AbortSignal
  endingOf(cause: unknown): Ending | Restriction
  /** How many failures of the network in a row are passed over before the session is lost. */
  readonly forgives?: number
  /** Whether asking again may help. */
  isForgivable?(cause: unknown): boolean
}

const AGAIN_MS = 300

/** Resolves with the first answer; rejects with the failure that ends the session. */
export async function steadily<Result>(
  ask: () => Promise<Result>,
  { report, signal, endingOf, forgives = 0, isForgivable = () => true }: Steadiness,
): Promise<Result> {
  for (let failures = 0; ; ) {
    try {
      return await ask()
    } catch (cause) {
      const ending = endingOf(cause)
      if (ending.kind === 'limited') {
        report.limited('flood_wait', ending.seconds)
        await pause(ending.seconds * 1000, undefined, { signal })
      } else if (ending.kind === 'lost' && failures < forgives && isForgivable(cause)) {
        failures += 1
        await pause(AGAIN_MS, undefined, { signal })
      } else throw cause
    }
  }
}

/** How a session ends that cannot wait. */
export function lostBy(ending: Ending | Restriction): Ending {
  if (ending.kind !== 'limited') return ending
  return { kind: 'lost', reason: 'flood_wait', retryAfterSeconds: ending.seconds }
}
