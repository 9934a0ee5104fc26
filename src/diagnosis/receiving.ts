/** How a key receives: by polling, by a webhook or not at all, and how that goes. */
import type { FailureReason } from '../../machines/model/reason.ts'
import type { Database } from '../database/database.ts'
import type { ApiKeyRecord } from '../records/api-key.ts'

export interface WebhookState {
  /** Without user info and query. */
  readonly url: string
  readonly isSuspended: boolean
  /** In a row, up to now. */
  readonly failures: number
  readonly lastError: { readonly at: Date; readonly message: string } | undefined
  /** Of the newest attempt; undefined when there was none or nobody answered. */
  readonly lastStatus: number | undefined
}

export interface ReceivingFacts {
  readonly mode: 'none' | 'polling' | 'webhook'
  readonly pending: number
  readonly dropped: { readonly updates: number; readonly at: string } | undefined
  readonly lastUsedAt: string | null
  readonly webhook: WebhookState | undefined
  /** One that its endpoint did not want any more. */
  readonly turnedOff: WebhookState | undefined
}

interface Row {
  readonly is_on: boolean
  readonly shown_url: string
  readonly failures: number
  readonly suspended_at: Date | null
  readonly last_error_at: Date | null
  readonly last_error_message: string | null
  readonly last_status: number | null
}

export async function receivingFacts(db: Database, key: ApiKeyRecord): Promise<ReceivingFacts> {
  const { webhook, turnedOff } = await webhooksOf(db, key.api_key_id)
  return {
    mode: webhook ? 'webhook' : key.receive_mode,
    pending: key.pending_update_count,
    dropped:
      key.dropped_at === null
        ? undefined
        : { updates: key.dropped_update_count, at: key.dropped_at },
    lastUsedAt: key.last_used_at,
    webhook,
    turnedOff,
  }
}

async function webhooksOf(
  db: Database,
  apiKeyId: number,
): Promise<Pick<ReceivingFacts, 'webhook' | 'turnedOff'>> {
  const [row] = await db.query<Row>(
    `select w.sealed is not null as is_on, w.shown_url, w.failures, w.suspended_at, w.last_error_at, w.last_error_message,
            (select d.status from webhook_delivery d where d.api_key_id = w.api_key_id
              order by d.at desc, d.id desc limit 1) as last_status
       from webhook w where w.api_key_id = $1`,
    [apiKeyId],
  )
  if (!row) return { webhook: undefined, turnedOff: undefined }
  const { last_error_at: at, last_error_message: message } = row
  const state = {
    url: row.shown_url,
    isSuspended: row.suspended_at !== null,
    failures: row.failures,
    lastError: at && message !== null ? { at, message } : undefined,
    lastStatus: row.last_status ?? undefined,
  }
  return row.is_on
    ? { webhook: state, turnedOff: undefined }
    : { webhook: undefined, turnedOff: state }
}

const TELLING = [
  'missing_scope',
  'webhook_active',
  'webhook_changed',
  'other_poll',
] as const satisfies readonly FailureReason[]

export interface Refusal {
  readonly at: Date
  readonly reason: (typeof TELLING)[number]
  /** The scope that the key lacked. */
  readonly scope: string | null
}

/** The calls of the key that were refused in the last ten minutes for a reason that says something, newest first. */
export async function recentRefusals(db: Database, apiKeyId: number): Promise<Refusal[]> {
  return db.query<Refusal>(
    `select at, reason, params ->> 'scope' as scope from request_log
      where api_key_id = $1 and at > now() - interval '10 minutes'
        and error_code in (403, 409) and reason = any($2)
      order by at desc, id desc limit 100`,
    [apiKeyId, TELLING],
  )
}
