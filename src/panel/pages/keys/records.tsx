/** A key in a list: name, hint, way of receiving or reason why not, and number of waiting updates. */
import { Link } from 'react-router'
import { keyStanding, type Standing } from '../../../../machines/api-key/events.ts'
import { type ApiKey, nameOf } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import type { Translate } from '../../i18n/translate.ts'
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

interface KeyRecordProps {
  readonly apiKey: ApiKey
  /** Shows the account of the key. */
  readonly tellsAccount?: boolean
}

export function KeyRecord({ apiKey: key, tellsAccount = false }: KeyRecordProps) {
  const t = useT()
  return (
    <li>
      <Link to={`/dashboard/keys/${key.api_key_id}`} className="record">
        <span className="grow">
          <span className="label clip" dir="auto">
            {key.name}
          </span>{' '}
          <span className="quiet mono">{key.key_hint}</span>
          <span className="quiet small block">
            {tellsAccount && `${accountOf(key, t)} · `}
            {t('keys.used')} {key.last_used_at ? <Ago at={key.last_used_at} /> : t('never')}
            {' · '}
            {t.count('keys.waiting', key.pending_update_count)}
          </span>
        </span>
        <StandingBadge apiKey={key} />
      </Link>
    </li>
  )
}

/** Isolated, since a name may be written from the other side. */
function accountOf({ account, credential_id: id }: ApiKey, t: Translate): string {
  if (!account) return t('account.number', { id: `${id}` })
  return `\u2068${nameOf({ account: { id, ...account } })}\u2069`
}

/** How a usable key receives; red or amber while its webhook does not get what it should. */
export function ReceivingBadge({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const { receive_mode, webhook } = apiKey
  const mode = webhook?.state === 'stopped' ? 'none' : receive_mode
  if (!webhook || !isTroubled(webhook)) {
    return <Badge tone={tones[mode]}>{t(`keys.mode.${mode}`)}</Badge>
  }
  return webhook.state === 'suspended' ? (
    <Badge tone="bad">{t('keys.webhook.suspended')}</Badge>
  ) : (
    <Badge tone="warn">{t('keys.webhook.failing')}</Badge>
  )
}

/** Whether updates of a webhook wait because an attempt failed, or nothing attempts them though the key may receive. */
export const isTroubled = ({ state, failing_since }: NonNullable<ApiKey['webhook']>) =>
  !['delivering', 'stopped'].includes(state) || failing_since !== undefined

function StandingBadge({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const standing = keyStanding(apiKey, Date.now())
  return standing === 'usable' ? (
    <ReceivingBadge apiKey={apiKey} />
  ) : (
    <Badge tone={standingTones[standing]}>{t(`keys.${standing}`)}</Badge>
  )
}
