/** /dashboard: how all accounts are doing, and what needs somebody. */
import { useQuery } from '@tanstack/react-query'
import { summaryQuery } from '../../api/queries.ts'
import { useT } from '../../i18n/language.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { LiveBadge } from '../../ui/live-badge.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { Attention } from './attention.tsx'
import { Counts } from './counts.tsx'
import { UsageToday } from './usage-today.tsx'

export function DashboardPage() {
  const t = useT()
  const summary = useQuery(summaryQuery)
  return (
    <Page
      title={t('dashboard.title')}
      lead={t('dashboard.lead')}
      actions={
        <>
          <LiveBadge />
          <ButtonLink to="/dashboard/link" kind="first" icon="plus">
            {t('accounts.link')}
          </ButtonLink>
        </>
      }
    >
      {summary.isError && !summary.data ? (
        <Failed cause={summary.error} retry={() => summary.refetch()} />
      ) : !summary.data ? (
        <Loading lines={4} />
      ) : summary.data.total === 0 ? (
        <Empty
          icon="link"
          title={t('dashboard.first')}
          action={
            <ButtonLink to="/dashboard/link" kind="first">
              {t('accounts.link')}
            </ButtonLink>
          }
        >
          {t('dashboard.firstText')}
        </Empty>
      ) : (
        <>
          <Counts summary={summary.data} />
          <div className="columns">
            <Attention needing={summary.data.needing_action} />
            <UsageToday />
          </div>
        </>
      )}
    </Page>
  )
}
