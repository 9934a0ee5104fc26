/** Every attempt at delivering to the webhook, and delivering again. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey, Page } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Choice } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Records } from '../../ui/records.tsx'
import { Empty } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { Replay } from './replay.tsx'

interface Delivery {
  readonly id: number
  readonly at: string
  readonly update_id: number
  readonly attempt: number
  readonly url: string
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
  readonly next_attempt_at: string | null
}

export function Deliveries({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const [outcome, setOutcome] = useState('')
  const log = useInfiniteQuery({
    queryKey: ['deliveries', apiKey.api_key_id, outcome],
    queryFn: ({ pageParam, signal }) =>
      call<Page<Delivery>>('GET', '/user/logs/webhook-deliveries', {
        query: { api_key_id: apiKey.api_key_id, outcome, limit: 50, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
    refetchInterval: 5_000,
  })
  return (
    <Card
      title={t('keys.tab.deliveries')}
      aside={
        <div className="row">
          <Choice
            label={t('deliveries.outcome')}
            hidesLabel
            value={outcome}
            options={[
              ['', t('deliveries.all')],
              ['delivered', t('deliveries.delivered')],
              ['failed', t('deliveries.failed')],
            ]}
            onChange={setOutcome}
          />
          {apiKey.webhook && <Replay apiKey={apiKey} />}
        </div>
      }
    >
      <Records
        log={log}
        none={
          <Empty icon="send" title={t('deliveries.none')}>
            {t('deliveries.noneText')}
          </Empty>
        }
        record={(delivery) => <Attempt key={delivery.id} delivery={delivery} />}
      />
    </Card>
  )
}

function Attempt({ delivery }: { readonly delivery: Delivery }) {
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
      </details>
    </li>
  )
}
