/** The terms of a key: its scopes, each explained, and its lifetime. */

import { useT } from '../../i18n/language.tsx'
import type { Translate } from '../../i18n/translate.ts'

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

const scopes = ['bot:send', 'bot:receive'] as const

interface ScopesProps {
  readonly chosen: readonly string[]
  onChange(scopes: readonly string[]): void
}

export function Scopes({ chosen, onChange }: ScopesProps) {
  const t = useT()
  return (
    <fieldset className="group stack tight">
      <legend className="label">{t('keys.scopes')}</legend>
      {scopes.map((scope) => (
        <label key={scope} className="choice">
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={(event) =>
              onChange(
                scopes.filter((one) =>
                  one === scope ? event.target.checked : chosen.includes(one),
                ),
              )
            }
          />
          <span>
            <span className="mono">{scope}</span>
            <span className="quiet small block">{t(`keys.scope.${scope}`)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
