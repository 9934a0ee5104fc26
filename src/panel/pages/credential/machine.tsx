/** The statechart of the account beside its timeline; the transition chosen in the timeline is marked in the chart. */

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { chartQuery, timelineQuery } from '../../api/queries.ts'
import type { Credential, LiveTransition, Transition } from '../../api/types.ts'
import { ChartWords, Statechart } from '../../chart/statechart.tsx'
import { withoutInsides } from '../../chart/visible.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { toneOf } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Records, type RecordsProps, recordsOf } from '../../ui/records.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

interface TimelineProps {
  readonly log: RecordsProps<Transition>['log']
  readonly chosen: Transition | undefined
  choose(entry: Transition | undefined): void
}

/** The timeline of the account, newest first, in episodes. */
function Timeline({ log, chosen, choose }: TimelineProps) {
  const t = useT()
  const [filter, setFilter] = useState('all')
  const entry = (one: Transition) => (
    <Entry
      key={keyOf(one)}
      entry={one}
      isChosen={chosen !== undefined && keyOf(chosen) === keyOf(one)}
      choose={choose}
    />
  )
  return (
    <>
      <Choice
        label={t('account.timeline.filter')}
        hidesLabel
        value={filter}
        options={[
          ['all', t('account.timeline.all')],
          ['trouble', t('account.timeline.trouble')],
        ]}
        onChange={setFilter}
      />
      <Records
        log={log}
        look="timeline"
        none={<Empty icon="pulse" title={t('account.timeline.none')} />}
        record={entry}
        arrange={(items, record) => {
          const shown = episodesOf(items).filter((one) => filter === 'all' || isTrouble(one))
          return shown.length > 0 ? (
            shown.map((one, place) => (
              <EpisodeRecord key={keyOf(one.at(-1)!)} episode={one} isNewest={place === 0}>
                {one.map(record)}
              </EpisodeRecord>
            ))
          ) : (
            <li className="quiet small plain">{t('account.timeline.noTrouble')}</li>
          )
        }}
      />
    </>
  )
}

const keyOf = ({ at, from, to, event }: Transition) => `${at} ${from} ${to} ${event}`

/** It changed its node, and no state with that. */
const isMove = ({ other_node }: Transition) => other_node !== undefined

/** By the time of the latest repeat: a repeated transition is one record, which the service orders by its first time. */
const latestFirst = (entries: readonly Transition[]) =>
  entries.toSorted((a, b) => b.last_at.localeCompare(a.last_at))

/** States that an account leaves only by an event from outside. */
const isResting = (entry: Transition) =>
  !isMove(entry) && /^(live\.online|replaced|signedOut|invalid|failed|deactivated)/.test(entry.to)

/** The transitions up to one state of rest, newest first. Only the newest episode may not have reached one. */
type Episode = readonly Transition[]

function episodesOf(entries: readonly Transition[]): readonly Episode[] {
  const episodes: Transition[][] = []
  for (const entry of latestFirst(entries)) {
    const last = episodes.at(-1)
    if (last && !isResting(entry)) last.push(entry)
    else episodes.push([entry])
  }
  return episodes
}

const isTrouble = (episode: Episode) =>
  episode.some(
    ({ reason, to }) => reason !== null || /^(waiting|stalled|crashed|live\.deaf)/.test(to),
  )

/** How often the connection was lost or not made. */
const losses = (episode: Episode) =>
  episode.filter(({ to }) => to === 'waiting').reduce((sum, { count }) => sum + count, 0)

interface EpisodeRecordProps {
  readonly episode: Episode
  readonly isNewest: boolean
  readonly children: ReactNode
}

