/** One attempt at delivering an update, and what can be done about it. */
import type { Delivery } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Ago } from '../../ui/time.tsx'

interface AttemptProps {
  readonly delivery: Delivery
  /** Shows all attempts at this update; undefined where they are shown already. */
  readonly showAll: (() => void) | undefined
  /** Undefined where there is nowhere to deliver to. */
  readonly again: (() => void) | undefined
}

export function Attempt({ delivery, showAll, again }: AttemptProps) {
  const t = useT()
  const { span, moment } = useFormats()
  const { at, update_id, attempt, url, status, error, duration_ms, next_attempt_at } = delivery
  const isGood = error === null
  return (
    <li>
      <details>
        <summary className="record">
          <Badge tone={isGood ? 'good' : 'bad'}>
            {status === null ? t('deliveries.noAnswer') : `${status}`}
          </Badge>
          <span className="grow">
            <span className="label">{t('deliveries.update', { id: `${update_id}` })}</span>{' '}
            <span className="quiet small">{t('deliveries.attempt', { number: attempt })}</span>
            {error && <span className="quiet small block clip ltr">{error}</span>}
          </span>
          <span className="quiet small number">{span(duration_ms)}</span>
          <span className="quiet small">
            <Ago at={at} />
          </span>
        </summary>
        <dl className="facts inset">
          <dt>{t('webhook.url')}</dt>
          <dd className="mono">{url}</dd>
          <dt>{t('deliveries.at')}</dt>
          <dd>{moment(at)}</dd>
          {error && (
            <>
              <dt>{t('deliveries.error')}</dt>
              <dd className="ltr">{error}</dd>
            </>
          )}
          {next_attempt_at && (
            <>
              <dt>{t('deliveries.next')}</dt>
              <dd>{moment(next_attempt_at)}</dd>
            </>
          )}
        </dl>
        {(showAll || again) && (
          <div className="row inset">
            {showAll && (
              <Button size="slim" icon="search" onClick={showAll}>
                {t('deliveries.ofUpdate')}
              </Button>
            )}
            {again && (
              <Button size="slim" icon="restart" onClick={again}>
                {t('deliveries.again')}
              </Button>
            )}
          </div>
        )}
      </details>
    </li>
  )
}
