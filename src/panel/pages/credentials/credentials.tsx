/** /dashboard/accounts: all messenger accounts, however many. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { credentialsQuery, summaryQuery } from '../../api/queries.ts'
import { useT } from '../../i18n/language.tsx'
import { LiveBadge } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { recordsOf } from '../../ui/records.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { Filters, useFilter } from './filters.tsx'
import { CredentialRows } from './rows.tsx'

export function CredentialsPage() {
  const t = useT()
  const { filter, isFiltered, clear } = useFilter()
  const list = useInfiniteQuery(credentialsQuery(filter))
  const summary = useQuery(summaryQuery)
  const rows = recordsOf(list)
  const count = isFiltered ? rows.length : Math.max(rows.length, summary.data?.total ?? 0)
  const more = isFiltered && list.hasNextPage ? '+' : ''
  return (
    <Page
      title={t('accounts.title')}
      lead={list.data && <span>{t.count('accounts.shown', count) + more}</span>}
      actions={
        <>
          <LiveBadge />
          <ButtonLink to="/dashboard/link" kind="first" icon="plus">
            {t('accounts.link')}
          </ButtonLink>
        </>
      }
    >
      <Filters summary={summary.data} />
      {list.isError && !list.data ? (
        <Failed cause={list.error} retry={() => list.refetch()} />
      ) : !list.data ? (
        <Loading lines={8} />
      ) : rows.length > 0 ? (
        <CredentialRows rows={rows} total={count} list={list} />
      ) : isFiltered ? (
        <Empty
          icon="search"
          title={t('accounts.none')}
          action={<Button onClick={clear}>{t('accounts.clear')}</Button>}
        >
          {t('accounts.noneText')}
        </Empty>
      ) : (
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
      )}
    </Page>
  )
}
