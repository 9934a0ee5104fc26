/** /dashboard/accounts: all messenger accounts, with their search and filters. */

import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import { save } from '../../api/call.ts'
import { credentialsQuery, type ListFilter, summaryQuery, useViewed } from '../../api/queries.ts'
import type { Credential, RecordPage, Summary } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { LiveBadge } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Choice } from '../../ui/form.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Page } from '../../ui/page.tsx'
import { recordsOf } from '../../ui/records.tsx'
import { Empty, Failed, Loading, useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { useChangeOfAddress, useTypedInAddress, withoutEmpty } from '../../ui/use-in-address.ts'
import { Bar, useSelection } from '../bulk/bar.tsx'
import { Groups, groupsQuery } from '../bulk/groups.tsx'
import { Progress, useBegun } from '../bulk/progress.tsx'
import { Tags } from '../bulk/tags.tsx'
import { Views } from '../bulk/views.tsx'
import { SharedWithMe } from '../credential/sharing.tsx'
import { CredentialRows } from './rows.tsx'

const sorts = ['created', 'urgency', 'nameUp', 'name', 'state', 'lastEvent'] as const
type Sort = (typeof sorts)[number]

/** The service sorts the accounts of others by no names: some of them are masked. */
const shownSorts = (isOwn: boolean) =>
  isOwn ? sorts : sorts.filter((one) => one !== 'name' && one !== 'nameUp')

const columns: Readonly<Record<Sort, Pick<ListFilter, 'sort' | 'order'>>> = {
  created: { sort: undefined, order: undefined },
  urgency: { sort: 'urgency', order: undefined },
  name: { sort: 'name', order: undefined },
  nameUp: { sort: 'name', order: 'asc' },
  state: { sort: 'state', order: 'asc' },
  lastEvent: { sort: 'last_event', order: undefined },
}

const filters = ['search', 'state', 'action', 'reason', 'platform', 'tag', 'incident'] as const

const NEEDED = 'link_again,restart,contact_platform'

/** Search, filters and order, kept in the address, so that a view can be passed on. */
export function useFilter() {
  const [query] = useSearchParams()
  const changeAddress = useChangeOfAddress()
  const text = query.toString()
  const isOwn = useViewed() === undefined

  return useMemo(() => {
    const given = new URLSearchParams(text)
    const givenOf = (name: string) => given.get(name) || undefined
    const sort = shownSorts(isOwn).find((one) => one === givenOf('sort')) ?? 'created'
    /** An empty value removes the filter. */
    const change = (changes: Readonly<Record<string, string>>) =>
      changeAddress(withoutEmpty(changes), { replace: true })
    const filter: ListFilter = {
      search: givenOf('search'),
      state: givenOf('state'),
      action: givenOf('action') === 'needed' ? NEEDED : undefined,
      reason: givenOf('reason'),
      platform: givenOf('platform'),
      tag: givenOf('tag'),
      incident: givenOf('incident'),
      ...columns[sort],
    }
    return {
      filter,
      sort,
      view: Object.fromEntries(
        [...filters, 'sort'].flatMap((name) => {
          const value = givenOf(name)
          // An incident ends: a view of it would soon show nothing.
          return value === undefined || name === 'incident' ? [] : [[name, value]]
        }),
      ),
      isFiltered: filters.some(givenOf),
      set: change,
      clear: () => change(Object.fromEntries([...filters, 'sort'].map((name) => [name, '']))),
    }
  }, [text, changeAddress, isOwn])
}

const states = ['active', 'connecting', 'degraded', 'logged_out', 'invalid', 'failed']

/** The search and the filters over the list of accounts. */
export function Filters({ summary }: { readonly summary: Summary | undefined }) {
  const t = useT()
  const { filter, sort, set } = useFilter()
  const isOwn = useViewed() === undefined
  const platforms = Object.keys(summary?.by_platform ?? {}).sort()
  return (
    <search className="row filters">
      <SearchField />
      {filter.incident && (
        <Button size="slim" icon="cross" onClick={() => set({ incident: '' })}>
          {t('accounts.filter.incident', { id: filter.incident })}
        </Button>
      )}
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
        options={shownSorts(isOwn).map((one) => [one, t(`accounts.sort.${one}`)] as const)}
        onChange={(value) => set({ sort: value === 'created' ? '' : value })}
      />
    </search>
  )
}

function SearchField() {
  const t = useT()
  const [search, type] = useTypedInAddress('search')
  return (
    <div className="search grow">
      <Icon name="search" size={16} />
      <input
        type="search"
        className="input"
        aria-label={t('accounts.search')}
        placeholder={t('accounts.search')}
        value={search}
        onChange={(event) => type(event.target.value)}
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
    mutationFn: () => save('/platforms/credentials/export', { query: shown }, 'accounts.csv'),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <Button icon="download" busy={saving.isPending} onClick={() => saving.mutate()}>
      {t('accounts.export')}
    </Button>
  )
}

type List = UseInfiniteQueryResult<InfiniteData<RecordPage<Credential>>>

/** Each account once: one that has changed may have moved to a page that was read later. */
function useRows({ data }: Pick<List, 'data'>): readonly Credential[] {
  return useMemo(() => {
    const byId = new Map<number, Credential>()
    for (const one of recordsOf({ data })) {
      if (!byId.has(one.credential_id)) byId.set(one.credential_id, one)
    }
    return [...byId.values()]
  }, [data])
}

interface AccountsProps {
  readonly list: List
  readonly rows: readonly Credential[]
  readonly total: number
  readonly matching: number | undefined
}

/** The rows, with what can be done to several of them. */
function Accounts({ list, rows, total, matching }: AccountsProps) {
  const { filter } = useFilter()
  const [, begun] = useBegun()
  const selection = useSelection(filter, rows)
  return (
    <div className="listing">
      <Bar
        selection={selection}
        filter={filter}
        shown={rows.length}
        matching={matching}
        began={(id) => begun(`${id}`)}
      />
      <CredentialRows rows={rows} total={total} selection={selection} list={list} />
    </div>
  )
}

/** No account is there, or none passes the filter. */
function NoAccounts() {
  const t = useT()
  const { isFiltered, clear } = useFilter()
  return isFiltered ? (
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
  )
}

export function CredentialsPage() {
  const t = useT()
  const { filter, isFiltered, set, view } = useFilter()
  const isOwn = useViewed() === undefined
  const list = useInfiniteQuery(credentialsQuery(filter))
  const summary = useQuery(summaryQuery)
  const groups = useQuery(groupsQuery(filter))
  const rows = useRows(list)
  const loaded = rows.length
  const matching = groups.isPlaceholderData ? undefined : groups.data?.matching
  const known = matching ?? (isFiltered ? undefined : summary.data?.total)
  const count = Math.max(loaded, known ?? 0)
  const shown =
    known === undefined && list.hasNextPage
      ? t.count('accounts.atLeast', count)
      : t.count('accounts.shown', count)
  return (
    <Page
      title={t('accounts.title')}
      lead={list.data && <span>{shown}</span>}
      actions={
        <>
          <LiveBadge />
          {loaded > 0 && <Export filter={filter} />}
          <ButtonLink to="/dashboard/link" kind="first" icon="plus">
            {t('accounts.link')}
          </ButtonLink>
        </>
      }
    >
      {isOwn && <SharedWithMe />}
      <Views now={view} />
      <Filters summary={summary.data} />
      <Groups groups={groups.data} given={filter.reason} set={set} />
      <Tags groups={groups.data} given={filter.tag} set={set} />
      <Progress />
      {list.isError && !list.data ? (
        <Failed cause={list.error} retry={() => list.refetch()} />
      ) : !list.data ? (
        <Loading lines={8} />
      ) : loaded > 0 ? (
        <Accounts list={list} rows={rows} total={count} matching={matching} />
      ) : (
        <NoAccounts />
      )}
    </Page>
  )
}
