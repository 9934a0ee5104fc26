/** How many accounts are in each state; each number leads to its list. */
import { Link } from 'react-router'
import type { Summary } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { toneOf } from '../../ui/badge.tsx'

/** Always there, in this order; the others when there is something in them. */
const usual = ['active', 'connecting', 'degraded', 'logged_out', 'failed', 'invalid']

export function Counts({ summary }: { readonly summary: Summary }) {
  const t = useT()
  const { number } = useFormats()
  const others = Object.keys(summary.by_state).filter((state) => !usual.includes(state))
  return (
    <ul className="tiles">
      <li>
        <Link to="/dashboard/accounts" className="tile">
          <span className="quiet small">{t('dashboard.total')}</span>
          <strong>{number(summary.total)}</strong>
        </Link>
      </li>
      {[...usual, ...others].map((state) => (
        <li key={state}>
          <Link
            to={`/dashboard/accounts?state=${state}`}
            className={`tile tone-${summary.by_state[state] ? toneOf(state) : 'idle'}`}
          >
            <span className="small name">{t.word('state', state)}</span>
            <strong>{number(summary.by_state[state] ?? 0)}</strong>
          </Link>
        </li>
      ))}
    </ul>
  )
}
