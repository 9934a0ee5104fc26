/** Badges: a state as a coloured word, where the colour says nothing that the word does not. */
import { useT } from '../i18n/language.tsx'
import { useIsLive } from '../live/live.tsx'

/** Shows whether the page changes by itself at the moment. */
export function LiveBadge() {
  const t = useT()
  const isLive = useIsLive()
  return (
    <span
      className={`badge dot ${isLive ? 'tone-good live' : 'tone-idle'}`}
      title={t('live.hint')}
      role="status"
    >
      {t(isLive ? 'live.on' : 'live.off')}
    </span>
  )
}

export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'idle'

const tones: Readonly<Record<string, Tone>> = {
  active: 'good',
  connecting: 'busy',
  linking: 'busy',
  degraded: 'warn',
  logged_out: 'bad',
  invalid: 'bad',
  failed: 'bad',
  deactivated: 'idle',
}

export const toneOf = (state: string): Tone => tones[state] ?? 'idle'

export function Badge({
  tone,
  dot,
  children,
}: {
  readonly tone: Tone
  readonly dot?: boolean
  readonly children: string
}) {
  return <span className={`badge tone-${tone} ${dot ? 'dot' : ''}`}>{children}</span>
}

export function StateBadge({ state }: { readonly state: string }) {
  const t = useT()
  return (
    <Badge tone={toneOf(state)} dot>
      {t.word('state', state)}
    </Badge>
  )
}
