/** The usage of a key in a range of time: one figure at a time as a chart, methods and errors by their shares. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usageQuery } from '../../api/queries.ts'
import type { ApiKey, Usage, UsageReport } from '../../api/types.ts'
import type { MessageKey } from '../../i18n/en.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Bars } from '../../ui/bars.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { useInAddress } from '../../ui/use-in-address.ts'
import { RangeChoice, useRange } from '../explorer/range.tsx'

interface Measure {
  readonly name: MessageKey
  readonly isBad?: boolean
  readonly isBytes?: boolean
}

/** The figures that can be charted, in the order of the tiles. */
const measures = {
  requests: { name: 'dashboard.requests' },
  errors: { name: 'dashboard.errors', isBad: true },
  updates_delivered: { name: 'dashboard.delivered' },
  webhook_attempts: { name: 'usage.attempts' },
  webhook_failures: { name: 'usage.failures', isBad: true },
  bytes_in: { name: 'usage.in', isBytes: true },
  bytes_out: { name: 'usage.out', isBytes: true },
} as const satisfies Partial<Record<keyof Usage, Measure>>

type MeasureName = keyof typeof measures

const isMeasure = (text: string): text is MeasureName => Object.hasOwn(measures, text)

export function KeyUsage({ apiKey: { api_key_id } }: { readonly apiKey: ApiKey }) {
  const chosen = useRange()
  const now = useQuery(usageQuery({ api_key_id, ...chosen.now }))
  const before = useQuery(usageQuery({ api_key_id, ...chosen.before }))
  return (
    <>
      <div className="row">
        <RangeChoice chosen={chosen} />
      </div>
      {now.isError && !now.data ? (
        <Failed cause={now.error} retry={() => now.refetch()} />
      ) : now.data ? (
        <Report now={now.data} before={before.data} />
      ) : (
        <Loading lines={6} />
      )}
    </>
  )
}

interface ReportProps {
  readonly now: UsageReport
  readonly before: UsageReport | undefined
}

function Report({ now, before }: ReportProps) {
  const t = useT()
  const { number, compact, bytes } = useFormats()
  const [given, setMeasure] = useInAddress('figure')
  const [compares, setCompares] = useState(false)
  const earlier = compares ? before?.series : undefined
  const measure = isMeasure(given) ? given : 'requests'
  const { name, isBytes }: Measure = measures[measure]
  return (
    <>
      <section className="card" aria-label={t('usage.figures')}>
        <ul className="tiles measures">
          {Object.keys(measures)
            .filter(isMeasure)
            .map((one) => (
              <li key={one}>
                <Tile
                  measure={one}
                  now={now.totals[one]}
                  before={before?.totals[one]}
                  isChosen={one === measure}
                  choose={() => setMeasure(one === 'requests' ? '' : one)}
                />
              </li>
            ))}
        </ul>
        <Bars
          title={t(name)}
          isTall
          step={now.step}
          format={isBytes ? bytes : now.totals[measure] < 10_000 ? number : compact}
          bars={now.series.map((slot, place) => ({
            at: slot.at,
            value: slot[measure],
            ...(measure === 'requests' && { part: slot.errors }),
            ...(earlier && { before: earlier[place]?.[measure] ?? 0 }),
          }))}
          {...(measure === 'requests' && {
            part: { name: t('dashboard.errors'), tone: 'bad' as const },
          })}
          {...(earlier && { before: t('usage.before') })}
        />
        <Toggle label={t('usage.compare')} on={compares} onChange={setCompares} />
      </section>
      <div className="columns">
        <Shares title={t('usage.methods')} counts={now.totals.requests_by_method} />
        <Shares title={t('usage.codes')} counts={now.totals.errors_by_code} isBad />
      </div>
    </>
  )
}

interface TileProps {
  readonly measure: MeasureName
  readonly now: number
  readonly before: number | undefined
  readonly isChosen: boolean
  choose(): void
}

/** One figure, and how it has changed; pressed, it is the one in the chart. */
function Tile({ measure, now, before = 0, isChosen, choose }: TileProps) {
  const t = useT()
  const { number, compact, bytes, change } = useFormats()
  const { name, isBad, isBytes }: Measure = measures[measure]
  const shown = isBytes ? bytes(now) : now < 10_000 ? number(now) : compact(now)
  return (
    <button
      type="button"
      className={`tile${isBad && now > 0 ? ' tone-bad' : ''}${isBytes ? ' long' : ''}`}
      aria-pressed={isChosen}
      onClick={choose}
    >
      <span className="quiet small">{t(name)}</span>
      <strong>{shown}</strong>
      {before > 0 && (
        <span className="quiet tiny">
          <span className="ltr" aria-hidden="true">
            {change(now, before)}
          </span>
          <span className="unseen">{t('usage.change', { change: change(now, before) })}</span>
        </span>
      )}
    </button>
  )
}

interface SharesProps {
  readonly title: string
  readonly counts: Readonly<Record<string, number>>
  readonly isBad?: boolean
}

/** Counts from the largest on, each with a bar as long as its share of the largest one. */
function Shares({ title, counts, isBad = false }: SharesProps) {
  const t = useT()
  const { number, share } = useFormats()
  const entries = Object.entries(counts).sort(([, a], [, b]) => b - a)
  const most = entries[0]?.[1] ?? 0
  const sum = entries.reduce((total, [, count]) => total + count, 0)
  return (
    <Card title={title}>
      {entries.length === 0 ? (
        <p className="quiet">{t('none')}</p>
      ) : (
        <ul className={isBad ? 'shares tone-bad' : 'shares'}>
          {entries.map(([name, count]) => (
            <li key={name}>
              <span className="mono small clip ltr">{name}</span>
              <span className="number small">{number(count)}</span>
              <span className="number small quiet">
                <span aria-hidden="true">{share(count, sum)}</span>
                <span className="unseen">{t('usage.share', { share: share(count, sum) })}</span>
              </span>
              <span className="share" style={{ inlineSize: `${(100 * count) / most}%` }} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
