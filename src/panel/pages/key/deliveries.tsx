/** Every attempt at delivering to the webhook, and delivering again. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey, Delivery, RecordPage } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Records } from '../../ui/records.tsx'
import { Empty } from '../../ui/states.tsx'
import { useInAddress } from '../../ui/use-in-address.ts'
import { Attempt } from './attempt.tsx'
import { Replay } from './replay.tsx'

const outcomes = ['delivered', 'failed'] as const
const LOOK_MS = 5_000

function useDeliveries(keyId: number, outcome: string, update: string) {
  return useInfiniteQuery({
    queryKey: ['deliveries', keyId, outcome, update],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<Delivery>>('GET', '/user/logs/webhook-deliveries', {
        query: {
          api_key_id: keyId,
          outcome,
          update_id: update,
          limit: 50,
          before: pageParam,
        },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
    // All pages that are open are read again: with many of them less often.
    refetchInterval: ({ state: { data } }) => LOOK_MS * Math.max(1, data?.pages.length ?? 1),
  })
}

export function Deliveries({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const [givenOutcome, setOutcome] = useInAddress('outcome')
  const [givenUpdate, setUpdate] = useInAddress('update')
  /** From which update on it is delivered again, once that is asked for. */
  const [from, setFrom] = useState<number | 'asked'>()
  const outcome = outcomes.find((one) => one === givenOutcome) ?? ''
  const update = /^[1-9]\d{0,14}$/.test(givenUpdate) ? givenUpdate : ''
  const log = useDeliveries(apiKey.api_key_id, outcome, update)
  const isFiltered = outcome !== '' || update !== ''
  return (
    <Card
      title={t('keys.tab.deliveries')}
      aside={
        <div className="row">
          {update !== '' && (
            <Button size="slim" icon="cross" onClick={() => setUpdate('')}>
              {t('deliveries.update', { id: update })}
            </Button>
          )}
          <OutcomeChoice outcome={outcome} onChange={setOutcome} />
          {apiKey.webhook && (
            <Button icon="restart" size="slim" onClick={() => setFrom('asked')}>
              {t('replay')}
            </Button>
          )}
        </div>
      }
    >
      <Records
        log={log}
        none={
          <Empty icon="send" title={t('deliveries.none')}>
            {t(isFiltered ? 'deliveries.noneSuch' : 'deliveries.noneText')}
          </Empty>
        }
        record={(delivery) => (
          <Attempt
            key={delivery.id}
            delivery={delivery}
            showAll={update === '' ? () => setUpdate(`${delivery.update_id}`) : undefined}
            again={apiKey.webhook ? () => setFrom(delivery.update_id) : undefined}
          />
        )}
      />
      {from !== undefined && (
        <Replay
          apiKey={apiKey}
          from={from === 'asked' ? undefined : from}
          close={() => setFrom(undefined)}
        />
      )}
    </Card>
  )
}

interface OutcomeChoiceProps {
  readonly outcome: string
  onChange(outcome: string): void
}

function OutcomeChoice({ outcome, onChange }: OutcomeChoiceProps) {
  const t = useT()
  return (
    <Choice
      label={t('deliveries.outcome')}
      hidesLabel
      value={outcome}
      options={[
        ['', t('deliveries.all')],
        ...outcomes.map((one) => [one, t(`deliveries.${one}`)] as const),
      ]}
      onChange={onChange}
    />
  )
}
