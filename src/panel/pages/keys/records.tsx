/** A list of keys: name, hint, way of receiving or reason why not, and number of waiting updates. */

import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { keyStanding, type Standing } from '../../../../machines/api-key/events.ts'
import { nameOf } from '../../api/names.ts'
import { accountsQuery } from '../../api/queries.ts'
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
  const accounts = useQuery({ ...accountsQuery(''), enabled: tellsAccount })
  const nameOfAccount = (id: number) => {
    const account = accounts.data?.items.find(({ credential_id }) => credential_id === id)
    return account ? `\u2068${nameOf(account)}\u2069` : t('account.number', { id: `${id}` })
  }
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
                {tellsAccount && `${nameOfAccount(key.credential_id)} · `}
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

/** How a usable key receives; red or amber while its webhook does not get what it should. */
export function ReceivingBadge({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const { receive_mode: mode, webhook } = apiKey
  if (!webhook || !isTroubled(webhook)) {
    return <Badge tone={tones[mode]}>{t(`keys.mode.${mode}`)}</Badge>
  }
  return webhook.state === 'suspended' ? (
    <Badge tone="bad">{t('keys.webhook.suspended')}</Badge>
  ) : (
    <Badge tone="warn">{t('keys.webhook.failing')}</Badge>
  )
}

/** Whether updates of a webhook wait because an attempt failed, or nothing attempts them. */
export const isTroubled = ({ state, failing_since }: NonNullable<ApiKey['webhook']>) =>
  state !== 'delivering' || failing_since !== undefined

function StandingBadge({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const standing = keyStanding(apiKey, Date.now())
  return standing === 'usable' ? (
    <ReceivingBadge apiKey={apiKey} />
  ) : (
    <Badge tone={standingTones[standing]}>{t(`keys.${standing}`)}</Badge>
  )
}
