/** Reads a user's webhook attempts, newest first. */
import type { Queryable } from '../database/database.ts'

export interface StoredDelivery {
  readonly id: number
  readonly at: Date
  readonly api_key_id: number
  readonly update_id: number
  readonly attempt: number
  readonly url: string
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
  readonly next_attempt_at: Date | null
  readonly trace_id: string | null
}

interface DeliveryFilter {
  readonly userId: number
  readonly apiKeyId?: number | undefined
  readonly updateId?: number | undefined
  readonly outcome?: 'delivered' | 'failed' | undefined
  /** Only what is older; `at` in milliseconds since 1970. */
  readonly before?: { readonly at: number; readonly id: number } | undefined
  readonly limit: number
}

/** Only the conditions that apply are in the text: the planner then picks the index made for them. */
export function listDeliveries(
  database: Queryable,
  filter: DeliveryFilter,
): Promise<StoredDelivery[]> {
  const values: unknown[] = []
  const value = (given: unknown) => `$${values.push(given)}`
  const conditions = [`user_id = ${value(filter.userId)}`]
  if (filter.apiKeyId !== undefined) conditions.push(`api_key_id = ${value(filter.apiKeyId)}`)
  if (filter.updateId !== undefined) conditions.push(`update_id = ${value(filter.updateId)}`)
  if (filter.outcome) conditions.push(`error is ${filter.outcome === 'failed' ? 'not ' : ''}null`)
  if (filter.before) {
    const at = `to_timestamp(${value(filter.before.at)}::float8 / 1000)`
    // The first condition alone rules out partitions.
    conditions.push(`at <= ${at}`, `(at, id) < (${at}, ${value(filter.before.id)}::bigint)`)
  }
  return database.query<StoredDelivery>(
    `select id, at, api_key_id, update_id, attempt, url, status, error, duration_ms,
       next_attempt_at, trace_id
     from webhook_delivery where ${conditions.join(' and ')}
     order by at desc, id desc limit ${value(filter.limit)}`,
    values,
  )
}
