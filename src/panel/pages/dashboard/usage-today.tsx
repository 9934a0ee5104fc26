/** The last day in a few figures and a chart. */
import { useQuery } from '@tanstack/react-query'
import { usageQuery } from '../../api/usage.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Bars } from '../../ui/bars.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading } from '../../ui/states.tsx'

export function UsageToday() {
  const t = useT()
  const { compact, hour } = useFormats()
  const usage = useQuery(usageQuery({}))
  const { totals, series } = usage.data ?? {}
  return (
    <Card title={t('dashboard.usage')}>
      {usage.isError && !usage.data ? (
        <Failed cause={usage.error} retry={() => usage.refetch()} />
      ) : !totals || !series ? (
        <Loading />
      ) : (
        <>
          <dl className="figures">
            <Figure name={t('dashboard.botRequests')} value={compact(totals.bot_requests)} />
            <Figure
              name={t('dashboard.managementRequests')}
              value={compact(totals.management_requests)}
            />
            <Figure
              name={t('dashboard.errors')}
              value={compact(totals.errors)}
              tone={totals.errors > 0 ? 'bad' : undefined}
            />
            <Figure name={t('dashboard.received')} value={compact(totals.updates_received)} />
            <Figure name={t('dashboard.delivered')} value={compact(totals.updates_delivered)} />
          </dl>
          <Bars
            title={t('dashboard.requests')}
            bars={series.map((slot) => ({
              label: hour(slot.at),
              value: slot.requests,
              part: slot.errors,
            }))}
            part={{ name: t('dashboard.errors'), tone: 'bad' }}
          />
        </>
      )}
    </Card>
  )
}
