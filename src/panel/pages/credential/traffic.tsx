/** What came through the account in the last day, and what its bots have not taken yet. */
import { useQuery } from '@tanstack/react-query'
import { keysQuery } from '../../api/queries.ts'
import type { Credential } from '../../api/types.ts'
import { usageQuery } from '../../api/usage.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Bars } from '../../ui/bars.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

export function Traffic({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const { compact, hour } = useFormats()
  const { credential_id, health } = credential
  const usage = useQuery(usageQuery({ credential_id }))
  const keys = useQuery(keysQuery)
  const own = keys.data?.items.filter((key) => key.credential_id === credential_id) ?? []
  // Each bot reads by itself: the one that is furthest behind says how far that is.
  const backlog = Math.max(0, ...own.map((key) => key.pending_update_count))
  return (
    <Card title={t('account.traffic')}>
      {usage.isError && !usage.data ? (
        <Failed cause={usage.error} retry={() => usage.refetch()} />
      ) : !usage.data ? (
        <Loading />
      ) : (
        <>
          <dl className="figures">
            <Figure
              name={t('dashboard.received')}
              value={compact(usage.data.totals.updates_received)}
            />
            <Figure
              name={t('account.backlog')}
              value={compact(backlog)}
              tone={backlog > 1_000 ? 'warn' : undefined}
            />
            <Figure
              name={t('account.health.event')}
              value={health.last_event_at ? <Ago at={health.last_event_at} /> : t('never')}
            />
          </dl>
          <Bars
            title={t('dashboard.received')}
            bars={usage.data.series.map((slot) => ({
              label: hour(slot.at),
              value: slot.updates_received,
            }))}
          />
        </>
      )}
    </Card>
  )
}
