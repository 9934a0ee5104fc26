/** The updates of the account in a range of time, those that its bots have not taken yet, and the age of these. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { backlogQuery, keysOfQuery, usageQuery } from '../../api/queries.ts'
import type { ApiKey, Credential, UsageReport } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Bars } from '../../ui/bars.tsx'
import { Figure, Toggle } from '../../ui/figure.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { RangeChoice, useRange } from '../explorer/range.tsx'

export function Traffic({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const { compact } = useFormats()
  const { credential_id, health } = credential
  const chosen = useRange()
  const [compares, setCompares] = useState(false)
  const usage = useQuery(usageQuery({ credential_id, ...chosen.now }))
  const before = useQuery({
    ...usageQuery({ credential_id, ...chosen.before }),
    enabled: compares,
  })
  const keys = useQuery(keysOfQuery(credential_id))
  const last = furthestBehind(keys.data?.items ?? [])
  const backlog = useQuery({ ...backlogQuery(last?.api_key_id ?? 0), enabled: last !== undefined })
  const waiting = backlog.data?.pending_update_count ?? last?.pending_update_count ?? 0
  const oldest = backlog.data?.oldest_at
  return (
    <Card title={t('account.traffic')} aside={<RangeChoice chosen={chosen} hidesLabel />}>
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
          <Arrivals
            report={usage.data}
            waiting={backlog.data?.series ?? []}
            before={compares ? before.data?.series : undefined}
          />
          <Toggle label={t('usage.compare')} on={compares} onChange={setCompares} />
        </>
      )}
    </Card>
  )
}

/** Each bot has its own cursor: the one furthest behind is shown. */
const furthestBehind = (keys: readonly ApiKey[]): ApiKey | undefined =>
  keys.toSorted((a, b) => b.pending_update_count - a.pending_update_count)[0]

interface ArrivalsProps {
  readonly report: UsageReport
  readonly waiting: readonly { readonly at: string; readonly updates: number }[]
  /** The time before, if it is compared with. */
  readonly before: UsageReport['series'] | undefined
}

/** The age of waiting updates, by the hour or day in which they came. */
function Arrivals({ report: { series, step }, waiting, before }: ArrivalsProps) {
  const t = useT()
  const waits = new Map<number, number>()
  for (const { at, updates } of waiting) {
    const slot = startOf(at, step)
    waits.set(slot, (waits.get(slot) ?? 0) + updates)
  }
  const bars = series.map(({ at, updates_received }, place) => {
    const part = waits.get(Date.parse(at)) ?? 0
    // Figures are counted a moment later than updates are stored.
    const value = Math.max(updates_received, part)
    return { at, value, part, ...(before && { before: before[place]?.updates_received ?? 0 }) }
  })
  return (
    <Bars
      title={t('dashboard.received')}
      step={step}
      bars={bars}
      part={{ name: t('account.stillWaiting'), tone: 'warn' }}
      {...(before && { before: t('usage.before') })}
    />
  )
}

const slotMs = { hour: 3_600_000, day: 86_400_000 }

/** The start of the hour or day (in UTC) in milliseconds since 1970. */
const startOf = (at: string, step: UsageReport['step']) =>
  Math.floor(Date.parse(at) / slotMs[step]) * slotMs[step]
