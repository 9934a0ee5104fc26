/** The keys of one account. */
import { useQuery } from '@tanstack/react-query'
import { keysQuery } from '../../api/queries.ts'
import type { Credential } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { KeyRecords } from '../keys/records.tsx'

export function CredentialKeys({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const keys = useQuery(keysQuery)
  const own = keys.data?.items.filter(
    ({ credential_id, revoked_at }) =>
      credential_id === credential.credential_id && revoked_at === null,
  )
  const create = `/dashboard/keys?create=${credential.credential_id}`
  return (
    <Card
      title={t('account.keys')}
      aside={
        <ButtonLink to={create} size="slim" icon="plus">
          {t('account.keys.create')}
        </ButtonLink>
      }
    >
      {keys.isError && !keys.data ? (
        <Failed cause={keys.error} retry={() => keys.refetch()} />
      ) : !own ? (
        <Loading />
      ) : own.length === 0 ? (
        <Empty icon="key" title={t('account.keys.none')}>
          {t('account.keys.noneText')}
        </Empty>
      ) : (
        <KeyRecords keys={own} />
      )}
    </Card>
  )
}
