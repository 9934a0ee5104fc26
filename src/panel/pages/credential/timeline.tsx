/** What has happened to the account, newest first. */
import type { Transition } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

export interface TimelineListProps {
  readonly entries: readonly Transition[]
  readonly chosen: Transition | undefined
  readonly more: (() => void) | undefined
  choose(entry: Transition | undefined): void
}

export function TimelineList({ entries, chosen, more, choose }: TimelineListProps) {
  const t = useT()
  if (entries.length === 0) return <Empty icon="pulse" title={t('account.timeline.none')} />
  return (
    <>
      <ol className="timeline">
        {entries.map((entry) => (
          <Entry
            key={`${entry.at} ${entry.from} ${entry.to}`}
            entry={entry}
            isChosen={chosen?.at === entry.at && chosen.to === entry.to}
            choose={choose}
          />
        ))}
      </ol>
      {more && (
        <Button size="slim" onClick={more}>
          {t('more')}
        </Button>
      )}
    </>
  )
}

/** The machine's own states in the colours of what they mean outside. */
const tones: readonly (readonly [state: RegExp, tone: string])[] = [
  [/^live\.online/, 'good'],
  [/^live\.(deaf|limited)/, 'warn'],
  [/^(signedOut|invalid|failed|replaced)/, 'bad'],
  [/^(queued|waiting|resuming|live\.starting)/, 'busy'],
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
  const { at, from, to, event, reason, node, duration_ms } = entry
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
            <Ago at={at} />
          </span>
        </span>
        <span className="small">
          <span className="mono">{event}</span>
          {reason && <span className="quiet"> · {t.word('reason', reason)}</span>}
        </span>
        <span className="quiet tiny">
          {t('account.timeline.lasted', { span: span(duration_ms), state: `\u2068${from}\u2069` })}{' '}
          · {t('account.timeline.node', { node: `\u2068${node}\u2069` })}
        </span>
      </button>
    </li>
  )
}
