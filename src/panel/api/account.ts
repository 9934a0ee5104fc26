/** The signed-in user's sessions and tokens. */
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import type { Page } from './types.ts'

export interface SignIn {
  readonly session_id: number
  readonly current: boolean
  readonly ip: string | null
  readonly user_agent: string | null
  readonly created_at: string
  readonly last_used_at: string
  readonly expires_at: string
}

export interface Token {
  readonly token_id: number
  readonly name: string
  readonly token_hint: string
  readonly created_at: string
  readonly expires_at: string
  readonly last_used_at: string | null
}

export interface NewToken extends Token {
  readonly token: string
}

export const signInsQuery = queryOptions({
  queryKey: ['sign-ins'],
  queryFn: ({ signal }) =>
    call<Page<SignIn>>('GET', '/user/sessions', { query: { limit: 100 }, signal }),
})

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) =>
    call<Page<Token>>('GET', '/user/tokens', { query: { limit: 100 }, signal }),
})
