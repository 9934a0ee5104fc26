/** The statechart of the account beside its timeline; the transition chosen in the timeline is marked in the chart. */

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { chartQuery, timelineQuery } from '../../api/queries.ts'
import type { Credential, LiveTransition, Transition } from '../../api/types.ts'
import { ChartWords, Statechart } from '../../chart/statechart.tsx'
import { withoutInsides } from '../../chart/visible.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { toneOf } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { Records, type RecordsProps, recordsOf } from '../../ui/records.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

interface TimelineProps {
  readonly log: RecordsProps<Transition>['log']
  readonly chosen: Transition | undefined
  choose(entry: Transition | undefined): void
}

/** The timeline of the account, newest first. */
function Timeline({ log, chosen, choose }: TimelineProps) {
  const t = useT()
  return (
    <Records
      log={log}
      look="timeline"
      arrange={latestFirst}
      none={<Empty icon="pulse" title={t('account.timeline.none')} />}
      record={(entry) => (
        <Entry
          key={`${entry.at} ${entry.from} ${entry.to}`}
          entry={entry}
          isChosen={chosen?.at === entry.at && chosen.to === entry.to}
          choose={choose}
        />
      )}
    />
  )
}

/** By the time of the latest repeat: a repeated transition is one record, which the service orders by its first time. */
const latestFirst = (entries: readonly Transition[]) =>
  entries.toSorted((a, b) => b.last_at.localeCompare(a.last_at))

/** The colours of the machine's inner states: those of their public meanings. */
const tones: readonly (readonly [state: RegExp, tone: string])[] = [
  [/^live\.online/, 'good'],
  [/^(crashed|live\.(deaf|limited))/, 'warn'],
  [/^(signedOut|invalid|failed|replaced)/, 'bad'],
  [/^(queued|waiting|stalled|resuming|live\.starting)/, 'busy'],
]

const machineTone = (state: string) => tones.find(([form]) => form.test(state))?.[1] ?? 'idle'

interface EntryProps {
  readonly entry: Transition
  readonly isChosen: boolean
  choose(entry: Transition | undefined): void
}

function Entry({ entry, isChosen, choose }: EntryProps) {
  const t = useT()
  const { span } = useFormats()
  const { at, from, to, event, reason, node, duration_ms, count, last_at } = entry
  return (
    <li className={`tone-${machineTone(to)}`}>
      <button
        type="button"
        aria-pressed={isChosen}
        title={t('account.timeline.show')}
        onClick={() => choose(isChosen ? undefined : entry)}
      >
        <span className="row spread">
          <span className="label mono">{to}</span>
          <span className="quiet tiny">
            <Ago at={last_at} />
          </span>
        </span>
        <span className="small">
          <span className="mono">{event}</span>
          {reason && <span className="quiet"> · {t.word('reason', reason)}</span>}
        </span>
        {count > 1 && (
          <span className="tiny repeated">
            {t.count('account.timeline.times', count)} <Ago at={at} />
          </span>
        )}
        <span className="quiet tiny">
          {t('account.timeline.lasted', { span: span(duration_ms), state: `\u2068${from}\u2069` })}{' '}
          · {t('account.timeline.node', { node: `\u2068${node}\u2069` })}
        </span>
      </button>
    </li>
  )
}

interface MachineProps {
  readonly credential: Credential
  readonly latest: LiveTransition | undefined
  readonly isLive: boolean
}

/** The newest record, by the time of its latest repeat. */
const newestOf = (entries: readonly Transition[]) =>
  entries.reduce<Transition | undefined>(
    (newest, one) => (newest && newest.last_at >= one.last_at ? newest : one),
    undefined,
  )

export function MachineAndTimeline({ credential, latest, isLive }: MachineProps) {
  const t = useT()
  const whole = useQuery(chartQuery('credential'))
  const chart = useMemo(() => whole.data && withoutInsides(whole.data), [whole.data])
  const timeline = useInfiniteQuery(timelineQuery(credential.credential_id))
  const [chosen, setChosen] = useState<Transition>()
  const newest = newestOf(recordsOf(timeline))
  // The stream may have missed transitions during a break: then the timeline, read again, is newer.
  const current = latest && latest.at >= (newest?.last_at ?? '') ? latest.to : newest?.to
  return (
    <div className="columns main">
      <Card
        title={t('account.machine')}
        aside={
          <span className={`badge dot ${isLive ? 'tone-good live' : 'tone-idle'}`} role="status">
            {t(isLive ? 'live.on' : 'live.off')}
          </span>
        }
      >
        <p className="quiet small">{t('account.machine.lead')}</p>
        {whole.isError ? (
          <Failed cause={whole.error} retry={() => whole.refetch()} />
        ) : !chart ? (
          <Loading lines={6} />
        ) : (
          <>
            <Statechart
              chart={chart}
              current={current}
              tone={toneOf(credential.state)}
              latest={latest && { ...latest, id: latest.at }}
              chosen={chosen}
              label={t('account.machine.now', { state: current ?? t('unknown') })}
            />
            <ChartWords chart={chart} />
          </>
        )}
      </Card>
      <Card title={t('account.timeline')}>
        <Timeline log={timeline} chosen={chosen} choose={setChosen} />
      </Card>
    </div>
  )
}
