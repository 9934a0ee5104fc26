/** A list of keys: name, hint, way of receiving or reason why not, and number of waiting updates. */

import { Link } from 'react-router'
import { keyStanding, type Standing } from '../../../../machines/api-key/events.ts'
import type { ApiKey } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Ago } from '../../ui/time.tsx'

/** The colour of a key: valid, expired or revoked. */
export const standingTones: Readonly<Record<Standing, Tone>> = {
  usable: 'good',
  expired: 'bad',
  revoked: 'bad',
}

const tones: Readonly<Record<ApiKey['receive_mode'], Tone>> = {
  none: 'idle',
  polling: 'busy',
  webhook: 'good',
}

interface KeyRecordsProps {
  readonly keys: readonly ApiKey[]
  /** Shows the account of each key. */
  readonly tellsAccount?: boolean
}

export function KeyRecords({ keys, tellsAccount = false }: KeyRecordsProps) {
  const t = useT()
  return (
    <ul className="records">
      {keys.map((key) => (
        <li key={key.api_key_id}>
          <Link to={`/dashboard/keys/${key.api_key_id}`} className="record">
            <span className="grow">
              <span className="label clip" dir="auto">
                {key.name}
              </span>{' '}
              <span className="quiet mono">{key.key_hint}</span>
              <span className="quiet small block">
                {tellsAccount && `${t('account.number', { id: `${key.credential_id}` })} · `}
                {t('keys.used')} {key.last_used_at ? <Ago at={key.last_used_at} /> : t('never')}
                {' · '}
                {t.count('keys.waiting', key.pending_update_count)}
              </span>
            </span>
            <StandingBadge apiKey={key} />
          </Link>
        </li>
      ))}
    </ul>
  )
}

function StandingBadge({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const standing = keyStanding(apiKey, Date.now())
  return standing === 'usable' ? (
    <Badge tone={tones[apiKey.receive_mode]}>{t(`keys.mode.${apiKey.receive_mode}`)}</Badge>
  ) : (
    <Badge tone={standingTones[standing]}>{t(`keys.${standing}`)}</Badge>
  )
}
