/** What has happened to the account, newest first. */
import type { Transition } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Records, type RecordsProps } from '../../ui/records.tsx'
import { Empty } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

interface TimelineProps {
  readonly log: RecordsProps<Transition>['log']
  readonly chosen: Transition | undefined
  choose(entry: Transition | undefined): void
}

export function Timeline({ log, chosen, choose }: TimelineProps) {
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

/** What repeats stands where it was told first, and is counted there. */
const latestFirst = (entries: readonly Transition[]) =>
  entries.toSorted((a, b) => b.last_at.localeCompare(a.last_at))

/** The machine's own states in the colours of what they mean outside. */
const tones: readonly (readonly [state: RegExp, tone: string])[] = [
  [/^live\.online/, 'good'],
  [/^(crashed|live\.(deaf|limited))/, 'warn'],
  [/^(signedOut|invalid|failed|replaced)/, 'bad'],
  [/^(queued|waiting|stalled|resuming|live\.starting)/, 'busy'],
]

const toneOf = (state: string) => tones.find(([form]) => form.test(state))?.[1] ?? 'idle'

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
    <li className={`tone-${toneOf(to)}`}>
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
