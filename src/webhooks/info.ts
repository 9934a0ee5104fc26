/** The last errors and successes of a webhook, for getWebhookInfo. */
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
