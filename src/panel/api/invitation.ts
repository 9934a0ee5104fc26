/** What a link page may ask: nobody is signed in there, the token in its address is all it has. */
import { queryOptions } from '@tanstack/react-query'
import { ApiFailure, resultOf } from './failure.ts'
import type { LinkSession } from './types.ts'

const TIMEOUT_MS = 60_000

/** As a flow of one's own, but for what is none of the owner's business. */
export async function askInvitation(
  token: string,
  act?: 'answer' | 'resend',
  body: object = {},
): Promise<LinkSession> {
  const path = `/link-pages/${encodeURIComponent(token)}`
  const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const response = await fetch(act ? `${path}/${act}` : path, {
    ...(act && { ...post, body: JSON.stringify(body) }),
    credentials: 'omit',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => {
    throw new ApiFailure(0, 'no answer')
  })
  const shown = await resultOf<Omit<LinkSession, 'session_id' | 'credential'>>(response)
  return { ...shown, session_id: '', credential: null }
}

/** What happens on another device shows here without a touch. */
const LOOK_MS = 3_000
export const isOpen = ({ state }: LinkSession) =>
  ['code_sent', 'password_needed', 'waiting'].includes(state)

export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: () => askInvitation(token),
    refetchInterval: ({ state: { data } }) => (data && isOpen(data) ? LOOK_MS : false),
  })
