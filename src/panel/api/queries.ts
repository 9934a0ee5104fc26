/** The queries of pages, with their keys in the cache. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { call } from './call.ts'
import { ApiFailure } from './failure.ts'
import { currentSession, onSession } from './session.ts'
import type {
  ApiKey,
  Backlog,
  Chart,
  Credential,
  Diagnosis,
  IncidentSummary,
  OpenLink,
  OwnUser,
  Platform,
  RecordPage,
  SignIn,
  Summary,
  Token,
  Transition,
  UsageReport,
} from './types.ts'
import { onViewing, viewedUser } from './viewing.ts'

/** Here and not beside the session, whose script has to come before React. */
export const useSession = () => useSyncExternalStore(onSession, currentSession)

export const useViewed = () => useSyncExternalStore(onViewing, viewedUser)

/** Whether the user runs the service changes only with its configuration. */
export const userQuery = queryOptions({
  queryKey: ['user'],
  queryFn: ({ signal }) => call<OwnUser>('GET', '/user', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** The browsers in which the user is signed in. */
export const signInsQuery = queryOptions({
  queryKey: ['sign-ins'],
  queryFn: ({ signal }) =>
    call<RecordPage<SignIn>>('GET', '/user/sessions', { query: { limit: 100 }, signal }),
})

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) =>
    call<RecordPage<Token>>('GET', '/user/tokens', { query: { limit: 100 }, signal }),
})

interface UsageOf {
  readonly api_key_id?: number
  readonly credential_id?: number
  readonly step?: 'hour' | 'day'
  readonly from?: string
  readonly to?: string
}

/** Usage figures, in all or of one key or account. */
export const usageQuery = (of: UsageOf) =>
  queryOptions({
    queryKey: ['usage', of],
    queryFn: ({ signal }) => call<UsageReport>('GET', '/user/usage', { query: { ...of }, signal }),
    refetchInterval: 60_000,
  })

interface DiagnosisWish {
  readonly send_to?: string
  readonly key?: string
}

/** A diagnosis: five steps in order, each with what was seen and what to do. */
export const diagnosisQuery = (keyId: number, diagnosisId: string) =>
  queryOptions({
    queryKey: ['diagnosis', keyId, diagnosisId],
    queryFn: ({ signal }) =>
      call<Diagnosis>('GET', `/api_keys/${keyId}/diagnosis/${diagnosisId}`, { signal }),
  })

export const startDiagnosis = (keyId: number, wish: DiagnosisWish) =>
  call<Diagnosis>('POST', `/api_keys/${keyId}/diagnosis`, { body: wish })

export const takeStep = ({ api_key_id, diagnosis_id }: Diagnosis) =>
  call<Diagnosis>('POST', `/api_keys/${api_key_id}/diagnosis/${diagnosis_id}/next`, { body: {} })

export const summaryQuery = queryOptions({
  queryKey: ['summary'],
  queryFn: ({ signal }) => call<Summary>('GET', '/platforms/credentials/summary', { signal }),
})

export const incidentsQuery = queryOptions({
  queryKey: ['incidents', 'summary'],
  queryFn: ({ signal }) => call<IncidentSummary>('GET', '/alerts/summary', { signal }),
  refetchInterval: 30_000,
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
  Record<
    'search' | 'state' | 'action' | 'reason' | 'platform' | 'tag' | 'incident' | 'sort' | 'order',
    string | undefined
  >
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

/** The newest accounts, as many as one answer holds, that a search finds. */
export const accountsQuery = (search: string) =>
  queryOptions({
    queryKey: ['accounts', search],
    queryFn: ({ signal }) =>
      call<RecordPage<Credential>>('GET', '/platforms/credentials', {
        query: { limit: 200, search },
        signal,
      }),
  })

/** The record that a page is about. Where its address has no number, the service would call that malformed, instead of gone. */
async function found<Kind>(path: string, id: number, signal: AbortSignal): Promise<Kind> {
  if (!Number.isSafeInteger(id) || id < 1) throw new ApiFailure(404, 'Not Found')
  return call<Kind>('GET', `${path}/${id}`, { signal })
}

export const credentialQuery = (id: number) =>
  queryOptions({
    queryKey: ['credential', id],
    queryFn: ({ signal }) => found<Credential>('/platforms/credentials', id, signal),
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

type KeyFilter = Readonly<Partial<Record<'search' | 'trouble' | 'revoked', string>>>

/** The list of keys, page by page. */
export const keysQuery = (filter: KeyFilter) =>
  infiniteQueryOptions({
    queryKey: ['keys', 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<ApiKey>>('GET', '/api_keys', {
        query: { ...filter, limit: 100, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
  })

/** The newest keys in use that a search finds, no more than are shown. */
export const foundKeysQuery = (search: string, limit: number) =>
  queryOptions({
    queryKey: ['keys', 'found', search, limit],
    queryFn: ({ signal }) =>
      call<RecordPage<ApiKey>>('GET', '/api_keys', {
        query: { search, revoked: 'false', limit },
        signal,
      }),
  })

/** The keys in use of one account: it has a hundred at most, unless the service allows more. */
export const keysOfQuery = (credentialId: number) =>
  queryOptions({
    queryKey: ['keys', 'of', credentialId],
    queryFn: ({ signal }) =>
      call<RecordPage<ApiKey>>('GET', '/api_keys', {
        query: { credential_id: credentialId, revoked: 'false', limit: 1_000 },
        signal,
      }),
  })

export const keyQuery = (id: number) =>
  queryOptions({
    queryKey: ['key', id],
    queryFn: ({ signal }) => found<ApiKey>('/api_keys', id, signal),
  })

export const backlogQuery = (id: number) =>
  queryOptions({
    queryKey: ['backlog', id],
    queryFn: ({ signal }) => call<Backlog>('GET', `/api_keys/${id}/backlog`, { signal }),
    refetchInterval: 60_000,
  })

/** The links that wait for an answer; each of them lives for some minutes. */
export const openLinksQuery = queryOptions({
  queryKey: ['link', 'open'],
  queryFn: ({ signal }) => call<RecordPage<OpenLink>>('GET', '/platforms/links', { signal }),
  staleTime: 0,
  refetchInterval: 30_000,
})

export const platformsQuery = queryOptions({
  queryKey: ['platforms'],
  queryFn: ({ signal }) => call<readonly Platform[]>('GET', '/platforms', { signal }),
  staleTime: 60_000,
})
