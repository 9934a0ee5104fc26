/** A state as a coloured word; the colour says nothing that the word does not. */
import { useT } from '../i18n/language.tsx'

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
