/** The terms of a key: its scopes, each explained, its lifetime, and from where it may be used. */

import { useT } from '../../i18n/language.tsx'
import type { Translate } from '../../i18n/translate.ts'
import { Area, Checks } from '../../ui/form.tsx'

const lifetimes = ['never', '30', '90', '365'] as const

const DAY_MS = 86_400_000

/** How long a key may work from now on, as choices. */
export const lifetimeOptions = (t: Translate): readonly (readonly [string, string])[] =>
  lifetimes.map((days) => [
    days,
    days === 'never' ? t('keys.lifetime.never') : t('keys.lifetime.days', { days: Number(days) }),
  ])

/** The expiry in the form of the API; `null`: never. */
export const expiryIn = (lifetime: string): string | null =>
  lifetime === 'never' ? null : new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString()

interface ScopesProps {
  readonly chosen: readonly string[]
  onChange(scopes: readonly string[]): void
}

export function Scopes({ chosen, onChange }: ScopesProps) {
  const t = useT()
  const options = [
    ['bot:send', t('keys.scope.bot:send')],
    ['bot:receive', t('keys.scope.bot:receive')],
  ] as const
  return <Checks label={t('keys.scopes')} options={options} chosen={chosen} onChange={onChange} />
}

/** The addresses in a text, one on a line. */
export const addressesIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

interface AddressesProps {
  readonly text: string
  onChange(text: string): void
}

/** From where a key or a token may be used. */
export function Addresses({ text, onChange }: AddressesProps) {
  const t = useT()
  return (
    <Area
      label={t('addresses.title')}
      hint={t('addresses.hint')}
      className="mono"
      dir="ltr"
      rows={2}
      spellCheck={false}
      placeholder="192.0.2.0/24"
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
