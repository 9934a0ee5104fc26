/** /dashboard/link/:platform/:session: a link flow in progress. It continues after a reload of its address. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useParams, useSearchParams } from 'react-router'
import { addressOf, call } from '../../api/call.ts'
import { isGone } from '../../api/failure.ts'
import { credentialQuery, keysOfQuery } from '../../api/queries.ts'
import type { LinkSession } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { StateBadge } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Failed, Loading, Wrong } from '../../ui/states.tsx'
import { Until } from '../../ui/time.tsx'
import { SANDBOX, SentCode } from './sandbox-person.tsx'
import { LinkSteps } from './steps.tsx'

/** A one-time page for the owner of the account, who need not have access to the panel. */
export function Invite({ path }: { readonly path: string }) {
  const t = useT()
  const inviting = useMutation({
    mutationFn: () => call<{ url: string; expires_in: number }>('POST', `${path}/page`),
  })
  return (
    <div className="stack tight">
      <p className="quiet small">{t('linking.invite.text')}</p>
      {inviting.data ? (
        <>
          <Copied text={inviting.data.url} wrap />
          <p className="quiet small">
            {t('linking.invite.until')}{' '}
            <Until seconds={inviting.data.expires_in} over={t('linking.over')} />
          </p>
        </>
      ) : (
        <div>
          <Button icon="link" busy={inviting.isPending} onClick={() => inviting.mutate()}>
            {t('linking.invite.make')}
          </Button>
        </div>
      )}
      <Wrong cause={inviting.error} />
    </div>
  )
}

const open = ['code_sent', 'password_needed', 'waiting']
/** How often the flow is read again, because it may go on from another device. */
const LOOK_MS = 2_000

export function LinkSessionPage() {
  const t = useT()
  const queries = useQueryClient()
  const { platform = '', session = '' } = useParams()
  const path = `/platforms/${platform}/link/${session}`
  const queryKey = ['link', session]
  const flow = useQuery({
    queryKey,
    queryFn: ({ signal }) => call<LinkSession>('GET', path, { signal }),
    refetchInterval: ({ state }) => (open.includes(state.data?.state ?? '') ? LOOK_MS : false),
  })
  useEffect(() => {
    if (flow.data?.state !== 'linked') return
    for (const key of ['summary', 'credentials', 'urgent']) {
      queries.invalidateQueries({ queryKey: [key] })
    }
  }, [flow.data?.state, queries])

  return (
    <Page title={t('linking.title')} narrow>
      {flow.isError && !flow.data ? (
        <>
          <Failed
            cause={flow.error}
            {...(!isGone(flow.error) && { retry: () => flow.refetch() })}
          />
          {isGone(flow.error) && <Anew platform={platform} />}
        </>
      ) : !flow.data ? (
        <Loading lines={4} />
      ) : (
        <Flow
          platform={platform}
          path={path}
          session={flow.data}
          keep={(next) => queries.setQueryData(queryKey, next)}
          lookAgain={() => flow.refetch()}
        />
      )}
    </Page>
  )
}

/** The way back to the start, to try once more. */
function Anew({ platform }: { readonly platform: string }) {
  const t = useT()
  const [query] = useSearchParams()
  return (
    <div className="actions">
      <ButtonLink
        kind="first"
        to={addressOf('/dashboard/link', { platform, again: query.get('again') ?? undefined })}
      >
        {t('linking.anew')}
      </ButtonLink>
    </div>
  )
}

/** Follows a linked account until it is active: the stream changes the record that is shown. */
function Connecting({ id }: { readonly id: number }) {
  const t = useT()
  const account = useQuery(credentialQuery(id)).data
  const state = account?.state ?? 'connecting'
  return (
    <span role="status">
      <StateBadge state={state} /> {state === 'active' && t('linking.linked.active')}
      {state === 'connecting' && t('linking.linked.text')}
      {account && isOut(state) && (
        <>
          {account.reason && `${t.word('reason', account.reason)}. `}
          {t.word('action', account.action)}
        </>
      )}
    </span>
  )
}

const isOut = (state: string) => state !== 'active' && state !== 'connecting'

/** What comes after linking: a key, or a remedy for an account that fell out at once. */
function NextSteps({ platform, id }: { readonly platform: string; readonly id: number }) {
  const t = useT()
  const account = useQuery(credentialQuery(id)).data
  const fellOut = account !== undefined && isOut(account.state)
  const action = fellOut ? account.action : 'none'
  const mayLinkAgain = ['link_again', 'contact_platform'].includes(action)
  // It is a key that is diagnosed; a new account has none.
  const keys = useQuery({ ...keysOfQuery(id), enabled: fellOut })
  return (
    <div className="actions">
      {fellOut && (keys.data?.items.length ?? 0) > 0 && (
        <ButtonLink to={`/dashboard/accounts/${id}/diagnosis`} icon="stethoscope">
          {t('keys.diagnose')}
        </ButtonLink>
      )}
      <ButtonLink
        to={`/dashboard/accounts/${id}`}
        kind={fellOut && action !== 'link_again' ? 'first' : 'plain'}
      >
        {t('linking.toAccount')}
      </ButtonLink>
      {mayLinkAgain && (
        <ButtonLink
          to={addressOf('/dashboard/link', { platform, again: id })}
          kind={action === 'link_again' ? 'first' : 'plain'}
          icon="link"
        >
          {t('account.linkAgain')}
        </ButtonLink>
      )}
      {!mayLinkAgain && (
        <ButtonLink to={`/dashboard/keys?create=${id}`} kind={fellOut ? 'plain' : 'first'}>
          {t('account.keys.create')}
        </ButtonLink>
      )}
    </div>
  )
}

interface FlowProps {
  readonly platform: string
  readonly path: string
  readonly session: LinkSession
  keep(session: LinkSession): void
  lookAgain(): void
}

function Flow({ platform, path, session, keep, lookAgain }: FlowProps) {
  const t = useT()
  const [query] = useSearchParams()
  const cancelling = useMutation({
    mutationFn: () => call<LinkSession>('DELETE', path),
    onSuccess: keep,
  })
  const isOpen = open.includes(session.state)
  const credentialId = session.credential?.credential_id
  return (
    <>
      <LinkSteps
        session={session}
        keep={keep}
        lookAgain={lookAgain}
        linked={credentialId !== undefined && <Connecting id={credentialId} />}
        verify={(answer) =>
          call<LinkSession>('POST', `/platforms/${platform}/link/verify`, {
            body: { session_id: session.session_id, ...answer },
          })
        }
        resend={() => call<LinkSession>('POST', `${path}/resend`)}
      />
      {platform === SANDBOX && session.state === 'code_sent' && (
        <SentCode shown={session.phone} given={query.get('phone')} />
      )}
      {isOpen && (
        <>
          <Card title={t('linking.invite')}>
            <Invite path={path} />
          </Card>
          <div className="actions">
            <Button kind="bare" busy={cancelling.isPending} onClick={() => cancelling.mutate()}>
              {t('linking.cancel')}
            </Button>
          </div>
        </>
      )}
      {credentialId !== undefined ? (
        <NextSteps platform={platform} id={credentialId} />
      ) : (
        !isOpen && <Anew platform={platform} />
      )}
    </>
  )
}
