/** /link/<token>: the owner of an account enters the code that the messenger sent them, and sees nothing else. */
import './invitation.css'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams } from 'react-router'
import { ask, isGone, posting } from '../../api/failure.ts'
import type { LinkField, LinkSession as Session } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Brand } from '../../layout/brand.tsx'
import { Preferences } from '../../layout/preferences.tsx'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/form.tsx'
import { useTitle } from '../../ui/page.tsx'
import { Empty, Failed, Loading, Notice, useFieldReason, Wrong } from '../../ui/states.tsx'
import { Until } from '../../ui/time.tsx'
import { LinkInput, LinkSteps } from '../linking/steps.tsx'

/** A page that links an account again knows the account, and waits to be begun. */
interface LinkSession extends Session {
  /** The user who wants the account linked: the last digits of their phone. */
  readonly asked_by: string
  readonly username?: string
  readonly fields?: readonly LinkField[]
}

/** A request of the link page: without sign-in, by the token in its address. */
export async function askInvitation(
  token: string,
  act?: 'answer' | 'resend' | 'start',
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
  const { data, error } = invitation
  const isOver = isGone(error)
  useTitle(t('invitation.title'))
  return (
    <main className="alone">
      <Brand />
      {data && !isOver && isOpen(data) ? (
        <Open token={token} session={data} />
      ) : data && !isOver && data.state === 'ready' ? (
        <Ready token={token} session={data} />
      ) : (
        <div className="card">
          <h1 className="unseen">{t('invitation.title')}</h1>
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
}

/** Who asks, and that they can be trusted only by somebody who knows them. */
function Asking({ session }: Pick<OpenProps, 'session'>) {
  const t = useT()
  return (
    <Notice tone="warn">
      <p>
        {t('invitation.askedBy')} <bdi className="label ltr">{session.asked_by}</bdi>
      </p>
      <p className="small">
        {t('invitation.trust', { platform: t.word('platform', session.platform) })}
      </p>
    </Notice>
  )
}

function Open({ token, session }: OpenProps) {
  const t = useT()
  const queries = useQueryClient()
  const platform = t.word('platform', session.platform)
  return (
    <div className="invitation stack">
      <div>
        <h1>{t('invitation.open', { platform })}</h1>
        <p className="quiet small">
          {t('invitation.until')} <Until seconds={session.expires_in} over={t('linking.over')} />
        </p>
      </div>
      <Asking session={session} />
      <LinkSteps
        session={session}
        keep={(next) =>
          queries.setQueryData(invitationQuery(token).queryKey, {
            ...next,
            asked_by: session.asked_by,
          })
        }
        verify={(answer) => askInvitation(token, 'answer', answer)}
        resend={() => askInvitation(token, 'resend')}
        lookAgain={() => void queries.invalidateQueries(invitationQuery(token))}
      />
    </div>
  )
}

const HOUR = 3_600

/** Nothing was sent yet: the link begins when the owner of the account wants it. */
function Ready({ token, session }: OpenProps) {
  const t = useT()
  const queries = useQueryClient()
  const platform = t.word('platform', session.platform)
  const fieldReason = useFieldReason()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const { fields = [], phone, jid, username } = session
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  const starting = useMutation({
    mutationFn: () => askInvitation(token, 'start', { fields: given }),
    onSuccess: (next) => queries.setQueryData(invitationQuery(token).queryKey, next),
  })
  return (
    <div className="invitation stack">
      <div>
        <h1>{t('invitation.again', { platform })}</h1>
        <p className="quiet small">
          {t.count('invitation.hours', Math.ceil(session.expires_in / HOUR))}
        </p>
      </div>
      <Asking session={session} />
      <Form by={starting} className="card stack">
        {session.reason !== undefined && (
          <p className="wrong">
            {t('invitation.lastTry', { reason: t.word('reason', session.reason) })}
          </p>
        )}
        <p>
          {t(phone === undefined ? 'invitation.account' : 'invitation.sends', { platform })}{' '}
          <bdi className="label ltr">{phone ?? jid ?? (username && `@${username}`)}</bdi>
        </p>
        {fields.map((field) => (
          <LinkInput
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            wrong={fieldReason(starting.error, field.name)}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
        {!fields.some(({ name }) => fieldReason(starting.error, name)) && (
          <Wrong cause={starting.error} />
        )}
        <div className="actions">
          <Button type="submit" kind="first" busy={starting.isPending}>
            {t(fields.length > 0 ? 'invitation.link' : 'invitation.start')}
          </Button>
        </div>
      </Form>
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
