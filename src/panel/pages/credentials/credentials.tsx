/** /dashboard/accounts: all messenger accounts, with their search and filters. */

import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { save } from '../../api/call.ts'
import { credentialsQuery, type ListFilter, summaryQuery } from '../../api/queries.ts'
import type { Summary } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { LiveBadge } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Choice } from '../../ui/form.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Page } from '../../ui/page.tsx'
import { recordsOf } from '../../ui/records.tsx'
import { Empty, Failed, Loading, useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { CredentialRows } from './rows.tsx'

const sorts = ['created', 'urgency', 'nameUp', 'name', 'state', 'lastEvent'] as const
type Sort = (typeof sorts)[number]

const columns: Readonly<Record<Sort, Pick<ListFilter, 'sort' | 'order'>>> = {
  created: { sort: undefined, order: undefined },
  urgency: { sort: 'urgency', order: undefined },
  name: { sort: 'name', order: undefined },
  nameUp: { sort: 'name', order: 'asc' },
  state: { sort: 'state', order: 'asc' },
  lastEvent: { sort: 'last_event', order: undefined },
}

const NEEDED = 'link_again,restart,contact_platform'

/** Search, filters and order, kept in the address, so that a view can be passed on. */
export function useFilter() {
  const [query, setQuery] = useSearchParams()
  const text = query.toString()

  return useMemo(() => {
    const given = new URLSearchParams(text)
    const givenOf = (name: string) => given.get(name) || undefined
    const sort = sorts.find((one) => one === givenOf('sort')) ?? 'created'
    const filter: ListFilter = {
      search: givenOf('search'),
      state: givenOf('state'),
      action: givenOf('action') === 'needed' ? NEEDED : undefined,
      reason: givenOf('reason'),
      platform: givenOf('platform'),
      ...columns[sort],
    }
    return {
      filter,
      sort,
      isFiltered: ['search', 'state', 'action', 'reason', 'platform'].some(givenOf),
      /** An empty value removes the filter. */
      set(changes: Readonly<Record<string, string>>) {
        setQuery(
          (before) => {
            const next = new URLSearchParams(before)
            for (const [name, value] of Object.entries(changes)) {
              if (value === '') next.delete(name)
              else next.set(name, value)
            }
            return next
          },
          { replace: true },
        )
      },
      clear: () => setQuery({}),
    }
  }, [text, setQuery])
}

const states = ['active', 'connecting', 'degraded', 'logged_out', 'invalid', 'failed']
const TYPING_MS = 250

/** The search and the filters over the list of accounts. */
export function Filters({ summary }: { readonly summary: Summary | undefined }) {
  const t = useT()
  const { filter, sort, set } = useFilter()
  const platforms = Object.keys(summary?.by_platform ?? {}).sort()
  return (
    <search className="row filters">
      <SearchField given={filter.search ?? ''} set={set} />
      <Choice
        label={t('accounts.filter.state')}
        hidesLabel
        value={filter.action ? 'needed' : (filter.state ?? '')}
        options={[
          ['', t('accounts.filter.any')],
          ['needed', t('accounts.filter.needsAction')],
          ...states.map((state) => [state, t.word('state', state)] as const),
        ]}
        onChange={(value) =>
          set(
            value === 'needed'
              ? { action: value, state: '', reason: '' }
              : { action: '', state: value, reason: '' },
          )
        }
      />
      <ReasonChoice summary={summary} />
      {platforms.length > 1 && (
        <Choice
          label={t('accounts.filter.platform')}
          hidesLabel
          value={filter.platform ?? ''}
          options={[
            ['', t('accounts.filter.anyPlatform')],
            ...platforms.map((platform) => [platform, t.word('platform', platform)] as const),
          ]}
          onChange={(platform) => set({ platform })}
        />
      )}
      <Choice
        label={t('accounts.sort')}
        hidesLabel
        value={sort}
        options={sorts.map((one) => [one, t(`accounts.sort.${one}`)] as const)}
        onChange={(value) => set({ sort: value === 'created' ? '' : value })}
      />
    </search>
  )
}

/** Shown while accounts are out for several reasons, or one is picked. */
function ReasonChoice({ summary }: { readonly summary: Summary | undefined }) {
  const t = useT()
  const { filter, set } = useFilter()
  const picked = filter.reason ?? ''
  const reasons = new Set(['', picked, ...Object.keys(summary?.by_reason ?? {})])
  if (reasons.size < 3 && picked === '') return null
  return (
    <Choice
      label={t('accounts.filter.reason')}
      hidesLabel
      value={picked}
      options={[...reasons].map((reason) => [
        reason,
        reason === '' ? t('accounts.filter.anyReason') : t.word('reason', reason),
      ])}
      onChange={(reason) => set({ reason })}
    />
  )
}

interface SearchFieldProps {
  readonly given: string
  set(changes: { readonly search: string }): void
}

function SearchField({ given, set }: SearchFieldProps) {
  const t = useT()
  const [search, setSearch] = useState(given)
  const input = useRef<HTMLInputElement>(null)
  const told = useRef(given)

  useEffect(() => {
    const timer = setTimeout(() => {
      if (search === told.current) return
      told.current = search
      set({ search })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [search, set])

  // A link or button changed the address. While the user types, the typed text is newer and stays.
  useEffect(() => {
    if (given === told.current || document.activeElement === input.current) return
    told.current = given
    setSearch(given)
  }, [given])

  return (
    <div className="search grow">
      <Icon name="search" size={16} />
      <input
        ref={input}
        type="search"
        className="input"
        aria-label={t('accounts.search')}
        placeholder={t('accounts.search')}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
    </div>
  )
}

/** Saves what the filters show as a table for other programs. */
function Export({ filter }: { readonly filter: ListFilter }) {
  const t = useT()
  const toast = useToast()
  const reason = useReason()
  const { sort, order, ...shown } = filter
  const saving = useMutation({
    mutationFn: () => save('/platforms/credentials/export', shown, 'accounts.csv'),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <Button icon="download" busy={saving.isPending} onClick={() => saving.mutate()}>
      {t('accounts.export')}
    </Button>
  )
}

export function CredentialsPage() {
  const t = useT()
  const { filter, isFiltered, clear } = useFilter()
  const list = useInfiniteQuery(credentialsQuery(filter))
  const summary = useQuery(summaryQuery)
  const rows = recordsOf(list)
  const count = isFiltered ? rows.length : Math.max(rows.length, summary.data?.total ?? 0)
  const more = isFiltered && list.hasNextPage ? '+' : ''
  return (
    <Page
      title={t('accounts.title')}
      lead={list.data && <span>{t.count('accounts.shown', count) + more}</span>}
      actions={
        <>
          <LiveBadge />
          {rows.length > 0 && <Export filter={filter} />}
          <ButtonLink to="/dashboard/link" kind="first" icon="plus">
            {t('accounts.link')}
          </ButtonLink>
        </>
      }
    >
      <Filters summary={summary.data} />
      {list.isError && !list.data ? (
        <Failed cause={list.error} retry={() => list.refetch()} />
      ) : !list.data ? (
        <Loading lines={8} />
      ) : rows.length > 0 ? (
        <CredentialRows rows={rows} total={count} list={list} />
      ) : isFiltered ? (
        <Empty
          icon="search"
          title={t('accounts.none')}
          action={<Button onClick={clear}>{t('accounts.clear')}</Button>}
        >
          {t('accounts.noneText')}
        </Empty>
      ) : (
        <Empty
          icon="link"
          title={t('dashboard.first')}
          action={
            <ButtonLink to="/dashboard/link" kind="first">
              {t('accounts.link')}
            </ButtonLink>
          }
        >
          {t('dashboard.firstText')}
        </Empty>
      )}
    </Page>
  )
}
