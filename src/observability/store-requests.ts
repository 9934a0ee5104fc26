/** Stores one batch of request records in one statement. */
import type { Queryable } from '../database/database.ts'
import { redact } from './redact.ts'
import type { RequestRecord } from './request-record.ts'

const statement = {
  name: 'store_requests',
  text: `
    insert into request_log (at, request_id, user_id, api_key_id, credential_id, method, status,
      error_code, description, reason, params, duration_ms, request_bytes, response_bytes, ip,
      user_agent)
    select to_timestamp(at_ms / 1000), request_id, user_id, api_key_id, credential_id, method, status,
      error_code, description, reason, params, duration_ms, request_bytes, response_bytes, ip,
      user_agent
    from unnest($1::float8[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[],
      $7::smallint[], $8::smallint[], $9::text[], $10::text[], $11::jsonb[], $12::real[],
      $13::bigint[], $14::bigint[], $15::text[], $16::text[])
      as record(at_ms, request_id, user_id, api_key_id, credential_id, method, status, error_code,
        description, reason, params, duration_ms, request_bytes, response_bytes, ip, user_agent)`,
}

const maxLength = 300

/** PostgreSQL refuses NUL, and a line break has no business in a record of one line. */
const control = /\p{Cc}+/gu

/** Text that the caller had a hand in. */
function clean(text: string | null): string | null {
  return text === null ? null : redact(text.replace(control, ' ')).slice(0, maxLength)
}

const cleanText = (_: string, value: unknown) => (typeof value === 'string' ? clean(value) : value)

export async function storeRequests(
  database: Queryable,
  records: readonly RequestRecord[],
): Promise<void> {
  // A few clients send most of a batch.
  const agents = new Map<string | null, string | null>()
  const cleanAgent = (agent: string | null) => {
    if (!agents.has(agent)) agents.set(agent, clean(agent))
    return agents.get(agent)
  }
  await database.query(statement, [
    records.map((record) => record.at),
    records.map((record) => record.requestId),
    records.map((record) => record.userId),
    records.map((record) => record.apiKeyId),
    records.map((record) => record.credentialId),
    records.map((record) => record.method),
    records.map((record) => record.status),
    records.map((record) => record.errorCode),
    records.map((record) => clean(record.description)),
    records.map((record) => record.reason),
    records.map((record) => record.params && JSON.stringify(record.params, cleanText)),
    records.map((record) => record.durationMs),
    records.map((record) => record.requestBytes),
    records.map((record) => record.responseBytes),
    records.map((record) => record.ip),
    records.map((record) => cleanAgent(record.userAgent)),
  ])
}
