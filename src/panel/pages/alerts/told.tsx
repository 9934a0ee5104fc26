/** Notifications of incidents: sent, waiting and lost ones. */
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { Notification, RecordPage } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { Records } from '../../ui/records.tsx'
import { Empty } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

const notificationsQuery = infiniteQueryOptions({
  queryKey: ['notifications'],
  queryFn: ({ pageParam, signal }) =>
    call<RecordPage<Notification>>('GET', '/alerts/notifications', {
      query: { limit: 10, before: pageParam },
      signal,
    }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_before }) => next_before ?? undefined,
  refetchInterval: 15_000,
})

const tones: Readonly<Record<Notification['state'], Tone>> = {
  sent: 'good',
  waiting: 'busy',
  lost: 'bad',
}

export function Told() {
  const t = useT()
  const log = useInfiniteQuery(notificationsQuery)
  return (
    <Card title={t('alerts.told')}>
      <Records
        log={log}
        none={
          <Empty icon="bell" title={t('alerts.told.none')}>
            {t('alerts.told.noneText')}
          </Empty>
        }
        record={(one) => <ToldRow key={one.notification_id} one={one} />}
      />
    </Card>
  )
}

function ToldRow({ one }: { readonly one: Notification }) {
  const t = useT()
  const { moment } = useFormats()
  const { channel, event, state, attempts, code, detail, next_at } = one
  return (
    <li className="record">
      <span className="grow">
        <span className="row">
          <span className="label">
            {t(`alertChannel.${channel}`)} · {t(`alertEvent.${event}`)}
          </span>
          <Badge tone={tones[state]} dot>
            {t(`alertSent.${state}`)}
          </Badge>
        </span>
        <span className="quiet small block">
          <Ago at={one.created_at} />
          {attempts > 1 && <> · {t.count('alerts.told.attempts', attempts)}</>}
          {next_at && attempts > 0 && <> · {t('alerts.told.next', { moment: moment(next_at) })}</>}
        </span>
        {code && state !== 'sent' && (
          <span className="small block">{t.word('alertLoss', code)}</span>
        )}
        {detail && state !== 'sent' && <span className="quiet small block ltr">{detail}</span>}
      </span>
    </li>
  )
}
