/** The updates of the account in the last day, those that its bots have not taken yet, and the age of these. */
import { useQuery } from '@tanstack/react-query'
import { backlogQuery, keysQuery, usageQuery } from '../../api/queries.ts'
import type { ApiKey, Credential, Usage } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Bars } from '../../ui/bars.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

export function Traffic({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const { compact } = useFormats()
  const { credential_id, health } = credential
  const usage = useQuery(usageQuery({ credential_id }))
  const keys = useQuery(keysQuery)
  const last = furthestBehind(keys.data?.items ?? [], credential_id)
  const backlog = useQuery({ ...backlogQuery(last?.api_key_id ?? 0), enabled: last !== undefined })
  const waiting = backlog.data?.pending_update_count ?? last?.pending_update_count ?? 0
  const oldest = backlog.data?.oldest_at
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
              name={t('account.health.event')}
              value={health.last_event_at ? <Ago at={health.last_event_at} /> : t('never')}
            />
            <Figure
              name={t('account.backlog')}
              value={compact(waiting)}
              tone={waiting > 1_000 ? 'warn' : undefined}
            />
            {oldest && <Figure name={t('account.oldest')} value={<Ago at={oldest} />} />}
          </dl>
          <Arrivals slots={usage.data.series} waiting={backlog.data?.series ?? []} />
        </>
      )}
    </Card>
  )
}

/** Each bot has its own cursor: the one furthest behind is shown. */
const furthestBehind = (keys: readonly ApiKey[], credentialId: number): ApiKey | undefined =>
  keys
    .filter(({ credential_id, revoked_at }) => credential_id === credentialId && !revoked_at)
    .sort((a, b) => b.pending_update_count - a.pending_update_count)[0]

interface ArrivalsProps {
  readonly slots: readonly (Usage & { readonly at: string })[]
  readonly waiting: readonly { readonly at: string; readonly updates: number }[]
}

/** The age of waiting updates, by the hour in which they came. */
function Arrivals({ slots, waiting }: ArrivalsProps) {
  const t = useT()
  const waits = new Map(waiting.map(({ at, updates }) => [Date.parse(at), updates]))
  const bars = slots.map(({ at, updates_received }) => {
    const part = waits.get(Date.parse(at)) ?? 0
    // Figures are counted a moment later than updates are stored.
    return { at, value: Math.max(updates_received, part), part }
  })
  return (
    <Bars
      title={t('dashboard.received')}
      bars={bars}
      part={{ name: t('account.stillWaiting'), tone: 'warn' }}
    />
  )
}
