/** Reads a user's usage figures, summed up by hour or by day. */
import type { Queryable } from '../database/database.ts'
import type { Measure } from './usage-tally.ts'

export type UsageStep = 'hour' | 'day'

interface UsageFilter {
  readonly userId: number
  readonly credentialId?: number | undefined
  readonly apiKeyId?: number | undefined
  /** Inclusive, at the start of a step. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly step: UsageStep
}

export interface UsageSum {
  readonly at: Date
  readonly measure: Measure
  readonly label: string
  readonly amount: number
}

const text = `
  select date_trunc($1, hour, 'UTC') as at, measure, label, sum(amount)::bigint as amount
  from usage_hour
  where user_id = $2 and hour >= $3 and hour < $4
    and ($5::bigint is null or credential_id = $5)
    and ($6::bigint is null or api_key_id = $6
      -- An account receives for all of its keys.
      or measure = 'updates_received' and credential_id = (
        select credential_id from api_key where id = $6 and user_id = $2))
  group by 1, 2, 3`

export function readUsage(database: Queryable, filter: UsageFilter): Promise<UsageSum[]> {
  const { step, userId, from, to, credentialId = null, apiKeyId = null } = filter
  return database.query<UsageSum>(text, [step, userId, from, to, credentialId, apiKeyId])
}
