/** Usage figures, in all or of one key or account. */
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

export interface Usage {
  readonly requests: number
  readonly bot_requests: number
  readonly management_requests: number
  readonly requests_by_method: Readonly<Record<string, number>>
  readonly errors: number
  readonly errors_by_code: Readonly<Record<string, number>>
  readonly updates_received: number
  readonly updates_delivered: number
  readonly webhook_attempts: number
  readonly webhook_failures: number
  readonly bytes_in: number
  readonly bytes_out: number
}

export interface UsageReport {
  readonly totals: Usage
  readonly series: readonly (Usage & { readonly at: string })[]
}

export interface UsageOf {
  readonly api_key_id?: number
  readonly credential_id?: number
  readonly step?: 'hour' | 'day'
}

export const usageQuery = (of: UsageOf) =>
  queryOptions({
    queryKey: ['usage', of],
    queryFn: ({ signal }) => call<UsageReport>('GET', '/user/usage', { query: { ...of }, signal }),
    refetchInterval: 60_000,
  })
