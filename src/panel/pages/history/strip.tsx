/** The states of an account over a day or a week as one coloured strip, with the share of each. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { RecordPage, Transition } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Choice } from '../../ui/form.tsx'
import { isMove, stateName, toneOfState } from './names.ts'

const HOUR_MS = 3_600_000
const ranges = { '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS } as const
type Range = keyof typeof ranges

/** Pages that are read for a strip, at most: what lies before them is shown as not known. */
const MOST_PAGES = 4
const PAGE = 250

async function transitionsSince(id: number, since: number, signal: AbortSignal) {
  const items: Transition[] = []
  let before: string | null | undefined
  let isWhole = false
  for (let page = 0; page < MOST_PAGES; page++) {
    const found: RecordPage<Transition> = await call(
      'GET',
      `/platforms/credentials/${id}/transitions`,
      { query: { limit: PAGE, before: before ?? undefined }, signal },
    )
    items.push(...found.items)
    before = found.next_before
    const oldest = found.items.at(-1)
    isWhole = before === null
    if (isWhole || (oldest && Date.parse(oldest.at) < since)) break
  }
  return { items, isWhole }
}

interface Span {
  readonly from: number
  readonly to: number
  /** Undefined where it is not known. */
  readonly state: string | undefined
}

/** The spans of one state each, the oldest first, which fill the time from `since` until `now`. */
function spansOf(entries: readonly Transition[], since: number, now: number): readonly Span[] {
  // Of a repeated transition the first and the latest time are known.
  const changes = entries
    .filter((entry) => !isMove(entry))
    .flatMap(({ at, last_at, to }) => [
      { at: Date.parse(at), to },
      ...(last_at === at ? [] : [{ at: Date.parse(last_at), to }]),
    ])
    .toSorted((a, b) => a.at - b.at)
  const spans: Span[] = []
  const add = (from: number, to: number, state: string | undefined) => {
    const [start, end] = [Math.max(from, since), Math.min(to, now)]
    if (end <= start) return
    const last = spans.at(-1)
    if (last && last.state === state) spans[spans.length - 1] = { ...last, to: end }
    else spans.push({ from: start, to: end, state })
  }
  add(since, changes[0]?.at ?? now, undefined)
  for (const [place, { at, to }] of changes.entries()) {
    add(at, changes[place + 1]?.at ?? now, to)
  }
  return spans
}

interface StateStripProps {
  readonly credentialId: number
  /** The time of the newest transition: a later one is read at once. */
  readonly newest: string | undefined
}

export function StateStrip({ credentialId, newest }: StateStripProps) {
  const t = useT()
  const { share } = useFormats()
  const { named, spanWords } = useSpanWords()
  const [range, setRange] = useState<Range>('24h')
  const { data } = useQuery({
    queryKey: ['timeline', credentialId, 'strip', range, newest],
    queryFn: async ({ signal }) => {
      const now = Date.now()
      const since = now - ranges[range]
      const { items, isWhole } = await transitionsSince(credentialId, since, signal)
      // A younger account fills the strip with the time that it has been there.
      const first = isWhole ? Math.min(...items.map(({ at }) => Date.parse(at))) : since
      return spansOf(items, Math.min(Math.max(first, since), now), now)
    },
    placeholderData: (before) => before,
    refetchInterval: 60_000,
  })
  const lasted = new Map<string, number>()
  const whole = (data?.at(-1)?.to ?? 0) - (data?.[0]?.from ?? 0)
  for (const { from, to, state } of data ?? []) {
    lasted.set(named(state), (lasted.get(named(state)) ?? 0) + to - from)
  }
  const shares = [...lasted]
    .toSorted(([, one], [, other]) => other - one)
    .map(([state, time]) => t('history.share', { state, share: share(time, whole) }))
  const label = t('history.strip', { range: t(`history.range.${range}`) })
  return (
    <section className="stack tight" aria-label={label}>
      <div className="row">
        <Choice
          label={t('history.range')}
          hidesLabel
          value={range}
          options={[
            ['24h', t('history.range.24h')],
            ['7d', t('history.range.7d')],
          ]}
          onChange={(next) => setRange(next === '7d' ? '7d' : '24h')}
        />
      </div>
      <div className="strip" role="img" aria-label={`${label}: ${shares.join(', ')}`}>
        {data?.map(({ from, to, state }) => (
          <span
            key={from}
            className={`tone-${state === undefined ? 'idle' : toneOfState(state)}`}
            style={{ flexGrow: to - from }}
            title={spanWords({ from, to, state })}
          />
        ))}
      </div>
      <p className="quiet tiny">{shares.slice(0, 4).join(' · ')}</p>
      {data && data.length > 0 && <Spans spans={data} />}
    </section>
  )
}

/** The same in words, the newest first. */
function Spans({ spans }: { readonly spans: readonly Span[] }) {
  const t = useT()
  const { spanWords } = useSpanWords()
  return (
    <details className="tiny">
      <summary className="quiet">{t('history.list')}</summary>
      {/* A scrolling area must be reachable by keyboard. */}
      <section className="spans" tabIndex={0} aria-label={t('history.list')}>
        <ul>
          {spans.toReversed().map((span) => (
            <li key={span.from}>{spanWords(span)}</li>
          ))}
        </ul>
      </section>
    </details>
  )
}

/** The words of a span, which a picture has only for the pointer of a mouse. */
function useSpanWords() {
  const t = useT()
  const { moment } = useFormats()
  const named = (state: string | undefined) =>
    state === undefined ? t('history.unknown') : stateName(t, state)
  const spanWords = ({ from, to, state }: Span) =>
    t('history.from', { from: moment(from), to: moment(to), state: named(state) })
  return { named, spanWords }
}
