/** Reads a user's request records, newest first. */
import type { Queryable } from '../database/database.ts'

export interface StoredRequest {
  readonly id: number
  readonly at: Date
  readonly request_id: string
  readonly api_key_id: number | null
  readonly credential_id: number | null
  readonly method: string
  readonly status: number
  readonly error_code: number | null
  readonly description: string | null
  readonly duration_ms: number
  readonly request_bytes: number
  readonly response_bytes: number
  readonly ip: string
  readonly user_agent: string | null
}

interface RequestFilter {
  readonly userId: number
  readonly apiKeyId?: number | undefined
  readonly credentialId?: number | undefined
  readonly errorCode?: number | undefined
  /** Only what is older; `at` in milliseconds since 1970. */
  readonly before?: { readonly at: number; readonly id: number } | undefined
  readonly limit: number
}

/** Only the conditions that apply are in the text: the planner then picks the index made for them. */
export function listRequests(database: Queryable, filter: RequestFilter): Promise<StoredRequest[]> {
  const values: unknown[] = []
  const value = (given: unknown) => `$${values.push(given)}`
  const conditions = [`user_id = ${value(filter.userId)}`]
  if (filter.apiKeyId !== undefined) conditions.push(`api_key_id = ${value(filter.apiKeyId)}`)
  if (filter.credentialId !== undefined) {
    conditions.push(`credential_id = ${value(filter.credentialId)}`)
  }
  if (filter.errorCode !== undefined) {
    // Named once more, since the index on failures is on these alone.
    conditions.push(`error_code = ${value(filter.errorCode)}`, 'error_code is not null')
  }
  if (filter.before) {
    const at = `to_timestamp(${value(filter.before.at)}::float8 / 1000)`
    // The first condition alone rules out partitions.
    conditions.push(`at <= ${at}`, `(at, id) < (${at}, ${value(filter.before.id)}::bigint)`)
  }
  return database.query<StoredRequest>(
    `select id, at, request_id, api_key_id, credential_id, method, status, error_code, description,
       duration_ms, request_bytes, response_bytes, ip, user_agent
     from request_log where ${conditions.join(' and ')}
     order by at desc, id desc limit ${value(filter.limit)}`,
    values,
  )
}
