/** Reminders of webhooks that rest: when the time has come, the key's actor is woken and looks for itself. */
import type { Log } from '../database/log.ts'
import type { Jobs } from './jobs.ts'

const kind = 'webhook'

export interface WebhookReminders {
  set(apiKeyId: number, at: Date): void
}

/** Call it before the jobs start. */
export function remindWebhooks(
  jobs: Pick<Jobs, 'remind' | 'onReminder'>,
  wake: (apiKeyId: number) => void,
  logger: Log,
): WebhookReminders {
  jobs.onReminder(kind, async (id) => wake(Number(id)))
  return {
    set(apiKeyId, at) {
      // A lost one is made up for at the next start: the time itself is in the table.
      jobs
        .remind({ kind, id: `${apiKeyId}`, at })
        .catch((err) => logger.warn({ err, apiKeyId }, 'a webhook could not be set a reminder'))
    },
  }
}
