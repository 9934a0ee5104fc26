/** Notices of endpoints that get nothing: a line in the timeline of the key's account, and one for the operators. */

import type { Logger } from '../../actors/ports/ports.ts'
import type { WebhookKey } from '../../actors/ports/webhooks.ts'
import type { Notice } from '../../machines/webhook/machine.ts'
import type { Database } from '../database/database.ts'

interface NoticesOptions {
  readonly db: Database
  readonly logger: Logger
  readonly node: string
}

interface Notified {
  readonly notice: Notice
  readonly since: number
}

const endings: Partial<Record<Notice, { to: string; event: string }>> = {
  suspended: { to: 'suspended', event: 'webhook.suspended' },
  removed: { to: 'removed', event: 'webhook.removed' },
  crash_loop: { to: 'failed', event: 'webhook.failed' },
}
const reasons: Partial<Record<Notice, string>> = { suspended: 'failing_7_days', removed: 'gone' }

/** Far more than fail at once; notices beyond it are still found in the timeline. */
const REMEMBERED = 10_000

export class Notices {
  readonly #options: NoticesOptions
  /** The newest notice of each key, so that not every failure costs a query. */
  readonly #notified = new Map<number, Notified>()

  constructor(options: NoticesOptions) {
    this.#options = options
  }

  notify(key: WebhookKey, notice: Notice, since: number): void {
    const { apiKeyId } = key
    const last = this.#notified.get(apiKeyId)
    if (last?.notice === notice && last.since === since) return
    if (this.#notified.size >= REMEMBERED) this.#notified.clear()
    this.#notified.set(apiKeyId, { notice, since })
    this.#write(key, notice, since).catch((err) => {
      this.#notified.delete(apiKeyId)
      this.#options.logger.warn({ err, apiKeyId, notice }, 'a notice could not be written')
    })
  }

  /** After a restart the timeline has the notices that were written before. */
  async #write(key: WebhookKey, notice: Notice, since: number): Promise<void> {
    const { db, logger, node } = this.#options
    const { to, event } = endings[notice] ?? { to: 'failing', event: 'webhook.failing' }
    const now = Date.now()
    const written = await db.query(
      `insert into credential_transition
         (credential_id, at, from_state, to_state, event, reason, duration_ms, actor, node)
       select id, $2, $3, $4, $5, $6, $7, $8, $9 from credential c
        where id = $1 and not exists (
          select from credential_transition t
           where t.credential_id = c.id and t.actor = $8 and t.event = $5 and t.reason = $6
             and t.at >= $10)
       returning id`,
      [
        key.credentialId,
        new Date(now),
        'delivering',
        to,
        event,
        reasons[notice] ?? notice,
        Math.max(0, now - since),
        `api_key:${key.apiKeyId}`,
        node,
        new Date(since),
      ],
    )
    if (written.length === 0) return
    const { apiKeyId, userId, credentialId } = key
    logger.warn({ apiKeyId, userId, credentialId, notice }, 'a webhook gets nothing')
  }
}
