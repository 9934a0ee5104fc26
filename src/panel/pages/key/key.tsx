/** /dashboard/keys/:id: one key, how it receives, what it did. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearchParams } from 'react-router'
import { isGone } from '../../api/failure.ts'
import { keyQuery } from '../../api/queries.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Page } from '../../ui/page.tsx'
import { Failed, Loading, Notice, useReason } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Ago } from '../../ui/time.tsx'
import { standingOf, standingTones } from '../keys/standing.ts'
import { KeyActions } from './actions.tsx'
import { Deliveries } from './deliveries.tsx'
import { Overview } from './overview.tsx'
import { Requests } from './requests.tsx'
import { KeyUsage } from './usage.tsx'
import { WebhookTab } from './webhook.tsx'

const tabs = ['overview', 'webhook', 'deliveries', 'requests', 'usage'] as const
/** What waits and what was confirmed changes without a word. */
const LOOK_MS = 5_000

export function KeyPage() {
  const t = useT()
  const { id: given = '' } = useParams()
  const id = Number(given)
  const reason = useReason()
  const [query, setQuery] = useSearchParams()
  const found = useQuery({
    ...keyQuery(id),
    refetchInterval: ({ state }) => (isGone(state.error) ? false : LOOK_MS),
  })
  const tab = tabs.find((one) => one === query.get('tab')) ?? 'overview'
  const key = isGone(found.error) ? undefined : found.data
  const crumbs = <Link to="/dashboard/keys">{t('nav.keys')}</Link>

  if (!key) {
    return (
      <Page title={t('keys.one', { id: given })} crumbs={crumbs}>
        {found.isError ? <Failed cause={found.error} retry={() => found.refetch()} /> : <Loading />}
      </Page>
    )
  }
  const standing = standingOf(key)
  return (
    <Page
      title={key.name}
      crumbs={crumbs}
      lead={
        <span className="row">
          <Badge tone={standingTones[standing]}>{t(`keys.${standing}`)}</Badge>
          <span className="mono">{key.key_hint}</span>
          <span>
            {t('keys.created')} <Ago at={key.created_at} />
          </span>
        </span>
      }
      actions={<KeyActions apiKey={key} />}
    >
      {found.isError && <Notice tone="warn">{reason(found.error)}</Notice>}
      <Tabs
        label={t('keys.parts')}
        value={tab}
        tabs={tabs.map((one) => [one, t(`keys.tab.${one}`)])}
        onChange={(next) => setQuery(next === 'overview' ? {} : { tab: next }, { replace: true })}
      >
        {tab === 'overview' && <Overview apiKey={key} />}
        {tab === 'webhook' && <WebhookTab apiKey={key} />}
        {tab === 'deliveries' && <Deliveries apiKey={key} />}
        {tab === 'requests' && <Requests apiKey={key} />}
        {tab === 'usage' && <KeyUsage apiKey={key} />}
      </Tabs>
    </Page>
  )
}
