/** /dashboard/users, for operators and support: finding a user, and looking at what they see. */
import {
  infiniteQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import { userQuery, useSession } from '../../api/queries.ts'
import type { RecordPage, StaffUser } from '../../api/types.ts'
import { view } from '../../api/viewing.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, ReasonDialog } from '../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Failed, Loading, useReason } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'

const ways = ['phone', 'credential_id', 'api_key_id', 'user_id'] as const
type Way = (typeof ways)[number]

interface Search {
  readonly way: Way
  readonly text: string
}

const usersQuery = ({ way, text }: Search) =>
  infiniteQueryOptions({
    queryKey: ['users', way, text],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<StaffUser>>('GET', '/users', {
        query: { limit: 50, before: pageParam, [way]: text },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
  })

export function UsersPage() {
  const t = useT()
  const reason = useReason()
  const [typed, setTyped] = useState<Search>({ way: 'phone', text: '' })
  const [search, setSearch] = useState(typed)
  const users = useInfiniteQuery(usersQuery(search))
  const asking = useMutation({ mutationFn: async () => setSearch(typed) })
  const found = users.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <Page title={t('nav.users')} lead={t('users.lead')}>
      <Card title={t('users.find')}>
        <Form by={asking} className="row">
          <Choice
            label={t('users.by')}
            value={typed.way}
            options={ways.map((way) => [way, t(`users.by.${way}`)])}
            onChange={(way) => setTyped({ ...typed, way: way as Way })}
          />
          <Field
            label={t(`users.by.${typed.way}`)}
            wrong={users.error && search.text ? reason(users.error) : undefined}
            className="ltr"
            inputMode={typed.way === 'phone' ? 'tel' : 'numeric'}
            autoComplete="off"
            value={typed.text}
            onChange={(event) => setTyped({ ...typed, text: event.target.value.trim() })}
          />
          <Button type="submit" kind="first">
            {t('users.find')}
          </Button>
        </Form>
      </Card>
      <Card title={t('nav.users')}>
        {users.isError && !search.text ? (
          <Failed cause={users.error} retry={() => users.refetch()} />
        ) : users.isPending ? (
          <Loading />
        ) : found.length === 0 ? (
          <Empty icon="search" title={t('users.none')} />
        ) : (
          <ul className="records">
            {found.map((user) => (
              <UserRow key={user.user_id} user={user} />
            ))}
          </ul>
        )}
        {users.hasNextPage && (
          <Button busy={users.isFetchingNextPage} onClick={() => users.fetchNextPage()}>
            {t('more')}
          </Button>
        )}
      </Card>
    </Page>
  )
}

function UserRow({ user }: { readonly user: StaffUser }) {
  const t = useT()
  const go = useNavigate()
  const session = useSession()
  const { user_id, phone, accounts, accounts_out, api_keys, created_at } = user
  const { suspended_at, suspended_reason } = user
  const isOperator = useQuery(userQuery).data?.role === 'operator'
  const [isAsking, setAsking] = useState(false)
  const Dialogue = suspended_at ? Unsuspending : Suspending
  const look = () => {
    if (session.state !== 'in') return
    view({ user_id, phone, by: session.user.user_id })
    go('/dashboard')
  }
  return (
    <li className="record">
      <span className="grow">
        <strong className="ltr">{phone}</strong>
        <span className="quiet small block">
          {t('users.number', { id: `${user_id}` })} · {t.count('users.accounts', accounts)} ·{' '}
          {t.count('users.keys', api_keys)} · <Ago at={created_at} />
        </span>
        {suspended_at && (
          <span className="small block">
            {suspended_reason} · <Ago at={suspended_at} />
          </span>
        )}
      </span>
      {suspended_at && <Badge tone="warn">{t('users.suspended')}</Badge>}
      {accounts_out > 0 && <Badge tone="bad">{t.count('users.out', accounts_out)}</Badge>}
      <Button size="slim" onClick={look}>
        {t('users.view')}
      </Button>
      {isOperator && (
        <Button size="slim" onClick={() => setAsking(true)}>
          {t(suspended_at ? 'users.unsuspend' : 'users.suspend')}
        </Button>
      )}
      {isAsking && <Dialogue user={user} onClose={() => setAsking(false)} />}
    </li>
  )
}

interface SuspendingProps {
  readonly user: StaffUser
  onClose(): void
}

/** Makes the change, and shows the list as it is then. */
function useSuspension({ user, onClose }: SuspendingProps) {
  const queries = useQueryClient()
  const order = user.suspended_at ? 'unsuspend' : 'suspend'
  return useMutation({
    mutationFn: (reason?: string) =>
      call('POST', `/users/${user.user_id}/${order}`, {
        ...(reason !== undefined && { body: { reason } }),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['users'] })
      onClose()
    },
  })
}

function Suspending(props: SuspendingProps) {
  const { user, onClose } = props
  const t = useT()
  const asking = useSuspension(props)
  return (
    <ReasonDialog
      title={t('users.suspend.title', { id: `${user.user_id}` })}
      label={t('users.suspend.why')}
      hint={t('users.suspend.whyHint')}
      action={t('users.suspend')}
      isDanger
      by={asking}
      onClose={onClose}
    >
      <p className="quiet">{t('users.suspend.text')}</p>
    </ReasonDialog>
  )
}

function Unsuspending(props: SuspendingProps) {
  const { user, onClose } = props
  const t = useT()
  const reason = useReason()
  const asking = useSuspension(props)
  return (
    <Confirm
      title={t('users.unsuspend.title', { id: `${user.user_id}` })}
      action={t('users.unsuspend')}
      open
      isMild
      busy={asking.isPending}
      wrong={asking.error ? reason(asking.error) : undefined}
      onConfirm={() => asking.mutate(undefined)}
      onClose={onClose}
    >
      {t('users.unsuspend.text')}
    </Confirm>
  )
}
