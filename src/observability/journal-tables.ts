/** The statements that write the request log and the hourly usage figures, and keep both tables in shape. */
import type { Queryable } from '../database/database.ts'
import { redact } from '../security/redact.ts'
import type { RequestRecord, UsageRow } from './usage-tally.ts'

/** Partitions are made two days ahead, so an upkeep that is late does no harm. */
export const upkeepEveryMs = 3_600_000

/** Hourly figures are small; a year and a month lets a user compare with the same month a year ago. */
const usageDays = 400

/** Makes partitions ahead of time and deletes rows that are too old. */
export async function upkeep(database: Queryable, retentionDays: number): Promise<void> {
  await database.query('select request_log_upkeep(make_interval(days => $1))', [retentionDays])
  await database.query('delete from usage_hour where hour < now() - make_interval(days => $1)', [
    usageDays,
  ])
}

const insertRequests = {
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

/** PostgreSQL refuses NUL, and a record is one line. */
const control = /\p{Cc}+/gu

/** For text that the caller can influence. */
function clean(text: string | null): string | null {
  return text === null ? null : redact(text.replace(control, ' ')).slice(0, maxLength)
}

const cleanText = (_: string, value: unknown) => (typeof value === 'string' ? clean(value) : value)

/** Stores a batch of request records in one statement. */
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
  await database.query(insertRequests, [
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

/** Sorted, since two nodes that add to the same rows in different orders would block each other. */
const addUsage = {
  name: 'store_usage',
  text: `
    insert into usage_hour (user_id, hour, credential_id, api_key_id, measure, label, amount)
    select user_id, to_timestamp(hour_ms / 1000), credential_id, api_key_id, measure, label, amount
    from unnest($1::bigint[], $2::float8[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
      $7::bigint[]) as tally(user_id, hour_ms, credential_id, api_key_id, measure, label, amount)
    order by 1, 2, 3, 4, 5, 6
    on conflict (user_id, hour, credential_id, api_key_id, measure, label)
    do update set amount = usage_hour.amount + excluded.amount`,
}

/** Adds a batch of usage figures to the hourly ones. */
export async function storeUsage(database: Queryable, rows: readonly UsageRow[]): Promise<void> {
  await database.query(addUsage, [
    rows.map((row) => row.userId),
    rows.map((row) => row.hour),
    rows.map((row) => row.credentialId),
    rows.map((row) => row.apiKeyId),
    rows.map((row) => row.measure),
    rows.map((row) => row.label),
    rows.map((row) => row.amount),
  ])
}
