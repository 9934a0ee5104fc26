/** /dashboard/accounts/:id/diagnosis: the choice of the account's key to diagnose. */
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useParams } from 'react-router'
import { credentialQuery, keysOfQuery } from '../../api/queries.ts'
import { type ApiKey, type Credential, nameOf } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Failed, Loading, Notice } from '../../ui/states.tsx'
import { AskOwner } from './remedy.tsx'

/** Without a key nothing is tried out, but the account itself says why it is out. */
function Out({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const { action, credential_id: id, platform, reason, shared, state } = credential
  if (state === 'active' || state === 'connecting') return null
  return (
    <Notice tone="warn">
      <p>
        {reason && `${t.word('reason', reason)}. `}
        {t.word('action', action)}
      </p>
      {['link_again', 'restart'].includes(action) && shared && <AskOwner shared={shared} />}
      {action === 'link_again' && !shared && (
        <div>
          <ButtonLink kind="first" to={`/dashboard/link?platform=${platform}&again=${id}`}>
            {t('account.linkAgain')}
          </ButtonLink>
        </div>
      )}
    </Notice>
  )
}

export function AccountDiagnosisPage() {
  const t = useT()
  const { id } = useParams()
  const credentialId = Number(id)
  const credential = useQuery(credentialQuery(credentialId))
  const keys = useQuery(keysOfQuery(credentialId))
  const own = keys.data?.items
  const [only, ...others] = own ?? []
  if (only && others.length === 0) {
    return <Navigate to={`/dashboard/keys/${only.api_key_id}/diagnosis`} replace />
  }
  return (
    <Page
      narrow
      title={t('diagnosis.title')}
      lead={t('diagnosis.lead')}
      crumbs={
        credential.data && (
          <Link to={`/dashboard/accounts/${credentialId}`}>{nameOf(credential.data)}</Link>
        )
      }
    >
      {keys.isError && !own ? (
        <Failed cause={keys.error} retry={() => keys.refetch()} />
      ) : !own ? (
        <Loading />
      ) : (
        <>
          {own.length === 0 && credential.data && <Out credential={credential.data} />}
          <Card title={t('diagnosis.which')}>
            {own.length === 0 ? (
              <Empty
                icon="key"
                title={t('account.keys.none')}
                action={
                  <ButtonLink kind="first" to={`/dashboard/keys?create=${credentialId}`}>
                    {t('account.keys.create')}
                  </ButtonLink>
                }
              >
                {t('account.keys.noneText')}
              </Empty>
            ) : (
              <KeyChoice keys={own} />
            )}
          </Card>
        </>
      )}
    </Page>
  )
}

function KeyChoice({ keys }: { readonly keys: readonly ApiKey[] }) {
  return (
    <ul className="records">
      {keys.map(({ api_key_id, name, key_hint }) => (
        <li key={api_key_id}>
          <Link to={`/dashboard/keys/${api_key_id}/diagnosis`} className="record">
            <span className="grow">
              <span className="label">{name}</span> <span className="quiet mono">{key_hint}</span>
            </span>
            <Icon name="stethoscope" />
          </Link>
        </li>
      ))}
    </ul>
  )
}
