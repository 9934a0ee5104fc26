/** Usage figures, in all or of one key or account. */

import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import type { UsageReport } from './types.ts'

interface UsageOf {
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