/** An episode in one line, such as "Reconnecting × 3 · 7 s · the network cannot be reached", and its transitions below. */
function EpisodeRecord({ episode, isNewest, children }: EpisodeRecordProps) {
  const t = useT()
  const { span, number } = useFormats()
  const [newest] = episode
  if (!newest || episode.length === 1) return children
  const lost = losses(episode)
  const began = Math.min(...episode.map(({ at }) => Date.parse(at)))
  const reason = episode.find((one) => one.reason !== null)?.reason
  const isBack = newest.to.startsWith('live.online')
  const reconnecting = lost > 0 && t('account.timeline.reconnecting', { times: number(lost) })
  const trouble = episode.find(({ to }) => /^(stalled|crashed|live\.(deaf|limited))/.test(to))
  const end = isBack && trouble ? trouble : newest
  const title =
    isBack || !isResting(newest) ? reconnecting || stateName(t, end.to) : stateName(t, newest.to)
  return (
    <li className={`episode tone-${machineTone(newest.to)}`}>
      <details open={isNewest}>
        <summary className="small">
          <strong>{title}</strong>
          {reconnecting && title !== reconnecting && ` · ${reconnecting}`} ·{' '}
          {span(Date.parse(newest.last_at) - began)}
          {reason && ` · ${t.word('reason', reason)}`}
          {(lost > 0 || trouble) && isBack && ` · ${t('account.timeline.back')}`}
        </summary>
        <ol>{children}</ol>
      </details>
    </li>
  )
}

/** The name of an inner state for people: that of the nearest state around it which has one. */
function stateName(t: ReturnType<typeof useT>, path: string): string {
  const names = path.split('.')
  for (let length = names.length; length > 0; length--) {
    const code = names.slice(0, length).join('.')
    const known = t.word('inner', code)
    if (known !== code.replaceAll('_', ' ')) return known
  }
  return path
}

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
  const { span, moment } = useFormats()
  const { at, from, to, event, reason, node, duration_ms, count, last_at, other_node } = entry
  const places = other_node && { node: `\u2068${node}\u2069`, other: `\u2068${other_node}\u2069` }
  return (
    <li className={`tone-${machineTone(to)}`}>
      <button
        type="button"
        aria-pressed={isChosen}
        title={t('account.timeline.show')}
        onClick={() => choose(isChosen ? undefined : entry)}
      >
        <span className="row spread">
          <span>
            <span className="label">{places ? t.word('move', event) : stateName(t, to)}</span>{' '}
            {!places && <span className="quiet tiny mono code">{to}</span>}
          </span>
          <span className="quiet tiny">
            <Ago at={last_at} />
          </span>
        </span>
        <span className="small">
          {places ? (
            t(event === 'owner.lost' ? 'account.timeline.lost' : 'account.timeline.gained', places)
          ) : (
            <span className="mono">{event}</span>
          )}
          {reason && <span className="quiet"> · {t.word('reason', reason)}</span>}
        </span>
        {count > 1 && (
          <span className="tiny repeated">
            {t.count('account.timeline.times', count)} <Ago at={at} />
          </span>
        )}
        <span className="quiet tiny">
          {moment(last_at)} ·{' '}
          {!places &&
            `${t('account.timeline.lasted', {
              span: span(duration_ms),
              state: `\u2068${stateName(t, from)}\u2069`,
            })} · `}
          {t('account.timeline.node', { node: `\u2068${node}\u2069` })}
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
  entries
    .filter((entry) => !isMove(entry))
    .reduce<Transition | undefined>(
      (newest, one) => (newest && newest.last_at >= one.last_at ? newest : one),
      undefined,
    )

/** Whether the chart is shown is remembered in this browser. */
const REMEMBERED = 'chapar.chart'

/** The entry that is shown on the chart, which appears for it. */
function useChosen() {
  const [chosen, setChosen] = useState<Transition>()
  const [isShown, setShown] = useState(() => localStorage.getItem(REMEMBERED) !== 'hidden')
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

export function MachineAndTimeline({ credential, latest, isLive }: MachineProps) {
  const t = useT()
  const whole = useQuery(chartQuery('credential'))
  const chart = useMemo(() => whole.data && withoutInsides(whole.data), [whole.data])
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
        {!isShown ? null : whole.isError ? (
          <Failed cause={whole.error} retry={() => whole.refetch()} />
        ) : !chart ? (
          <Loading lines={6} />
        ) : (
          <>
            <p className="quiet small">{t('account.machine.lead')}</p>
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
        <Timeline log={timeline} chosen={chosen} choose={choose} />
      </Card>
    </div>
  )
}
