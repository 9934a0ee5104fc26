/** The statechart of the account and its timeline beside it; what is chosen there is shown here. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { chartQuery, timelineQuery } from '../../api/queries.ts'
import type { Credential, LiveTransition, Transition } from '../../api/types.ts'
import { Statechart } from '../../chart/statechart.tsx'
import { withoutInsides } from '../../chart/visible.ts'
import { ChartWords } from '../../chart/words.tsx'
import { useT } from '../../i18n/language.tsx'
import { toneOf } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { recordsOf } from '../../ui/records.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { Timeline } from './timeline.tsx'

interface MachineProps {
  readonly credential: Credential
  readonly latest: LiveTransition | undefined
  readonly isLive: boolean
}

/** What repeats is counted where it was told first: the newest line is not always the first one. */
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
  // While nothing was heard the machine went on: then the timeline, read anew, knows more.
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
