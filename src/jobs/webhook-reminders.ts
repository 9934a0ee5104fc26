/** Reminders for webhooks that rest: they wake the key's actor at the time of its next attempt. */
import type { Log } from '../database/log.ts'
import type { Jobs } from './jobs.ts'

const kind = 'webhook'

interface WebhookReminders {
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
      // A lost reminder does no harm: the table has the time, and is checked regularly and at each start.
      jobs
        .remind({ kind, id: `${apiKeyId}`, at })
        .catch((err) => logger.warn({ err, apiKeyId }, 'a webhook could not be set a reminder'))
    },
  }
}
