/** The statechart of the account beside its timeline; the transition chosen in the timeline is marked in the chart. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { chartQuery, timelineQuery } from '../../api/queries.ts'
import type { Credential, LiveTransition, Transition } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { toneOf } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { recordsOf } from '../../ui/records.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { MachineChart } from '../history/chart.tsx'
import { isMove, stateName } from '../history/names.ts'
import { StateStrip } from '../history/strip.tsx'
import { Timeline } from '../history/timeline.tsx'

interface MachineProps {
  readonly credential: Credential
  readonly latest: LiveTransition | undefined
  readonly isLive: boolean
}

/** The newest record, by the time of its latest repeat. */
const newestOf = (entries: readonly Transition[]) =>
  entries
    .filter((entry) => !isMove(entry))
    .reduce<Transition | undefined>(
      (newest, one) => (newest && newest.last_at >= one.last_at ? newest : one),
      undefined,
    )

/** Whether the chart is shown is remembered in this browser; at first it is not. */
const REMEMBERED = 'chapar.chart'

/** The entry that is shown on the chart, which appears for it. */
function useChosen() {
  const [chosen, setChosen] = useState<Transition>()
  const [isShown, setShown] = useState(() => localStorage.getItem(REMEMBERED) === 'shown')
  const show = (shown: boolean) => {
    localStorage.setItem(REMEMBERED, shown ? 'shown' : 'hidden')
    setShown(shown)
  }
  const choose = (entry: Transition | undefined) => {
    setChosen(entry)
    if (entry) show(true)
  }
  return { chosen, choose, isShown, show }
}

/** The states of a connection that is made without trouble. */
const WAY = ['resuming', 'queued', 'live.starting', 'live.online']

export function MachineAndTimeline({ credential, latest, isLive }: MachineProps) {
  const t = useT()
  const timeline = useInfiniteQuery(timelineQuery(credential.credential_id))
  const { chosen, choose, isShown, show } = useChosen()
  const newest = newestOf(recordsOf(timeline))
  // The stream may have missed transitions during a break: then the timeline, read again, is newer.
  const current = latest && latest.at >= (newest?.last_at ?? '') ? latest.to : newest?.to
  return (
    <div className="columns main">
      <Card
        title={t('account.machine')}
        aside={
          <span className="row">
            <span className={`badge dot ${isLive ? 'tone-good live' : 'tone-idle'}`} role="status">
              {t(isLive ? 'live.on' : 'live.off')}
            </span>
            <Button size="slim" aria-expanded={isShown} onClick={() => show(!isShown)}>
              {t(isShown ? 'account.machine.hide' : 'account.machine.show')}
            </Button>
          </span>
        }
      >
        <p className="quiet small">
          {t('account.machine.now', {
            state: current ? stateName(t, current) : t('unknown'),
          })}
        </p>
        {isShown && (
          <AccountChart credential={credential} current={current} latest={latest} chosen={chosen} />
        )}
      </Card>
      <TimelinePlace>
        <Card title={t('account.timeline')}>
          <StateStrip credentialId={credential.credential_id} newest={newest?.last_at} />
          <Timeline log={timeline} chosen={chosen} choose={choose} />
        </Card>
      </TimelinePlace>
    </div>
  )
}

/** Links to `#timeline` lead here. */
function TimelinePlace({ children }: { readonly children: ReactNode }) {
  const { hash } = useLocation()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (hash === '#timeline') place.current?.scrollIntoView()
  }, [hash])
  return (
    <div ref={place} id="timeline">
      {children}
    </div>
  )
}

interface AccountChartProps {
  readonly credential: Credential
  readonly current: string | undefined
  readonly latest: LiveTransition | undefined
  readonly chosen: Transition | undefined
}

function AccountChart({ credential, current, latest, chosen }: AccountChartProps) {
  const t = useT()
  const chart = useQuery(chartQuery('credential'))
  if (chart.isError) return <Failed cause={chart.error} retry={() => chart.refetch()} />
  if (!chart.data) return <Loading lines={6} />
  return (
    <>
      <p className="quiet small">{t('account.machine.lead')}</p>
      <MachineChart
        hidesInsides
        chart={chart.data}
        current={current}
        tone={toneOf(credential.state)}
        latest={latest && { ...latest, id: latest.at }}
        chosen={chosen}
        names="inner"
        way={WAY}
        label={t('account.machine.now', {
          state: current ? stateName(t, current) : t('unknown'),
        })}
      />
    </>
  )
}
