/** Keys in a list: name, hint, how they receive, how much waits. */
import { Link } from 'react-router'
import type { ApiKey } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Ago } from '../../ui/time.tsx'

const tones: Readonly<Record<ApiKey['receive_mode'], Tone>> = {
  none: 'idle',
  polling: 'busy',
  webhook: 'good',
}

export function KeyRecords({ keys }: { readonly keys: readonly ApiKey[] }) {
  const t = useT()
  return (
    <ul className="records">
      {keys.map((key) => (
        <li key={key.api_key_id}>
          <Link to={`/dashboard/keys/${key.api_key_id}`} className="record">
            <span className="grow">
              <span className="label clip">{key.name}</span>{' '}
              <span className="quiet mono">{key.key_hint}</span>
              <span className="quiet small block">
                {t('keys.used')} {key.last_used_at ? <Ago at={key.last_used_at} /> : t('never')}
                {' · '}
                {t.count('keys.waiting', key.pending_update_count)}
              </span>
            </span>
            {key.revoked_at ? (
              <Badge tone="bad">{t('keys.revoked')}</Badge>
            ) : (
              <Badge tone={tones[key.receive_mode]}>{t(`keys.mode.${key.receive_mode}`)}</Badge>
            )}
          </Link>
        </li>
      ))}
    </ul>
  )
}
