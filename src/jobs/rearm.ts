/** Sets recurring reminders again every hour, because a queue that was lost has forgotten them. */
import type { Log } from '../database/log.ts'
import type { Jobs, Reminder } from './jobs.ts'

const HOUR_MS = 3_600_000
/** The delay merges the requests of several nodes into one reminder. */
const SOON_MS = 30_000

interface RearmOptions {
  readonly everyMs?: number
  readonly soonMs?: number
}

/** Returns how to stop. */
export function rearm(
  jobs: Pick<Jobs, 'remind' | 'onBack'>,
  targets: readonly Pick<Reminder, 'kind' | 'id'>[],
  logger: Log,
  { everyMs = HOUR_MS, soonMs = SOON_MS }: RearmOptions = {},
): () => void {
  const ask = () => {
    const at = new Date(Date.now() + soonMs)
    for (const { kind, id } of targets) {
      jobs
        .remind({ kind, id, at })
        .catch((err) => logger.warn({ err, kind, id }, 'a reminder could not be asked for anew'))
    }
  }
  jobs.onBack(ask)
  const timer = setInterval(ask, everyMs).unref()
  return () => clearInterval(timer)
}
