/** What a link page may ask: nobody is signed in there, the token in its address is all it has. */
import { queryOptions } from '@tanstack/react-query'
import { ask, posting } from './ask.ts'
import type { LinkSession } from './types.ts'

/** As a flow of one's own, but for what is none of the owner's business. */
export async function askInvitation(
  token: string,
  act?: 'answer' | 'resend',
  body: object = {},
): Promise<LinkSession> {
  const path = `/link-pages/${encodeURIComponent(token)}`
  const shown = await ask<Omit<LinkSession, 'session_id' | 'credential'>>(
    act ? `${path}/${act}` : path,
    { ...(act && posting(body)), credentials: 'omit' },
  )
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
