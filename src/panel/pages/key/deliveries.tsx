/** Deliveries to the webhook, update by update with every attempt, and resends. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { call } from '../../api/call.ts'
import type { ApiKey, Delivery, RecordPage } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Records } from '../../ui/records.tsx'
import { Empty } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useInAddress } from '../../ui/use-in-address.ts'
import { Exchanges, Keeping } from '../explorer/exchanges.tsx'
import { Follow, useFollowing } from '../explorer/follow.tsx'
import { ResendDialog, ResendOne, ResendProgress } from '../explorer/resend.tsx'
import { DeliveryFilters, deliveryForms, type Searching, useSearch } from '../explorer/search.tsx'

interface UpdateProps {
  /** The attempts at one update, the newest first. */
  readonly attempts: readonly [Delivery, ...Delivery[]]
  /** Shows all attempts at this update; undefined where they are shown already. */
  readonly showAll: (() => void) | undefined
  /** Undefined for a key without a webhook. */
  readonly webhook: { readonly apiKey: ApiKey; sendFrom(updateId: number): void } | undefined
}

/** One update with the attempts to deliver it: how the newest ended, and the others behind it. */
function Update({ attempts, showAll, webhook }: UpdateProps) {
  const t = useT()
  const { span } = useFormats()
  const [isOpen, setOpen] = useState(false)
  const [newest] = attempts
  const { at, update_id, error, duration_ms } = newest
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="record">
          <Outcome delivery={newest} />
          <span className="grow">
            <span className="label">{t('deliveries.update', { id: `${update_id}` })}</span>{' '}
            <Standing delivery={newest} />
            <Subject delivery={newest} />
            {error && <span className="quiet small block wraps ltr">{error}</span>}
          </span>
          <span className="quiet small number">{span(duration_ms)}</span>
          <span className="quiet small">
            <Ago at={at} />
          </span>
        </summary>
        {isOpen && (
          <>
            <ol className="records inset">
              {attempts.map((one, index) => (
                <Attempt key={one.id} delivery={one} isFirst={index === 0} />
              ))}
            </ol>
            <div className="row inset">
              {showAll && (
                <Button size="slim" icon="search" onClick={showAll}>
                  {t('deliveries.ofUpdate')}
                </Button>
              )}
              {webhook && (
                <>
                  <ResendOne apiKey={webhook.apiKey} updateId={update_id} />
                  <Button size="slim" onClick={() => webhook.sendFrom(update_id)}>
                    {t('resend.from')}
                  </Button>
                </>
              )}
            </div>
          </>
        )}
      </details>
    </li>
  )
}

/** How often it was tried in vain, and what comes or came of it. */
function Standing({ delivery }: { readonly delivery: Delivery }) {
  const t = useT()
  const { moment, clock } = useFormats()
  const { attempt, error, next_attempt_at, delivered_at } = delivery
  const short = (at: string) =>
    new Date(at).toDateString() === new Date().toDateString() ? clock(at) : moment(at)
  const words: string[] = []
  if (error !== null) words.push(t.count('deliveries.failedTimes', attempt))
  else if (attempt > 1) words.push(t('deliveries.attempt', { number: attempt }))
  if (delivered_at) words.push(t('deliveries.later', { moment: short(delivered_at) }))
  else if (next_attempt_at && Date.parse(next_attempt_at) > Date.now())
    words.push(t('deliveries.nextAt', { moment: short(next_attempt_at) }))
  return words.length > 0 && <span className="quiet small">{words.join(' · ')}</span>
}

/** Of which chat the update is, and how it begins. */
function Subject({ delivery }: { readonly delivery: Delivery }) {
  const t = useT()
  const { kind, chat_id, chat_name, excerpt } = delivery
  if (!kind) return null
  return (
    <span className="quiet small block wraps">
      <code>{kind}</code>
      {chat_id !== null && (
        <>
          {' · '}
          <bdi>{chat_name ?? t('deliveries.chat', { id: `${chat_id}` })}</bdi>
        </>
      )}
      {excerpt && (
        <>
          {' · '}
          <bdi>{excerpt}</bdi>
        </>
      )}
    </span>
  )
}

/** A failed attempt at an update that was delivered later is nothing to look after. */
function Outcome({ delivery }: { readonly delivery: Delivery }) {
  const t = useT()
  const { status, error, delivered_at } = delivery
  return (
    <Badge tone={error === null ? 'good' : delivered_at === null ? 'bad' : 'idle'}>
      {status === null ? t('deliveries.noAnswer') : `${status}`}
    </Badge>
  )
}

interface AttemptProps {
  readonly delivery: Delivery
  /** It is open from the start. */
  readonly isFirst: boolean
}

