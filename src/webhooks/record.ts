/** A webhook as it is shown: the last errors and successes for getWebhookInfo, and its record for the owner of the key. */

import { currentlyWanted, type Filter, namesWanted } from '../../machines/model/update-kinds.ts'
import type { Database } from '../database/database.ts'

interface Row {
  readonly last_error_at: Date | null
  readonly last_error_message: string | null
  readonly last_success_at: Date | null
  readonly suspended_at: Date | null
}

/** Times as Unix seconds. */
export interface WebhookEnds {
  readonly lastError: { readonly at: number; readonly message: string } | undefined
  readonly lastSuccessAt: number | undefined
}

const SUSPENDED = 'The webhook was suspended after 7 days of nothing but failures'

/** The ends of the last attempts, also of a webhook that its receiver has switched off. */
export async function webhookEnds(db: Database, apiKeyId: number): Promise<WebhookEnds> {
  const [row] = await db.query<Row>(
    `select last_error_at, last_error_message, last_success_at, suspended_at
       from webhook where api_key_id = $1`,
    [apiKeyId],
  )
  const { last_error_at: at, last_error_message: message, suspended_at: suspended } = row ?? {}
  const told = suspended && message ? `${SUSPENDED}: ${message}` : message
  return {
    lastError: at && told ? { at: seconds(at), message: told } : undefined,
    lastSuccessAt: row?.last_success_at ? seconds(row.last_success_at) : undefined,
  }
}

const seconds = (time: Date) => Math.floor(time.getTime() / 1000)

/** Times as Unix seconds. */
export interface WebhookColumns {
  readonly url: string
  readonly has_certificate: boolean
  readonly max_connections: number
  readonly header_names: readonly string[]
  readonly ip_address: string | null
  readonly error_at: number | null
  readonly error: string | null
  readonly success_at: number | null
  readonly due_at: number | null
  readonly failing_since: number | null
  readonly suspended: boolean
}

const unix = (column: string) => `extract(epoch from w.${column})::float8`

/** One JSON object of the table `w`, or null where the key has no webhook. */
export const webhookObject = `case when w.api_key_id is not null then jsonb_build_object(
  'url', w.shown_url, 'has_certificate', w.has_certificate, 'max_connections', w.max_connections,
  'header_names', w.header_names, 'ip_address', w.ip_address, 'error_at', ${unix('last_error_at')}, 'error', w.last_error_message,
  'success_at', ${unix('last_success_at')}, 'due_at', ${unix('due_at')},
  'failing_since', ${unix('failing_since')}, 'suspended', w.suspended_at is not null) end`

interface WebhookKey {
  readonly pending: number
  readonly filter: Filter
  /** Nothing is delivered for a key that has expired or lacks the scope. */
  readonly receives: boolean
}

export function webhookRecord(row: WebhookColumns, { pending, filter, receives }: WebhookKey) {
  const state = stateOf(row, receives)
  const allowed = namesWanted(currentlyWanted(filter))
  return {
    url: row.url,
    has_custom_certificate: row.has_certificate,
    pending_update_count: pending,
    max_connections: row.max_connections,
    header_names: [...row.header_names],
    ...(row.ip_address !== null && { ip_address: row.ip_address }),
    ...(allowed && { allowed_updates: allowed }),
    ...(row.error_at !== null && {
      last_error_date: Math.floor(row.error_at),
      last_error_message: row.error ?? '',
    }),
    ...(row.success_at !== null && { last_success_date: Math.floor(row.success_at) }),
    state,
    ...(row.failing_since !== null &&
      state !== 'stopped' && { failing_since: instant(row.failing_since) }),
    ...(row.due_at !== null && state === 'resting' && { next_attempt_at: instant(row.due_at) }),
  }
}

const instant = (seconds: number) => new Date(1000 * seconds).toISOString()

function stateOf({ suspended, due_at }: WebhookColumns, receives: boolean) {
  if (suspended) return 'suspended' as const
  if (!receives) return 'stopped' as const
  return due_at === null ? ('delivering' as const) : ('resting' as const)
}
