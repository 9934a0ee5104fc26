/** The accounts that do not come back by themselves, with what to do. */
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { handleOf, nameOf } from '../../api/names.ts'
import { urgentQuery } from '../../api/queries.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'

export function Attention({ needing }: { readonly needing: number }) {
  const t = useT()
  const { number } = useFormats()
  const urgent = useQuery(urgentQuery)
  const items = urgent.data?.items ?? []
  return (
    <Card
      title={t('dashboard.attention')}
      aside={needing > 0 && <Badge tone="bad">{number(needing)}</Badge>}
    >
      {urgent.isError && !urgent.data ? (
        <Failed cause={urgent.error} retry={() => urgent.refetch()} />
      ) : !urgent.data ? (
        <Loading />
      ) : items.length === 0 ? (
        <Empty icon="check" title={t('dashboard.attention.none')}>
          {t('dashboard.attention.noneText')}
        </Empty>
      ) : (
        <ul className="records">
          {items.map((one) => (
            <li key={one.credential_id}>
              <Link to={`/dashboard/accounts/${one.credential_id}`} className="record">
                <span className="grow">
                  <span className="label clip" dir="auto">
                    {nameOf(one)}
                  </span>{' '}
                  <span className="quiet small ltr">{handleOf(one)}</span>
                  <span className="quiet small block">
                    {one.reason && `${t.word('reason', one.reason)}. `}
                    {t.word('action', one.action)}
                  </span>
                </span>
                <StateBadge state={one.state} />
              </Link>
            </li>
          ))}
        </ul>
      )}
      {needing > items.length && (
        <Link to="/dashboard/accounts?action=needed" className="small">
          {t('dashboard.attention.all')}
        </Link>
      )}
    </Card>
  )
}