/** One attempt with what went over the wire. */
function Attempt({ delivery, isFirst }: AttemptProps) {
  const t = useT()
  const { span, moment } = useFormats()
  const [isOpen, setOpen] = useState(isFirst)
  const { at, attempt, url, error, duration_ms, next_attempt_at, trace_id, chat_id } = delivery
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="record">
          <Outcome delivery={delivery} />
          <span className="grow">{t('deliveries.attempt', { number: attempt })}</span>
          <span className="quiet small number">{span(duration_ms)}</span>
          <span className="quiet small">{moment(at)}</span>
        </summary>
        <dl className="facts inset">
          <dt>{t('webhook.url')}</dt>
          <dd className="mono">{url}</dd>
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
          {chat_id !== null && (
            <>
              <dt>{t('search.chat')}</dt>
              <dd className="mono">{chat_id}</dd>
            </>
          )}
          {trace_id && (
            <>
              <dt>{t('deliveries.cause')}</dt>
              <dd>
                <Cause delivery={delivery} traceId={trace_id} />
              </dd>
            </>
          )}
        </dl>
        {isOpen && <Exchanges delivery={delivery} />}
      </details>
    </li>
  )
}

/** So long before and after its update a call may have been answered. */
const AROUND_MS = 120_000

interface CauseProps {
  readonly delivery: Delivery
  readonly traceId: string
}

/** The way to the call: it is of another key, since no key gets what it caused itself. */
function Cause({ delivery: { cause_api_key_id: keyId, update_at }, traceId }: CauseProps) {
  const t = useT()
  const [, answeringKey, answered] = /^(\d+)-(\d+)$/.exec(traceId) ?? []
  if (keyId === null || traceId.startsWith('alert-')) {
    return (
      <>
        <span className="mono">{traceId}</span>
        {keyId === null && <span className="quiet small block">{t('deliveries.cause.gone')}</span>}
      </>
    )
  }
  if (answered !== undefined) {
    return (
      <Link to={`/dashboard/keys/${answeringKey}?tab=deliveries&update=${answered}`}>
        {t('deliveries.cause.answer', { id: answered })}
      </Link>
    )
  }
  const query = new URLSearchParams({ tab: 'requests', request_id: traceId })
  if (update_at !== null) {
    const around = (ms: number) => new Date(Date.parse(update_at) + ms).toISOString()
    query.set('since', around(-AROUND_MS))
    query.set('until', around(AROUND_MS))
  }
  return (
    <Link to={`/dashboard/keys/${keyId}?${query}`} className="mono">
      {traceId}
    </Link>
  )
}

/** One list of attempts for each update, in the order of its newest attempt. */
function byUpdate(deliveries: readonly Delivery[]): [Delivery, ...Delivery[]][] {
  const found = new Map<number, [Delivery, ...Delivery[]]>()
  for (const delivery of deliveries) {
    const attempts = found.get(delivery.update_id)
    if (attempts) attempts.push(delivery)
    else found.set(delivery.update_id, [delivery])
  }
  return [...found.values()]
}

const outcomes = ['delivered', 'failed'] as const

function useDeliveries(keyId: number, search: Searching['search'], update: string) {
  const following = useFollowing(search)
  const log = useInfiniteQuery({
    queryKey: ['deliveries', keyId, search, update],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<Delivery>>('GET', '/user/logs/webhook-deliveries', {
        query: {
          ...search,
          api_key_id: keyId,
          update_id: update,
          limit: 50,
          before: pageParam,
        },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
    refetchInterval: following.refetchInterval,
  })
  return { log, following }
}

export function Deliveries({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const searching = useSearch(deliveryForms)
  const { search, change } = searching
  const [givenUpdate, setUpdate] = useInAddress('update')
  /** The first update to send again, while the dialog is open. */
  const [from, setFrom] = useState<number | 'asked'>()
  const update = /^[1-9]\d{0,14}$/.test(givenUpdate) ? givenUpdate : ''
  const { log, following } = useDeliveries(apiKey.api_key_id, search, update)
  const webhook = apiKey.webhook ? { apiKey, sendFrom: setFrom } : undefined
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
          <OutcomeChoice
            outcome={search.outcome ?? ''}
            onChange={(outcome) => change({ outcome })}
          />
          <Follow {...following} />
          {webhook && (
            <Button icon="restart" size="slim" onClick={() => setFrom('asked')}>
              {t('resend.title')}
            </Button>
          )}
        </div>
      }
    >
      {webhook && <ResendProgress apiKey={apiKey} />}
      <Keeping apiKey={apiKey} of="deliveries" />
      <DeliveryFilters {...searching} />
      <Records
        log={log}
        none={<None isFiltered={Object.keys(search).length > 0 || update !== ''} />}
        arrange={(deliveries) =>
          byUpdate(deliveries).map((attempts) => (
            <Update
              key={attempts[0].update_id}
              attempts={attempts}
              showAll={update === '' ? () => setUpdate(`${attempts[0].update_id}`) : undefined}
              webhook={webhook}
            />
          ))
        }
      />
      {from !== undefined && (
        <ResendDialog
          apiKey={apiKey}
          from={from === 'asked' ? undefined : from}
          close={() => setFrom(undefined)}
        />
      )}
    </Card>
  )
}

function None({ isFiltered }: { readonly isFiltered: boolean }) {
  const t = useT()
  return (
    <Empty icon="send" title={t('deliveries.none')}>
      {t(isFiltered ? 'deliveries.noneSuch' : 'deliveries.noneText')}
    </Empty>
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
