/** The usage of a key by hour or by day. */
import { useQuery } from '@tanstack/react-query'
import { usageQuery } from '../../api/queries.ts'
import type { ApiKey, Usage } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { type Bar, Bars } from '../../ui/bars.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Choice } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { useInAddress } from '../../ui/use-in-address.ts'

type BarsOf = (value: (slot: Usage) => number, part?: (slot: Usage) => number) => Bar[]

interface SeriesProps {
  readonly totals: Usage
  readonly barsOf: BarsOf
}

export function KeyUsage({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const { hour, day } = useFormats()
  const [by, setBy] = useInAddress('by')
  const step = by === 'day' ? 'day' : 'hour'
  const usage = useQuery(usageQuery({ api_key_id: apiKey.api_key_id, step }))
  const { totals, series } = usage.data ?? {}
  if (usage.isError && !usage.data) {
    return <Failed cause={usage.error} retry={() => usage.refetch()} />
  }
  if (!totals || !series) return <Loading lines={6} />
  const barsOf: BarsOf = (value, part) =>
    series.map((slot) => ({
      label: step === 'hour' ? hour(slot.at) : day(slot.at),
      value: value(slot),
      ...(part && { part: part(slot) }),
    }))
  return (
    <>
      <Choice
        label={t('usage.step')}
        value={step}
        options={[
          ['hour', t('usage.hours')],
          ['day', t('usage.days')],
        ]}
        onChange={(next) => setBy(next === 'day' ? next : '')}
      />
      <div className="columns">
        <Requests totals={totals} barsOf={barsOf} />
        <Delivered totals={totals} barsOf={barsOf} />
        <Counted title={t('usage.methods')} counts={totals.requests_by_method} />
        <Counted title={t('usage.codes')} counts={totals.errors_by_code} />
      </div>
    </>
  )
}

function Requests({ totals, barsOf }: SeriesProps) {
  const t = useT()
  const { number, bytes } = useFormats()
  return (
    <Card title={t('dashboard.requests')}>
      <dl className="figures">
        <Figure name={t('dashboard.requests')} value={number(totals.requests)} />
        <Figure
          name={t('dashboard.errors')}
          value={number(totals.errors)}
          tone={totals.errors > 0 ? 'bad' : undefined}
        />
        <Figure
          name={t('usage.bytes')}
          value={`${bytes(totals.bytes_in)} / ${bytes(totals.bytes_out)}`}
        />
      </dl>
      <Bars
        title={t('dashboard.requests')}
        bars={barsOf(
          (slot) => slot.requests,
          (slot) => slot.errors,
        )}
        part={{ name: t('dashboard.errors'), tone: 'bad' }}
      />
    </Card>
  )
}

function Delivered({ totals, barsOf }: SeriesProps) {
  const t = useT()
  const { number } = useFormats()
  return (
    <Card title={t('dashboard.delivered')}>
      <dl className="figures">
        <Figure name={t('dashboard.delivered')} value={number(totals.updates_delivered)} />
        <Figure name={t('usage.attempts')} value={number(totals.webhook_attempts)} />
        <Figure
          name={t('usage.failures')}
          value={number(totals.webhook_failures)}
          tone={totals.webhook_failures > 0 ? 'bad' : undefined}
        />
      </dl>
      <Bars title={t('dashboard.delivered')} bars={barsOf((slot) => slot.updates_delivered)} />
    </Card>
  )
}

function Counted({
  title,
  counts,
}: {
  readonly title: string
  readonly counts: Readonly<Record<string, number>>
}) {
  const t = useT()
  const { number } = useFormats()
  const entries = Object.entries(counts).sort(([, a], [, b]) => b - a)
  return (
    <Card title={title}>
      {entries.length === 0 ? (
        <p className="quiet">{t('none')}</p>
      ) : (
        <dl className="facts">
          {entries.map(([name, count]) => (
            <div key={name} className="pair">
              <dt className="mono">{name}</dt>
              <dd className="number">{number(count)}</dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  )
}
