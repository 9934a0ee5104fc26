/** The timeline of an account: what happened to it, in episodes, or all of one kind. */
import { type ReactNode, useState } from 'react'
import type { Transition } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Choice } from '../../ui/form.tsx'
import { Records, type RecordsProps } from '../../ui/records.tsx'
import { Empty } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { isMove, KINDS, kindOf, latestFirst, stateName, toneOfState } from './names.ts'

interface TimelineProps {
  readonly log: RecordsProps<Transition>['log']
  readonly chosen: Transition | undefined
  choose(entry: Transition | undefined): void
}

/** The timeline of the account, newest first, in episodes. */
export function Timeline({ log, chosen, choose }: TimelineProps) {
  const t = useT()
  const [filter, setFilter] = useState<string>('all')
  const kind = KINDS.find((one) => one === filter)
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
      <div className="row">
        <Choice
          label={t('account.timeline.filter')}
          hidesLabel
          value={filter}
          options={[
            ['all', t('account.timeline.all')],
            ['trouble', t('account.timeline.trouble')],
            ...KINDS.map((one) => [one, t(`account.timeline.kind.${one}`)] as const),
          ]}
          onChange={setFilter}
        />
      </div>
      <Records
        log={log}
        look="timeline"
        none={<Empty icon="pulse" title={t('account.timeline.none')} />}
        record={entry}
        arrange={(items, record) => {
          if (kind !== undefined) {
            const ofKind = latestFirst(items).filter((one) => kindOf(one) === kind)
            if (ofKind.length > 0) return ofKind.map(record)
            return <li className="quiet small plain">{t('account.timeline.noneSuch')}</li>
          }
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
    <li className={`episode tone-${toneOfState(newest.to)}`}>
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

/** The reason of the last loss is kept while it is tried again, but does not speak of these states. */
const isWayBack = (state: string) => /^(resuming|queued|live\.(starting|online))/.test(state)

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
    <li className={`tone-${toneOfState(to)}`}>
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
        <span className="small phrase">
          {places ? (
            t(event === 'owner.lost' ? 'account.timeline.lost' : 'account.timeline.gained', places)
          ) : (
            <>
              {t.word('event', event)} <span className="quiet tiny mono">{event}</span>
            </>
          )}
          {reason && !isWayBack(to) && <span className="quiet"> · {t.word('reason', reason)}</span>}
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
