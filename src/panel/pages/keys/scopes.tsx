/** What a key may do, each scope explained. */
import { useT } from '../../i18n/language.tsx'

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
