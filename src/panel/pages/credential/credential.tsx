/** /dashboard/accounts/:id: one messenger account, its machine at work, and everything to be done with it. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { isGone } from '../../api/failure.ts'
import { handleOf, nameOf } from '../../api/names.ts'
import { credentialQuery } from '../../api/queries.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { StateBadge } from '../../ui/badge.tsx'
import { Page } from '../../ui/page.tsx'
import { Failed, Loading, Notice } from '../../ui/states.tsx'
import { Actions } from './actions.tsx'
import { CredentialKeys } from './credential-keys.tsx'
import { Health } from './health.tsx'
import { MachineAndTimeline } from './machine.tsx'
import { ReceiveSettings } from './receive-settings.tsx'
import { Traffic } from './traffic.tsx'
import { useFollowed } from './use-followed.ts'

/** Proofs of health and the latest event come without a word. */
const LOOK_MS = 10_000

export function CredentialPage() {
  const t = useT()
  const { day } = useFormats()
  const { id: given = '' } = useParams()
  const id = Number(given)
  const found = useQuery({
    ...credentialQuery(id),
    refetchInterval: ({ state }) => (isGone(state.error) ? false : LOOK_MS),
  })
  const { latest, isLive } = useFollowed(id)
  const crumbs = <Link to="/dashboard/accounts">{t('accounts.title')}</Link>
  // What was read of it before it was deleted is true no more.
  const one = isGone(found.error) ? undefined : found.data

  if (!one) {
    return (
      <Page title={t('account.number', { id: given })} crumbs={crumbs}>
        {found.isError ? <Failed cause={found.error} retry={() => found.refetch()} /> : <Loading />}
      </Page>
    )
  }
  return (
    <Page
      title={nameOf(one)}
      crumbs={crumbs}
      lead={
        <span className="row">
          <StateBadge state={one.state} />
          <span className="ltr">{handleOf(one)}</span>
          <span>{t.word('platform', one.platform)}</span>
          <span>{t('account.number', { id: `${id}` })}</span>
          <span>{t('account.linked', { day: day(one.created_at) })}</span>
        </span>
      }
      actions={<Actions credential={one} />}
    >
      {one.action !== 'none' && (
        <Notice tone={one.action === 'wait' ? 'warn' : 'bad'}>
          <p className="label">{t.word('action', one.action)}</p>
          {one.reason && <p className="quiet small">{t.word('reason', one.reason)}</p>}
        </Notice>
      )}
      <MachineAndTimeline credential={one} latest={latest} isLive={isLive} />
      <div className="columns">
        <div className="stack">
          <Health credential={one} />
          <Traffic credential={one} />
        </div>
        <div className="stack">
          <ReceiveSettings credential={one} />
          <CredentialKeys credential={one} />
        </div>
      </div>
    </Page>
  )
}
