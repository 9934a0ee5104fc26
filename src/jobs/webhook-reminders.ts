/** Reminders for webhooks that rest: they wake the key's actor at the time of its next attempt. */
import type { Logger } from '../../actors/ports/ports.ts'
import type { Jobs } from './jobs.ts'

const kind = 'webhook'

export interface WebhookReminders {
  /** Reminds at `at`, in milliseconds since 1970. */
  set(apiKeyId: number, at: number): void
  /** Call it before the jobs start. */
  onDue(wake: (apiKeyId: number) => void): void
}

export const webhookReminders = (
  jobs: Pick<Jobs, 'remind' | 'onReminder'>,
  logger: Logger,
): WebhookReminders => ({
  set(apiKeyId, at) {
    // A lost reminder does no harm: the table has the time, and is checked regularly and at each start.
    jobs
      .remind({ kind, id: `${apiKeyId}`, at: new Date(at) })
      .catch((err) => logger.warn({ err, apiKeyId }, 'a webhook could not be set a reminder'))
  },
  onDue(wake) {
    jobs.onReminder(kind, async (id) => wake(Number(id)))
  },
})
