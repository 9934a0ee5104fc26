/** The signed-in user's sessions and tokens. */

import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import type { RecordPage, SignIn, Token } from './types.ts'

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
