/** /dashboard/keys: the keys by which bots use accounts. */
import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { keysQuery } from '../../api/queries.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { CreateKey } from './create.tsx'
import { KeyRecords } from './records.tsx'

/** What waits for a key, and when it was used, changes without a word. */
const LOOK_MS = 15_000

export function KeysPage() {
  const t = useT()
  const [query, setQuery] = useSearchParams()
  const keys = useQuery({ ...keysQuery, refetchInterval: LOOK_MS })
  const creating = query.get('create')
  const create = (
    <Button kind="first" icon="plus" onClick={() => setQuery({ create: '' })}>
      {t('account.keys.create')}
    </Button>
  )
  const live = keys.data?.items.filter(({ revoked_at }) => revoked_at === null) ?? []
  const revoked = keys.data?.items.filter(({ revoked_at }) => revoked_at !== null) ?? []
  return (
    <Page title={t('nav.keys')} lead={t('keys.lead')} actions={create}>
      {keys.isError && !keys.data ? (
        <Failed cause={keys.error} retry={() => keys.refetch()} />
      ) : !keys.data ? (
        <Loading lines={5} />
      ) : keys.data.items.length === 0 ? (
        <Empty icon="key" title={t('keys.none')} action={create}>
          {t('keys.noneText')}
        </Empty>
      ) : (
        <>
          {live.length > 0 && (
            <Card title={t('keys.live')}>
              <KeyRecords keys={live} tellsAccount />
            </Card>
          )}
          {revoked.length > 0 && (
            <Card title={t('keys.revokedOnes')}>
              <KeyRecords keys={revoked} tellsAccount />
            </Card>
          )}
        </>
      )}
      {creating !== null && <CreateKey credentialId={creating} close={() => setQuery({})} />}
    </Page>
  )
}
