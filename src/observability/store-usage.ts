/** Adds a batch of usage figures to the hourly ones. */
import type { Queryable } from '../database/database.ts'
import type { UsageRow } from './usage-tally.ts'

/** Sorted, since two nodes that add to the same rows in different orders would block each other. */
const statement = {
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

export async function storeUsage(database: Queryable, rows: readonly UsageRow[]): Promise<void> {
  await database.query(statement, [
    rows.map((row) => row.userId),
    rows.map((row) => row.hour),
    rows.map((row) => row.credentialId),
    rows.map((row) => row.apiKeyId),
    rows.map((row) => row.measure),
    rows.map((row) => row.label),
    rows.map((row) => row.amount),
  ])
}
