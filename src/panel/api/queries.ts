/** What pages read, by the names under which it is kept. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import type {
  ApiKey,
  Backlog,
  Chart,
  Credential,
  Platform,
  RecordPage,
  Summary,
  Transition,
} from './types.ts'

export const summaryQuery = queryOptions({
  queryKey: ['summary'],
  queryFn: ({ signal }) => call<Summary>('GET', '/platforms/credentials/summary', { signal }),
})

export const urgentQuery = queryOptions({
  queryKey: ['urgent'],
  queryFn: ({ signal }) =>
    call<RecordPage<Credential>>('GET', '/platforms/credentials', {
      query: { action: 'link_again,restart,contact_platform', sort: 'last_event', limit: 6 },
      signal,
    }),
})

export type ListFilter = Readonly<
  Record<'search' | 'state' | 'action' | 'platform' | 'sort' | 'order', string | undefined>
>

const PAGE = 250

export const credentialsQuery = (filter: ListFilter) =>
  infiniteQueryOptions({
    queryKey: ['credentials', filter],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<Credential>>('GET', '/platforms/credentials', {
        query: { ...filter, limit: PAGE, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
  })

export const credentialQuery = (id: number) =>
  queryOptions({
    queryKey: ['credential', id],
    queryFn: ({ signal }) => call<Credential>('GET', `/platforms/credentials/${id}`, { signal }),
  })

export const timelineQuery = (id: number) =>
  infiniteQueryOptions({
    queryKey: ['timeline', id],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<Transition>>('GET', `/platforms/credentials/${id}/transitions`, {
        query: { limit: 50, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
  })

/** A machine changes only with the service itself. */
export const chartQuery = (name: string) =>
  queryOptions({
    queryKey: ['machine', name],
    queryFn: ({ signal }) => call<Chart>('GET', `/machines/${name}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** All of them: which are an account's own is only seen in the whole list. */
export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: async ({ signal }) => {
    const items: ApiKey[] = []
    let before: string | null | undefined
    do {
      const query = { limit: 500, before: before ?? undefined }
      const page: RecordPage<ApiKey> = await call('GET', '/api_keys', { query, signal })
      items.push(...page.items)
      before = page.next_before
    } while (before !== null)
    return { items }
  },
})

export const keyQuery = (id: number) =>
  queryOptions({
    queryKey: ['key', id],
    queryFn: ({ signal }) => call<ApiKey>('GET', `/api_keys/${id}`, { signal }),
  })

export const backlogQuery = (id: number) =>
  queryOptions({
    queryKey: ['backlog', id],
    queryFn: ({ signal }) => call<Backlog>('GET', `/api_keys/${id}/backlog`, { signal }),
    refetchInterval: 60_000,
  })

export const platformsQuery = queryOptions({
  queryKey: ['platforms'],
  queryFn: ({ signal }) => call<readonly Platform[]>('GET', '/platforms', { signal }),
  staleTime: 60_000,
})
