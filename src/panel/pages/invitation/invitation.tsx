/** /link/<token>: the owner of an account enters the code that the messenger sent them, and sees nothing else. */
import './invitation.css'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from 'react-router'
import { ask, posting } from '../../api/ask.ts'
import { isGone } from '../../api/failure.ts'
import type { LinkSession } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Brand } from '../../layout/brand.tsx'
import { Preferences } from '../../layout/preferences.tsx'
import { Empty, Failed, Loading, Notice } from '../../ui/states.tsx'
import { useSecondsLeft } from '../../ui/time.tsx'
import { LinkSteps } from '../linking/steps.tsx'

/** A request of the link page: without sign-in, by the token in its address. */
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

/** How often the flow is read again, because it may go on from another device. */
const LOOK_MS = 3_000
export const isOpen = ({ state }: LinkSession) =>
  ['code_sent', 'password_needed', 'waiting'].includes(state)

export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: () => askInvitation(token),
    refetchInterval: ({ state: { data } }) => (data && isOpen(data) ? LOOK_MS : false),
  })

export function InvitationPage() {
  const t = useT()
  const { token = '' } = useParams()
  const invitation = useQuery(invitationQuery(token))
  const { data, error, dataUpdatedAt } = invitation
  const isOver = isGone(error)
  return (
    <main className="alone">
      <title>{`${t('invitation.title')} · Chapar`}</title>
      <Brand />
      {data && !isOver && isOpen(data) ? (
        <Open token={token} session={data} until={dataUpdatedAt + data.expires_in * 1000} />
      ) : (
        <div className="card">
          {isOver ? (
            <Over state="expired" />
          ) : data ? (
            <Over state={data.state} />
          ) : error ? (
            <Failed cause={error} retry={() => invitation.refetch()} />
          ) : (
            <Loading />
          )}
        </div>
      )}
      <Preferences />
    </main>
  )
}

interface OpenProps {
  readonly token: string
  readonly session: LinkSession
  readonly until: number
}

function Open({ token, session, until }: OpenProps) {
  const t = useT()
  const queries = useQueryClient()
  const minutes = Math.ceil(useSecondsLeft(until) / 60)
  const platform = t.word('platform', session.platform)
  return (
    <div className="invitation stack">
      <div>
        <h1>{t('invitation.open', { platform })}</h1>
        <p className="quiet small">{t.count('invitation.minutes', minutes)}</p>
      </div>
      <Notice tone="warn">
        <p className="small">{t('invitation.trust', { platform })}</p>
      </Notice>
      <LinkSteps
        session={session}
        keep={(next) => queries.setQueryData(invitationQuery(token).queryKey, next)}
        verify={(answer) => askInvitation(token, 'answer', answer)}
        resend={() => askInvitation(token, 'resend')}
        lookAgain={() => void queries.invalidateQueries(invitationQuery(token))}
      />
    </div>
  )
}

const ends = ['linked', 'cancelled', 'failed'] as const

function Over({ state }: { readonly state: string }) {
  const t = useT()
  const end = ends.find((one) => one === state) ?? 'expired'
  return (
    <div role="status">
      <Empty icon={end === 'linked' ? 'check' : 'warning'} title={t(`invitation.${end}`)}>
        {t(`invitation.${end}.text`)}
      </Empty>
    </div>
  )
}
