/** The progress of actions on many accounts. They run in the service; here the user watches, stops and resumes them. */
import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useId, useRef, useState } from 'react'
import { Link } from 'react-router'
import { call } from '../../api/call.ts'
import {
  type BulkAction,
  type BulkItem,
  handleOf,
  nameOf,
  type RecordPage,
} from '../../api/types.ts'
import type { MessageKey } from '../../i18n/en.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Records } from '../../ui/records.tsx'
import { Failed, Wrong } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useInAddress } from '../../ui/use-in-address.ts'

import { Addresses } from './addresses.tsx'

const PATH = '/platforms/credentials/actions'
const EVERY_MS = 1_000

const actionsQuery = queryOptions({
  queryKey: ['bulk', 'actions'],
  queryFn: ({ signal }) =>
    call<RecordPage<BulkAction>>('GET', PATH, { query: { limit: 50 }, signal }),
  staleTime: 0,
  refetchInterval: ({ state }) => (state.data?.items.some(isRunning) ? EVERY_MS : false),
})

const isRunning = ({ state }: BulkAction) => state === 'running'

/** With the number in the key: what fails later is seen, too. */
const failedQuery = ({ action_id, failed }: BulkAction) =>
  infiniteQueryOptions({
    queryKey: ['bulk', 'failed', action_id, failed],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<BulkItem>>('GET', `${PATH}/${action_id}/items`, {
        query: { state: 'failed', limit: 50, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
    placeholderData: keepPreviousData,
  })

/** The one that was begun last here stands in the address, so that its outcome survives a reload. */
export const useBegun = () => useInAddress('bulk')

/** All that are not over, and the one that was begun here until it is closed. */
export function Progress() {
  const queries = useQueryClient()
  const [begun, setBegun] = useBegun()
  const actions = useQuery(actionsQuery)
  const items = actions.data?.items ?? []
  const shown = items.filter(
    ({ state, action_id }) => state !== 'finished' || `${action_id}` === begun,
  )
  const ends = actions.data && items.map(({ ended_at }) => ended_at ?? '').sort()
  const lastEnd = ends && (ends.at(-1) ?? '')
  const before = useRef(lastEnd)
  useEffect(() => {
    if (before.current !== undefined && lastEnd !== before.current) {
      for (const key of ['credentials', 'groups', 'summary', 'urgent', 'keys']) {
        queries.invalidateQueries({ queryKey: [key] })
      }
    }
    before.current = lastEnd
  }, [lastEnd, queries])
  if (actions.isError && !actions.data) {
    return <Failed cause={actions.error} retry={() => actions.refetch()} />
  }
  return shown.map((action) => (
    <One
      key={action.action_id}
      action={action}
      isBegun={`${action.action_id}` === begun}
      began={(id) => setBegun(`${id}`)}
      close={() => setBegun('')}
    />
  ))
}

interface OneProps {
  readonly action: BulkAction
  readonly isBegun: boolean
  began(actionId: number): void
  close(): void
}

const kindOf = ({ kind }: BulkAction) => (kind === 'delete' || kind === 'relink' ? kind : 'restart')
const tones = { running: 'busy', stopped: 'warn', finished: 'good' } as const
const stateOf = ({ state }: BulkAction) =>
  state === 'running' || state === 'stopped' ? state : 'finished'

function One({ action, isBegun, began, close }: OneProps) {
  const t = useT()
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  const { total, done, failed } = action
  const state = stateOf(action)
  const waiting = total - done - failed
  // The button that began it is gone: the keyboard goes on here.
  useEffect(() => {
    if (isBegun && document.activeElement === document.body) heading.current?.focus()
  }, [isBegun])
  return (
    <section className="card bulk-progress" aria-labelledby={id}>
      <header>
        <h2 id={id} ref={heading} tabIndex={-1}>
          {t.count(`bulk.title.${kindOf(action)}`, total)}
        </h2>
        <span className="row">
          <span className="quiet small">
            <Ago at={action.ended_at ?? action.created_at} />
          </span>
          <span role="status">
            <Badge tone={state === 'finished' && failed > 0 ? 'warn' : tones[state]}>
              {t(`bulk.state.${state}`)}
            </Badge>
          </span>
        </span>
      </header>
      <progress max={total} value={done + failed} aria-labelledby={id} />
      <p className="row small">
        <span className="number">{t('bulk.done', { count: done })}</span>
        <span className={failed > 0 ? 'number wrong' : 'number quiet'}>
          {t('bulk.failed', { count: failed })}
        </span>
        {waiting > 0 && (
          <span className="number quiet">{t('bulk.waiting', { count: waiting })}</span>
        )}
      </p>
      {kindOf(action) === 'relink' && done > 0 && <Addresses action={action} />}
      <Handles action={action} began={began} close={close} />
    </section>
  )
}

/** Buttons of an action: stop, resume, show and retry failed accounts, or hide it. */
function Handles({ action, began, close }: Omit<OneProps, 'isBegun'>) {
  const t = useT()
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const { action_id, failed, kind } = action
  const state = stateOf(action)
  const again = () => queries.invalidateQueries({ queryKey: ['bulk'] })
  const halting = useMutation({
    mutationFn: (verb: 'stop' | 'resume') =>
      call<BulkAction>('POST', `${PATH}/${action_id}/${verb}`),
    onSettled: again,
  })
  const retrying = useMutation({
    mutationFn: () => call<BulkAction>('POST', PATH, { body: { kind, failed_of: action_id } }),
    onSuccess(next) {
      again()
      began(next.action_id)
    },
  })
  const verb = state === 'running' ? 'stop' : 'resume'
  return (
    <>
      <div className="row">
        {state !== 'finished' && (
          <Button size="slim" busy={halting.isPending} onClick={() => halting.mutate(verb)}>
            {t(`bulk.${verb}`)}
          </Button>
        )}
        {failed > 0 && (
          <Button size="slim" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t(isOpen ? 'bulk.hideFailed' : 'bulk.showFailed')}
          </Button>
        )}
        {state === 'finished' && failed > 0 && (
          <Button
            size="slim"
            icon="restart"
            busy={retrying.isPending}
            onClick={() => retrying.mutate()}
          >
            {t('bulk.again')}
          </Button>
        )}
        {state === 'finished' && (
          <Button size="slim" kind="bare" onClick={close}>
            {t('close')}
          </Button>
        )}
      </div>
      <Wrong cause={halting.error ?? retrying.error} />
      {isOpen && <FailedAccounts action={action} />}
    </>
  )
}

function FailedAccounts({ action }: { readonly action: BulkAction }) {
  const t = useT()
  const log = useInfiniteQuery(failedQuery(action))
  return (
    <Records<BulkItem>
      log={log}
      none={<p className="quiet small">{t('none')}</p>}
      record={(item) => <FailedAccount key={item.credential_id} item={item} />}
    />
  )
}

function FailedAccount({ item: { credential_id, account, code } }: { readonly item: BulkItem }) {
  const t = useT()
  const why = useWhy()
  const named = account && { credential_id, account }
  return (
    <li className="record">
      <span className="grow">
        {named ? (
          <Link to={`/dashboard/accounts/${credential_id}`} className="label clip" dir="auto">
            {nameOf(named)}
          </Link>
        ) : (
          <span className="label">{t('account.number', { id: credential_id })}</span>
        )}{' '}
        {named && <span className="quiet small ltr">{handleOf(named)}</span>}
        <span className="small block wrong">{why(code ?? 'internal')}</span>
      </span>
    </li>
  )
}

/** Codes that say nothing but the kind of a failure. */
const bare: Readonly<Record<string, MessageKey>> = {
  bad_request: 'bulk.why.refused',
  unauthorized: 'bulk.why.refused',
  forbidden: 'bulk.why.refused',
  conflict: 'bulk.why.refused',
  not_found: 'bulk.why.gone',
  rate_limited: 'bulk.why.busy',
  unavailable: 'bulk.why.unavailable',
  timeout: 'bulk.why.unavailable',
  bad_gateway: 'bulk.why.unavailable',
  internal: 'bulk.why.internal',
}

/** Why an account failed. A sentence that needs values is not taken: only the code is kept. */
function useWhy() {
  const t = useT()
  return (code: string) => {
    const known = bare[code]
    if (known) return t(known)
    const said = t.refusal({ code })
    return said === undefined || said.includes('{') ? t.word('reason', code) : said
  }
}
